/**
 * What the page of an approval shows: what the agent asks for, the forms to decide, or the
 * decision.
 */
import type { ShownApproval as Approval } from '#contract/agent/approvals'
import { textOfCall } from '#contract/call-text'
import { withoutText } from '#contract/text-argument'
import { reasonText } from '#domain/agent/job/why-asked'
import { type Html, html } from './html.ts'
import { field, type Problem, timeText } from './layout.ts'

/** What somebody typed that could not be sent. */
export interface Typed {
  text?: string | undefined
  arguments?: string | undefined
  reason?: string | undefined
}

export interface ApprovalPage {
  approval: Approval
  workspace: string
  /** The name of the person who decided. */
  by?: string | undefined
  /** Why the reader cannot decide. */
  refusal?: string | undefined
  /** What to do once the call has run. */
  after?: Html | undefined
  typed?: Typed
  problems?: Problem[] | undefined
  now: Date
}

const isLate = ({ approval: { expires_at }, now }: ApprovalPage): boolean =>
  new Date(expires_at) <= now

export const approvalTitle = (shown: ApprovalPage): string => {
  const { status, decided_how } = shown.approval
  if (decided_how === 'moot') return 'No longer needed'
  if (status === 'approved') return 'Approved'
  if (status === 'rejected' && decided_how !== 'expiry')
    return decided_how === 'person' ? 'Rejected' : 'Not done'
  return status === 'rejected' || isLate(shown) ? 'Not decided in time' : 'Approve this?'
}

const NOT_IN_TIME =
  'Nobody decided in time, so this does not happen. Ask the agent again if it is still wanted.'

const doerText = ({ decider }: Approval): string => {
  if (decider?.kind === 'agent') return 'Another call of the agent'
  return decider?.name ?? (decider?.kind === 'key' ? 'A program with a key' : 'Somebody')
}

/** Who decided what. Undefined while the approval waits. */
const decisionOf = (shown: ApprovalPage): Html | undefined => {
  const { approval, by } = shown
  const { status, decided_how, decided_at, edited, reason } = approval
  if (status === 'pending')
    return isLate(shown) ? html`<p class="note">${NOT_IN_TIME}</p>` : undefined
  if (decided_how === 'expiry') return html`<p class="note">${NOT_IN_TIME}</p>`
  const at = decided_at === null ? undefined : html`, ${timeText(decided_at)}`
  if (decided_how === 'cancel')
    return html`<p class="note">The agent's job ended before anyone decided${at}.</p>`
  if (decided_how === 'moot')
    return html`<p class="note">${doerText(approval)} made this needless before it happened${at}. The agent knows.</p>`
  if (decided_how === 'stale')
    return html`<p class="note">What this is about changed after it was shown, so it did not happen${at}.</p>`
  const what =
    status === 'rejected' ? 'Rejected' : edited ? 'Approved with changed arguments' : 'Approved'
  return html`<p class="note">${what} by ${by ?? 'a person who has left the workspace'}${at}.</p>
${reason === null ? undefined : html`<dl><dt>Reason</dt><dd>${reason}</dd></dl>`}`
}

const taintNote = ({ job }: Approval): Html | undefined =>
  job === null || job.taint.length === 0
    ? undefined
    : html`<p class="note"><strong>The agent has read text that people outside the workspace wrote.</strong>
Such text can try to steer it. Check that this is what you want.</p>`

const taintText = ({ job }: Approval): string => {
  if (job === null) return 'Unknown: the job is no longer kept'
  return job.taint.length === 0 ? 'None' : job.taint.join(', ')
}

const inJson = (value: unknown): string => JSON.stringify(value, null, 2)

const argumentsText = (approval: Approval): string => inJson(approval.arguments)

const subjectRows = ({ subject: { text, sha256, account } }: Approval): Html => html`
${text === null ? undefined : html`<dt>The exact text that goes out</dt><dd class="text" dir="auto">${text}</dd>`}
${sha256 === null ? undefined : html`<dt>Its SHA-256 begins with</dt><dd>${sha256.slice(0, 8)}</dd>`}
${account === null ? undefined : html`<dt>Account</dt><dd>${account}</dd>`}`

const details = (
  { approval, workspace }: ApprovalPage,
  withArguments: boolean,
): Html => html`<dl>${subjectRows(approval)}
<dt>Why you are asked</dt><dd><ul>${approval.why.map((one) => html`<li>${reasonText(one)}</li>`)}</ul></dd>
<dt>Text from outside that the agent has read</dt><dd>${taintText(approval)}</dd>
<dt>The agent was told</dt><dd class="text" dir="auto">${approval.goal}</dd>
<dt>Tool</dt><dd>${approval.tool_name}</dd>
${withArguments ? html`<dt>Arguments</dt><dd class="text">${argumentsText(approval)}</dd>` : undefined}
<dt>Workspace</dt><dd>${workspace}</dd>
<dt>Asked</dt><dd>${timeText(approval.created_at)}</dd>
${approval.status === 'pending' ? html`<dt>To be decided before</dt><dd>${timeText(approval.expires_at)}</dd>` : undefined}
</dl>`

/** There are two forms, because Enter in the reason must never approve. */
const forms = ({ approval, typed = {}, problems }: ApprovalPage): Html => {
  const own = textOfCall(approval)
  const textField = own && {
    name: 'text',
    label: 'Text',
    autocomplete: 'off',
    lines: 8,
    problems,
    hint: 'If you change it, the call is made with your text.',
    value: typed.text ?? own.text,
  }
  const argumentsField = {
    name: 'arguments',
    label: own ? 'Other arguments' : 'Arguments',
    autocomplete: 'off',
    lines: own ? 4 : 8,
    problems,
    hint: 'As JSON. If you change them, the call is made with your arguments.',
    value:
      typed.arguments ?? inJson(own ? withoutText(approval.arguments, own) : approval.arguments),
  }
  const reasonField = {
    name: 'reason',
    label: 'Reason for rejecting',
    autocomplete: 'off',
    optional: true,
    problems,
    hint: 'The agent is told.',
    value: typed.reason,
  }
  const action = `/approvals/${approval.id}`
  return html`<form method="post" action="${action}">
${textField && field(textField)}
${field(argumentsField)}
<input type="hidden" name="seen" value="${approval.sha256}">
<button name="decision" value="approve">Approve</button>
</form>
<form method="post" action="${action}">
${field(reasonField)}
<button name="decision" value="reject" class="plain">Reject</button>
</form>`
}

/** Whether the page has the forms. */
export const canDecideApproval = (shown: ApprovalPage): boolean =>
  shown.approval.status === 'pending' && !isLate(shown) && shown.refusal === undefined

export const approvalBody = (shown: ApprovalPage): Html => {
  const { approval, refusal, after } = shown
  const decision = decisionOf(shown)
  return html`<p><strong>${approval.summary}</strong></p>
${decision ?? taintNote(approval)}
${after}
${decision === undefined && refusal !== undefined ? html`<p class="note">${refusal}</p>` : undefined}
${details(shown, !canDecideApproval(shown))}
${canDecideApproval(shown) ? forms(shown) : undefined}`
}
