/**
 * The sandbox: a network without an internet. It answers as a remote service does, failures included, and keeps its accounts
 * and posts in tables that nothing else of ours writes.
 */
import type { Tier } from '#domain/read-budget'
import { systemClock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import { type Failpoints, none } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { SandboxFailure, type SandboxStore } from '#store/sandbox'
import {
  type Capabilities,
  MOST_MEASURED,
  type Network,
  type NetworkAccount,
  NetworkError,
  type PostMetrics,
  type PublishRequest,
  type PublishResult,
  type Timeline,
} from './network.ts'
import { type Draw, drawsOf, type SandboxFaults } from './sandbox-faults.ts'
import { sandboxMetrics } from './sandbox-metrics.ts'
import { LONG_WEIGHTED_LIMIT, WEIGHTED_LIMIT, weightedLength } from './weighted-length.ts'

export interface SandboxSettings {
  store: SandboxStore
  faults: SandboxFaults
  log: Log
  failpoints?: Failpoints
  /** How reads count: it bills nobody, and can stand in for a network that does. */
  tier?: Tier
}

export interface Sandbox extends Network {
  /**
   * Makes the account of this handle, or finds it: the same handle, in any case and with or without `@`, keeps its id.
   * Throws `invalid_input` for what is no handle, and a `NetworkError` when the network cannot be reached.
   */
  connect(handle: string): Promise<{ externalId: string; handle: string }>
}

const RETRY_AFTER_MS = 2_000
const HANDLE = /^@?([A-Za-z0-9_.-]{1,50})$/

const capabilitiesOf = (tier: Tier): Capabilities => ({
  maxLength: WEIGHTED_LIMIT,
  maxLongLength: LONG_WEIGHTED_LIMIT,
  measure: weightedLength,
  idempotent: false,
  tier,
})

const unknown = (reason: string): PublishResult => ({ kind: 'unknown', reason })
const refused = (reason: string): PublishResult => ({ kind: 'refused', reason })
const notSent = (detail: string): PublishResult => ({ kind: 'not_applied', reason: 'unreachable', detail })
const noAccount: PublishResult = { kind: 'disconnected', reason: 'the sandbox has no such account' }

/** Why the network does not take this text at all, or null. */
const refusalOf = ({ text, isLong }: PublishRequest): string | null => {
  if (text.trim() === '') return 'the text is empty'
  if (text.includes('\0')) return 'the text contains a NUL character'
  const length = weightedLength(text)
  const limit = isLong ? LONG_WEIGHTED_LIMIT : WEIGHTED_LIMIT
  return length > limit ? `the text is ${length} weighted characters long, more than ${limit}` : null
}

/** What `running` gives, or what `late` gives as soon as the signal aborts. */
const until = async <T>(running: Promise<T>, signal: AbortSignal, late: () => T): Promise<T> => {
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

/** A network that does not answer: the caller gives up at its deadline, or before. */
const silence = async (deadlineMs: number, signal: AbortSignal): Promise<PublishResult> => {
  const { promise, resolve } = Promise.withResolvers<PublishResult>()
  using _deadline = systemClock.after(deadlineMs, () => resolve(unknown('timeout')))
  return await until(promise, signal, () => unknown('timeout'))
}

const failureOf = (cause: unknown): PublishResult => {
  if (!(cause instanceof SandboxFailure)) throw cause
  return cause.written === 'nothing' ? notSent(cause.message) : unknown(cause.message)
}

const unreachable = (cause: unknown): never => {
  if (!(cause instanceof SandboxFailure)) throw cause
  throw new NetworkError('unreachable', `the sandbox cannot be reached: ${cause.message}`)
}

const noSuchAccount = (): NetworkError => new NetworkError('disconnected', 'the sandbox has no such account')

const givenUp = (): never => {
  throw new NetworkError('unreachable', 'given up before the sandbox answered')
}

interface Call {
  request: PublishRequest
  drawn: Draw
  signal: AbortSignal
}

const publishOnce = async (
  { store, failpoints = none }: Pick<SandboxSettings, 'store' | 'failpoints'>,
  { request, drawn, signal }: Call,
): Promise<PublishResult> => {
  await failpoints('sandbox.received')
  const { account, text, deadlineMs } = request
  const { fault, lateMs } = drawn
  if (fault === '500') return unknown('500')
  if (fault === '429') return { kind: 'not_applied', reason: 'rate_limited', detail: '429', retryAfterMs: RETRY_AFTER_MS }
  const refusal = refusalOf(request)
  if (refusal !== null) return refused(refusal)
  if (fault === 'slow') {
    // Recorded before the wait, so that it is applied even if this process does not live to see the end of it.
    if (!(await store.addLater(account.externalId, text, deadlineMs + lateMs))) return noAccount
    return silence(deadlineMs, signal)
  }
  const id = await store.add(account.externalId, text)
  if (id === null) return noAccount
  await failpoints('sandbox.applied')
  if (fault === 'applied502') return unknown('502')
  if (fault === 'drop') return unknown('connection closed')
  return { kind: 'posted', externalId: id, url: null }
}

/**
 * Posts have no `url`, because no page shows a single one of them. One fault is drawn for each call of `publish`, whatever
 * comes of the call.
 */
export const createSandbox = ({ store, faults, log, failpoints, tier = 'free' }: SandboxSettings): Sandbox => {
  const draw = drawsOf(faults)
  if (faults.lagMs > 0 || Object.values(faults.rates).some((rate) => rate > 0)) log.warn(faults, 'the sandbox fails on purpose')
  const timelineOf = async (account: NetworkAccount, since: Date): Promise<Timeline> => {
    const posts = await store.timeline({ accountId: account.externalId, since, lagMs: faults.lagMs }).catch(unreachable)
    if (posts === null) throw noSuchAccount()
    return { posts: posts.map(({ id, ...post }) => ({ externalId: id, ...post, truncated: false, url: null })), complete: true }
  }
  const metricsOf = async (account: NetworkAccount, ids: string[]): Promise<PostMetrics[]> => {
    const posts = await store.posts(account.externalId, ids).catch(unreachable)
    if (posts === null) throw noSuchAccount()
    return posts.map(({ id, ...post }) => ({
      externalId: id,
      ...sandboxMetrics({ accountId: account.externalId, postId: id, ...post }),
    }))
  }
  return {
    name: 'sandbox',
    capabilities: capabilitiesOf(tier),
    async publish(request, signal) {
      const drawn = draw()
      if (signal.aborted) return notSent('given up before anything was sent')
      if (drawn.fault !== 'none') log.debug({ fault: drawn.fault, attempt: request.attemptId }, 'sandbox fault')
      return until(publishOnce({ store, failpoints }, { request, drawn, signal }).catch(failureOf), signal, () => unknown('timeout'))
    },
    readTimeline: (account, since, signal) => until(timelineOf(account, since), signal, givenUp),
    async readMetrics(account, externalIds, signal) {
      if (externalIds.length > MOST_MEASURED)
        throw new NetworkError('bad_answer', `asked for ${externalIds.length} posts, more than ${MOST_MEASURED}`)
      return until(metricsOf(account, externalIds), signal, givenUp)
    },
    async connect(handle) {
      const name =
        HANDLE.exec(handle.trim())?.[1] ?? fail('invalid_input', 'a handle is 1 to 50 letters, digits, dots, dashes or underscores')
      const account = await store.account(name).catch(unreachable)
      return { externalId: account.id, handle: account.handle }
    },
  }
}
