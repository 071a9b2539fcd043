/** Asks a person at the terminal about calls that a job may not make by itself. */
import type { ShownApproval as Approval } from '#contract/agent/approvals'
import { textOfCall } from '#contract/call-text'
import { type CallText, withText } from '#contract/text-argument'
import { decidersText } from '#kernel/deciders'
import { Failure } from '../failure.ts'
import type { InputLines } from '../host.ts'
import { reportFailure } from '../report.ts'
import { harmless, warnOfUnseen } from '../text.ts'
import { type AgentContext, operationOf } from './context.ts'

/**
 * The approvals as the person at the terminal sees them, if there is one, because what that person
 * may decide depends on the role.
 */
export const pendingOf = async ({ ask, person }: AgentContext, id: string): Promise<Approval[]> => {
  const read = (as?: 'person') => ask<{ approvals: Approval[] }>('agent.jobs.get', { id }, as)
  // The session may have ended, or may belong to another workspace than the key.
  const { approvals } = await (person === undefined ? read() : read('person').catch(() => read()))
  return approvals.filter(({ status }) => status === 'pending')
}

/**
 * The sentence, the account, the text and the beginning of its hash. The decision is bound to
 * these.
 */
const describeApproval = ({ summary, subject: { account, text, sha256 }, why }: Approval): string =>
  [
    summary,
    ...(account === null ? [] : [`  account  ${account}`]),
    ...(text === null ? [] : text.split('\n').map((line) => `  | ${line}`)),
    ...(sha256 === null ? [] : [`  sha256   ${sha256.slice(0, 8)}`]),
    ...(why.length > 0 ? [`  why      ${why.join('; ')}`] : []),
  ].join('\n')

export interface Asking {
  context: AgentContext
  lines: InputLines
  /** Aborted if the turn is cancelled. */
  signal: AbortSignal
}

type Decision =
  | { approve: true; arguments?: Record<string, unknown> }
  | { approve: false; reason?: string }

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

type Arguments = Record<string, unknown>

/**
 * The arguments as the person changed them, in an editor or as typed JSON. Undefined if they stay
 * unchanged.
 */
const editArguments = async ({ context: { host }, lines, signal }: Asking, before: Arguments) => {
  const text =
    (await host.edit(JSON.stringify(before, null, 2), 'arguments.json')) ??
    (await lines.next('arguments as JSON: ', signal))
  if (text === undefined || text.trim() === '') return undefined
  const after = objectIn(text)
  if (!after) host.stderr.write('not a JSON object; the arguments stay as they are\n')
  return after
}

/**
 * The arguments with the text that the person changed, in an editor or as a typed line. Undefined
 * if it stays unchanged.
 */
const rewriteText = async (
  { context: { host }, lines, signal }: Asking,
  approval: Approval,
  own: CallText,
): Promise<Arguments | undefined> => {
  const text =
    (await host.edit(own.text, 'text.md')) ?? (await lines.next('text, in one line: ', signal))
  if (text === undefined || text.trim() === '' || text === own.text) return undefined
  return withText(approval, own, text)
}

const questionOf = (approval: Approval): string =>
  `approve? y, n, n REASON, or ${textOfCall(approval) ? 'e to edit the text, a to edit the arguments' : 'e to edit'}: `

/** Prints what the call would do, with invisible characters shown as codes. */
const print = ({ context: { host } }: Asking, text: string): void => {
  host.stderr.write(`${harmless(text)}\n`)
  warnOfUnseen(host.stderr, text)
}

/** Undefined if nobody answers. */
const answerTo = async (asking: Asking, approval: Approval): Promise<Decision | undefined> => {
  let changed: Arguments | undefined
  for (;;) {
    const now = { ...approval, arguments: changed ?? approval.arguments }
    const line = (await asking.lines.next(questionOf(now), asking.signal))?.trim()
    if (line === undefined) return undefined
    if (/^y(es)?$/i.test(line)) return { approve: true, ...(changed ? { arguments: changed } : {}) }
    const [isNo, reason] = /^no?(?:\s+(.*))?$/is.exec(line) ?? []
    if (isNo !== undefined)
      return { approve: false, ...(reason ? { reason: reason.slice(0, 500) } : {}) }
    const own = textOfCall(now)
    if (/^e(dit)?$/i.test(line))
      changed =
        (await (own ? rewriteText(asking, now, own) : editArguments(asking, now.arguments))) ??
        changed
    else if (own && /^a(rguments)?$/i.test(line))
      changed = (await editArguments(asking, now.arguments)) ?? changed
    else continue
    if (changed) print(asking, `${approval.tool_name} ${JSON.stringify(changed)}`)
  }
}

const send = (
  { ask }: AgentContext,
  { id, sha256 }: Approval,
  decision: Decision,
): Promise<unknown> =>
  decision.approve
    ? ask(
        'agent.approvals.approve',
        {
          id,
          expect_sha256: sha256,
          ...(decision.arguments ? { arguments: decision.arguments } : {}),
        },
        'person',
      )
    : ask(
        'agent.approvals.reject',
        { id, ...(decision.reason ? { reason: decision.reason } : {}) },
        'person',
      )

/**
 * If somebody else decided first, or if the arguments do not fit, the person reads why, and the job
 * continues or asks again.
 */
const sendOrSay = async (
  context: AgentContext,
  approval: Approval,
  decision: Decision,
): Promise<boolean> => {
  try {
    await send(context, approval, decision)
    // No model gets the secret, so no answer can contain it.
    if (decision.approve && approval.tool_name === 'create_webhook_rule')
      context.host.stderr.write(`  the secret of the rule is shown once, at ${approval.url}\n`)
    return true
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    const o = operationOf(`agent.approvals.${decision.approve ? 'approve' : 'reject'}`)
    reportFailure(context.host, cause, { o, asJson: false })
    return cause.code !== 'invalid_input'
  }
}

/** Where others can decide, and who they are. */
export const othersText = ({ url, deciders }: Approval, isAsked: boolean): string =>
  [
    ...(isAsked ? ['  you cannot decide this yourself'] : []),
    ...(deciders ? [`  ${decidersText(deciders)}`] : []),
    `  a person decides at ${url}`,
  ].join('\n')

/** True if everything was decided. Without a person's session, prints where a person can decide. */
export const decideAll = async (
  asking: Asking,
  approvals: readonly Approval[],
): Promise<boolean> => {
  const { context, lines } = asking
  let isDecided = true
  for (const approval of approvals) {
    print(asking, describeApproval(approval))
    const isAsked = context.person !== undefined && lines.isTerminal
    if (!isAsked || !approval.may_decide) {
      print(asking, othersText(approval, isAsked))
      isDecided = false
      continue
    }
    let isSent = false
    while (!isSent) {
      const decision = await answerTo(asking, approval)
      if (decision === undefined) return false
      isSent = await sendOrSay(context, approval, decision)
    }
  }
  return isDecided
}
