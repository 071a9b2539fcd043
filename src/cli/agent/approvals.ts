/** Asks a person at the terminal about the calls that a job may not make by itself. */
import type { ShownApproval as Approval } from '#contract/agent/approvals'
import { Failure } from '../failure.ts'
import type { Lines } from '../host.ts'
import { reportFailure } from '../report.ts'
import { harmless } from '../text.ts'
import { type AgentContext, operationOf } from './context.ts'

export const pendingOf = async ({ ask }: AgentContext, id: string): Promise<Approval[]> => {
  const { approvals } = await ask<{ approvals: Approval[] }>('agent.jobs.get', { id })
  return approvals.filter(({ status }) => status === 'pending')
}

/** The sentence, the account, the text and the beginning of its hash: what the decision is bound to. */
const shown = ({ summary, subject: { account, text, sha256 }, why }: Approval): string =>
  [
    summary,
    ...(account === null ? [] : [`  account  ${account}`]),
    ...(text === null ? [] : text.split('\n').map((line) => `  | ${line}`)),
    ...(sha256 === null ? [] : [`  sha256   ${sha256.slice(0, 8)}`]),
    ...(why.length > 0 ? [`  why      ${why.join('; ')}`] : []),
  ].join('\n')

export interface Asking {
  context: AgentContext
  lines: Lines
  /** Aborted when the turn is cancelled. */
  signal: AbortSignal
}

type Decision = { approve: true; arguments?: Record<string, unknown> } | { approve: false; reason?: string }

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Other arguments, from an editor or typed as JSON. Undefined if they stay as they are. */
const edited = async ({ context: { host }, lines, signal }: Asking, before: Record<string, unknown>) => {
  const text = (await host.edit(JSON.stringify(before, null, 2))) ?? (await lines.next('arguments as JSON: ', signal))
  if (text === undefined || text.trim() === '') return undefined
  const after = objectIn(text)
  if (!after) host.stderr.write('not a JSON object; the arguments stay as they are\n')
  return after
}

const QUESTION = 'approve? y, n, n REASON, or e to edit: '

/** Undefined if nobody answers. */
const answerTo = async (asking: Asking, approval: Approval): Promise<Decision | undefined> => {
  let changed: Record<string, unknown> | undefined
  for (;;) {
    const line = (await asking.lines.next(QUESTION, asking.signal))?.trim()
    if (line === undefined) return undefined
    if (/^y(es)?$/i.test(line)) return { approve: true, ...(changed ? { arguments: changed } : {}) }
    const [isNo, reason] = /^no?(?:\s+(.*))?$/is.exec(line) ?? []
    if (isNo !== undefined) return { approve: false, ...(reason ? { reason: reason.slice(0, 500) } : {}) }
    if (/^e(dit)?$/i.test(line)) {
      changed = (await edited(asking, changed ?? approval.arguments)) ?? changed
      if (changed) asking.context.host.stderr.write(`${harmless(`${approval.tool_name} ${JSON.stringify(changed)}`)}\n`)
    }
  }
}

const send = ({ ask }: AgentContext, { id }: Approval, decision: Decision): Promise<unknown> =>
  decision.approve
    ? ask('agent.approvals.approve', { id, ...(decision.arguments ? { arguments: decision.arguments } : {}) }, 'person')
    : ask('agent.approvals.reject', { id, ...(decision.reason ? { reason: decision.reason } : {}) }, 'person')

/** Someone else may have decided first, or the arguments do not fit: the person reads why, and the job goes on or asks again. */
const sendOrSay = async (context: AgentContext, approval: Approval, decision: Decision): Promise<boolean> => {
  try {
    await send(context, approval, decision)
    // No model is given it, so no answer can say it.
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

/** True if all were decided. Without a person's session it prints where a person can decide. */
export const decideAll = async (asking: Asking, approvals: readonly Approval[]): Promise<boolean> => {
  const { context, lines } = asking
  let isDecided = true
  for (const approval of approvals) {
    context.host.stderr.write(`${harmless(shown(approval))}\n`)
    if (context.person === undefined || !lines.isTerminal) {
      context.host.stderr.write(`  a person decides at ${approval.url}\n`)
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
