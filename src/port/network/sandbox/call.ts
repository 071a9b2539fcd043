/** One writing call to the sandbox. The fault drawn for it decides what happens. */
import { systemClock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { PublishResult } from '../network.ts'
import type { Draw } from './faults.ts'
import { SandboxFailure } from './pool.ts'

const RETRY_AFTER_MS = 2_000

const noAnswer = (reason: string): PublishResult => ({
  kind: 'unknown',
  reason,
  cause: 'no_answer',
})
const serverError = (reason: string): PublishResult => ({
  kind: 'unknown',
  reason,
  cause: 'server_error',
})
export const notReached = (detail: string): PublishResult => ({
  kind: 'not_applied',
  reason: 'unreachable',
  detail,
})
const noAccount: PublishResult = { kind: 'disconnected', reason: 'the sandbox has no such account' }

/** The change to make, at once or later. */
export interface Act {
  /** Why the network refuses it, or null. */
  refusal(): string | null | Promise<string | null>
  /** The id of the result; null if the account does not exist. */
  apply(): Promise<string | null>
  /** Returns false if the account does not exist. */
  applyLater(afterMs: number): Promise<boolean>
}

interface Call {
  act: Act
  deadlineMs: number
  drawn: Draw
  failpoints: Failpoints
  signal: AbortSignal
}

/** The result of `running`, or of `late` as soon as the signal aborts. */
export const settleUnless = async <T>(
  running: Promise<T>,
  signal: AbortSignal,
  late: () => T,
): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onAbort = () => resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) resolve()
  try {
    return await Promise.race([running, promise.then(late)])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The network does not answer. The caller gives up at its deadline or earlier. */
const silence = async (deadlineMs: number, signal: AbortSignal): Promise<PublishResult> => {
  const { promise, resolve } = Promise.withResolvers<PublishResult>()
  using _deadline = systemClock.after(deadlineMs, () => resolve(noAnswer('timeout')))
  return await settleUnless(promise, signal, () => noAnswer('timeout'))
}

const failureOf = (cause: unknown): PublishResult => {
  if (!(cause instanceof SandboxFailure)) throw cause
  return cause.written === 'nothing' ? notReached(cause.message) : noAnswer(cause.message)
}

const actOnce = async ({
  act,
  deadlineMs,
  drawn: { fault, lateMs },
  failpoints,
  signal,
}: Call): Promise<PublishResult> => {
  await failpoints('sandbox.received')
  if (fault === '500') return serverError('500')
  if (fault === '429')
    return {
      kind: 'not_applied',
      reason: 'rate_limited',
      detail: '429',
      retryAfterMs: RETRY_AFTER_MS,
    }
  const refusal = await act.refusal()
  if (refusal !== null) return { kind: 'refused', reason: refusal }
  if (fault === 'slow') {
    // Recorded before the wait, so that it is applied even if this process dies first.
    if (!(await act.applyLater(deadlineMs + lateMs))) return noAccount
    return silence(deadlineMs, signal)
  }
  const id = await act.apply()
  if (id === null) return noAccount
  await failpoints('sandbox.applied')
  if (fault === 'applied502') return serverError('502')
  if (fault === 'drop') return noAnswer('connection closed')
  return { kind: 'posted', externalId: id, url: null }
}

/** Resolves soon after the signal aborts. Rejects only because of a bug. */
export const callSandbox = (call: Call): Promise<PublishResult> =>
  settleUnless(actOnce(call).catch(failureOf), call.signal, () => noAnswer('timeout'))
