/** The page where a person decides about a call that the agent asks for. */
import type { ShownApproval as Approval } from '#contract/agent/approvals'
import { textOfCall } from '#contract/call-text'
import { BODY_LIMIT } from '#contract/kinds'
import { withText } from '#contract/text-argument'
import { decidersText } from '#kernel/deciders'
import { AppError } from '#kernel/errors'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Form, Route } from '../route.ts'
import {
  type ApprovalPage,
  approvalBody,
  approvalTitle,
  canDecideApproval,
  type Typed,
} from './approval-body.ts'
import {
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  redirect,
  retryHeaders,
} from './layout.ts'
import { nameOfMember } from './members.ts'
import {
  foundPage,
  type PageDeps,
  pageRoute,
  run,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'
import { type ApprovedRecord, revealPage, secretPart } from './webhook-secret.ts'

const idOf = ({ params }: Incoming): string => params!.id!

const pathFor = (id: string): string => `/approvals/${encodeURIComponent(id)}`

/** Only people who may make the call themselves can decide about it. */
const refusalOf = (
  { may_decide: mayDecide, deciders }: Approval,
  { workspace: { role } }: SessionGrant,
): string | undefined =>
  mayDecide || deciders === null
    ? undefined
    : `You cannot decide about this: your role is ${role}. Here ${decidersText(deciders)}.`

const LABELS: Record<string, string> = { arguments: 'Arguments', text: 'Text', reason: 'Reason' }

/**
 * Problems inside the arguments name their place. `own`: the argument that has a field of its own.
 */
const problemsIn = (error: AppError, own: string | undefined): Problem[] => {
  const details = (error.details ?? []).map(({ path, message }) => {
    const [field = '', ...place] = path === `arguments.${own}` ? ['text'] : path.split('.')
    return { field, says: `${[LABELS[field] ?? field, ...place].join(' ')} ${message}` }
  })
  const known = details.filter(({ field }) => field in LABELS)
  return known.length > 0 ? known : problemsOf(error, {})
}

interface Refused {
  error: AppError
  typed: Typed
}

const madeOf = (deps: PageDeps, incoming: Incoming): Promise<ApprovedRecord> =>
  run(deps, incoming, { id: 'agent.approvals.get', input: { id: idOf(incoming) } })

const show = async (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => {
  const made = await madeOf(deps, incoming)
  const { approval } = made
  const isOfText = refused?.typed.text !== undefined
  const problems =
    refused && problemsIn(refused.error, isOfText ? textOfCall(approval)?.field : undefined)
  const shown: ApprovalPage = {
    approval,
    workspace: person.workspace.name,
    refusal: refusalOf(approval, person),
    now: new Date(),
    after: await secretPart(deps, incoming, made),
    by:
      approval.decided_by === null
        ? undefined
        : await nameOfMember(deps, incoming, approval.decided_by),
    ...(refused && { typed: refused.typed, problems }),
  }
  const page = {
    title: approvalTitle(shown),
    body: approvalBody(shown),
    inConsole: `inbox/call/${idOf(incoming)}`,
  }
  if (!refused || !problems) return pageResponse(page)
  const { error } = refused
  // If there are no forms, there is nothing to link to.
  const said = canDecideApproval(shown) ? problems : problems.map(({ says }) => ({ says }))
  return pageResponse({
    ...page,
    problems: said,
    status: pageStatus(error),
    headers: retryHeaders(error),
  })
}

const showFound = (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  refused?: Refused,
): Promise<Response> => foundPage(show(deps, incoming, person, refused), person, 'approval')

const open = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  return person
    ? showFound(deps, incoming, person)
    : toSignIn(deps, incoming, pathFor(idOf(incoming)))
}

/**
 * Throws `invalid_input`. Also refuses an empty box, which would otherwise mean that the arguments
 * stay unchanged.
 */
const argumentsIn = (text = ''): object => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const message = 'must be a JSON object'
  throw new AppError('invalid_input', message, { details: [{ path: 'arguments', message }] })
}

/** The arguments from a form in which the text has a field of its own. Throws `invalid_input`. */
const givenIn = ({ approval }: ApprovedRecord, form: Form): object => {
  const others = argumentsIn(form.arguments) as Record<string, unknown>
  const own = textOfCall(approval)
  if (form.text === undefined || !own) return others
  if (own.field in others) {
    const message = `must not contain ${own.field}: change the text above instead`
    throw new AppError('invalid_input', message, { details: [{ path: 'arguments', message }] })
  }
  return withText(approval, own, form.text, others)
}

const EXPECTED = ['not_found', 'invalid_input', 'rate_limited', 'forbidden', 'conflict']

const decide = async (deps: PageDeps, incoming: Incoming, form: Form): Promise<Response> => {
  const id = idOf(incoming)
  const { decision, reason, seen } = form
  if (decision === 'reveal') return revealPage(deps, incoming, await madeOf(deps, incoming))
  if (decision === 'approve') {
    const given =
      form.text === undefined
        ? argumentsIn(form.arguments)
        : givenIn(await madeOf(deps, incoming), form)
    await run(deps, incoming, {
      id: 'agent.approvals.approve',
      input: { id, arguments: given, ...(seen && { expect_sha256: seen }) },
    })
  } else if (decision === 'reject')
    await run(deps, incoming, {
      id: 'agent.approvals.reject',
      input: { id, ...(reason === undefined ? {} : { reason }) },
    })
  return redirect(pathFor(id))
}

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  const id = idOf(incoming)
  // After signing in, the person sees the question again and can decide.
  if (!person) return toSignIn(deps, incoming, pathFor(id))
  const form = await trustedForm(deps, incoming, {
    limit: BODY_LIMIT,
    workspace: person.workspace.id,
  })
  try {
    return await decide(deps, incoming, form)
  } catch (cause) {
    const error = AppError.from(cause)
    if (!EXPECTED.includes(error.code)) throw cause
    return showFound(deps, incoming, person, { error, typed: form })
  }
}

export const approvalPageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/approvals/:id', open),
  pageRoute(deps, 'POST', '/approvals/:id', send),
]
