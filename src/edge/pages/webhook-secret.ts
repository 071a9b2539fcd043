/**
 * The secret of a webhook rule that the agent has made. The page of the approval shows it once, to
 * the person who asked for the rule or approved it.
 */
import type { ShownApproval } from '#contract/agent/approvals'
import { AppError } from '#kernel/errors'
import type { Incoming } from '../incoming.ts'
import { type Html, html } from './html.ts'
import { pageResponse } from './layout.ts'
import { type PageDeps, run } from './page.ts'

/** An approval, and the record that its call made. */
export interface ApprovedRecord {
  approval: ShownApproval
  record_id: string | null
}

const isOfRule = ({ tool_name, status, decided_how }: ShownApproval): boolean =>
  tool_name === 'create_webhook_rule' && status === 'approved' && decided_how === 'person'

const offer = ({ id }: ShownApproval): Html => html`<form method="post" action="/approvals/${id}">
<p class="note">Posts to the rule are signed with its secret. It is shown only once, to whoever asked for the rule or approved it.</p>
<button name="decision" value="reveal">Show the secret</button>
</form>`

const SOON = html`<p class="note">Once the agent has made the rule, its secret can be shown here. Load this page again.</p>`
const SEEN = html`<p class="note">The secret of this rule was shown already. If it is lost, rotate it for a new one.</p>`

/**
 * What the page says about the secret. Undefined if the call does not make a rule, or the rule is
 * gone.
 */
export const secretPart = async (
  deps: PageDeps,
  incoming: Incoming,
  { approval, record_id: id }: ApprovedRecord,
): Promise<Html | undefined> => {
  if (!isOfRule(approval)) return undefined
  if (id === null) return SOON
  try {
    const { webhookRule } = await run(deps, incoming, {
      id: 'agent.webhookRules.get',
      input: { id },
    })
    return webhookRule.secretIsUnseen ? offer(approval) : SEEN
  } catch (cause) {
    if (AppError.from(cause).code === 'not_found') return undefined
    throw cause
  }
}

/** The page with the secret, which is never shown again. */
export const revealPage = async (
  deps: PageDeps,
  incoming: Incoming,
  { approval, record_id: id }: ApprovedRecord,
): Promise<Response> => {
  if (!isOfRule(approval) || id === null)
    throw new AppError('conflict', 'there is no secret to show', { reason: 'wrong_state' })
  const { webhookRule, secret } = await run(deps, incoming, {
    id: 'agent.webhookRules.reveal',
    input: { id },
  })
  const address = approval.url.replace(/\/approvals\/[^/]*$/, webhookRule.path)
  const body = html`<p class="note"><strong>Copy the secret now: it is not shown again.</strong></p>
<dl><dt>Secret</dt><dd class="text">${secret}</dd>
<dt>Address</dt><dd class="text">${address}</dd>
<dt>Webhook rule</dt><dd>${webhookRule.name}</dd></dl>
<p>Sign each post to the address with it, as Standard Webhooks 1.0 says.</p>
<p><a href="/approvals/${approval.id}">Back to the approval</a></p>`
  return pageResponse({ title: 'The secret of the webhook rule', body })
}
