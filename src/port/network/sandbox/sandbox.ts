/**
 * The sandbox: a network without the internet. It answers like a remote service, including
 * failures, and keeps its accounts and posts in tables that nothing else writes.
 */

import { engageActions } from '#contract/records/growth/engagement'
import { countNames, reactionNames } from '#contract/records/growth/item'
import type { Tier } from '#domain/app/read-budget'
import {
  LONG_WEIGHTED_LIMIT,
  WEIGHTED_COUNTING,
  WEIGHTED_LIMIT,
  weightedLength,
} from '#domain/growth/length/weighted-length'
import { fail } from '#kernel/errors'
import { type Failpoints, noFailpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import { plainText } from '#kernel/plain-text'
import {
  MOST_MEASURED,
  type Network,
  type NetworkAccount,
  NetworkError,
  type NetworkLimits,
  type PostMetrics,
  type PublishRequest,
  type PublishResult,
  type Timeline,
} from '../network.ts'
import type { NetworkPrices } from '../prices.ts'
import { type Act, callSandbox, notReached, settleUnless } from './call.ts'
import { drawsOf, type SandboxFaults } from './faults.ts'
import { type Stage, stageOn } from './feed.ts'
import { sandboxMetrics } from './metrics.ts'
import { SandboxFailure } from './pool.ts'
import type { SandboxStore, TimelineQuery } from './rows.ts'
import { residentOf } from './schedule.ts'
import {
  engagingAct,
  lookUpPost,
  postIdIn,
  preflight,
  readHandle,
  type SandboxCounts,
  type SandboxRules,
  type Society,
  textRefusal,
  withCounts,
} from './social.ts'

export interface SandboxSettings {
  store: SandboxStore
  faults: SandboxFaults
  rules?: SandboxRules
  log: Log
  failpoints?: Failpoints
  /** How reads count. The sandbox bills nobody, but can stand in for a network that does. */
  tier?: Tier
  counts?: SandboxCounts
}

export interface Sandbox extends Network, Stage {
  /**
   * Creates or finds a workspace's account. The same handle, in any case and with or without `@`,
   * keeps its id; in another workspace it is another account. Throws `invalid_input` if it is not a
   * handle, and `NetworkError` if the network is unreachable.
   */
  connect(workspaceId: string, handle: string): Promise<{ externalId: string; handle: string }>
}

const HANDLE = /^@?([A-Za-z0-9_.-]{1,50})$/

/** The clocks of an answer and of the next read differ by less than this. */
const APPLY_MARGIN_MS = 1_000

/** X's prices of April 2026. Where reads are metered, the sandbox stands in for X. */
const prices: NetworkPrices = {
  post: 15_000,
  postWithLink: 200_000,
  reply: 10_000,
  interaction: 15_000,
}

/**
 * Every post is applied when the answer is sent, or never. Only `slow` applies one later, and then
 * promises nothing.
 */
const limitsOf = (
  { tier, rules, counts }: Required<Pick<SandboxSettings, 'tier' | 'rules' | 'counts'>>,
  { rates, lagMs }: SandboxFaults,
): NetworkLimits => ({
  maxLength: WEIGHTED_LIMIT,
  maxLongLength: LONG_WEIGHTED_LIMIT,
  measure: weightedLength,
  tier,
  maxApplyMs: rates.slow > 0 ? null : APPLY_MARGIN_MS + lagMs,
  completeReadBack: rates.slow === 0,
  counting: WEIGHTED_COUNTING,
  // X permits only replies that somebody asked for.
  actions: rules === 'x_selfserve' ? ['reply', 'repost'] : engageActions,
  counts: counts === 'all' ? countNames : reactionNames,
  prices: tier === 'payg' ? prices : null,
})

const publishingAct = (store: SandboxStore, { account, text, isLong }: PublishRequest): Act => ({
  refusal: () => textRefusal(text, isLong ? LONG_WEIGHTED_LIMIT : WEIGHTED_LIMIT),
  apply: () => store.add(account.externalId, text),
  applyLater: (afterMs) => store.addLater(account.externalId, text, afterMs),
})

type Sending = Pick<PublishRequest, 'attemptId' | 'deadlineMs'>

const unreachable = (cause: unknown): never => {
  if (!(cause instanceof SandboxFailure)) throw cause
  throw new NetworkError('unreachable', `the sandbox cannot be reached: ${cause.message}`)
}

const noSuchAccount = (): NetworkError =>
  new NetworkError('disconnected', 'the sandbox has no such account')

/** Throws if the read fails or is given up. */
const reading = <T>(running: Promise<T>, signal: AbortSignal): Promise<T> =>
  settleUnless(running.catch(unreachable), signal, () => {
    throw new NetworkError('unreachable', 'given up before the sandbox answered')
  })

const timelineOf = async (store: SandboxStore, query: TimelineQuery): Promise<Timeline> => {
  const posts = await store.timeline(query)
  if (posts === null) throw noSuchAccount()
  return {
    posts: posts.map(({ id, ...post }) => ({
      externalId: id,
      ...post,
      truncated: false,
      url: null,
    })),
    complete: true,
  }
}

/** The metrics by the model of readers, plus what accounts in the sandbox did with the posts. */
const metricsOf = async (
  society: Society,
  { externalId: accountId }: NetworkAccount,
  ids: string[],
): Promise<PostMetrics[]> => {
  const { store } = society
  const posts = await store.posts(accountId, ids)
  if (posts === null) throw noSuchAccount()
  const counts = await store.counts(
    posts.map(({ id }) => id),
    { accountId },
  )
  return posts.map(({ id, ...post }) => ({
    externalId: id,
    ...withCounts(society, sandboxMetrics({ accountId, postId: id, ...post }), counts.get(id)),
  }))
}

const handleOf = (text: string): string => {
  const name =
    HANDLE.exec(plainText(text))?.[1] ??
    fail('invalid_input', 'a handle is 1 to 50 letters, digits, dots, dashes or underscores')
  return residentOf(name)
    ? fail('invalid_input', `the handle ${name} is taken in the sandbox; choose another`)
    : name
}

/**
 * Posts have no `url`, because no page shows a single post. Each call of `publish` and `engage`
 * draws one fault, whatever comes of the call.
 */
export const createSandbox = ({
  store,
  faults,
  rules = 'open',
  log,
  failpoints = noFailpoints,
  tier = 'free',
  counts = 'all',
}: SandboxSettings): Sandbox => {
  const draw = drawsOf(faults)
  if (faults.lagMs > 0 || Object.values(faults.rates).some((rate) => rate > 0))
    log.warn(faults, 'the sandbox fails on purpose')
  const society = { store, rules, counts, lagMs: faults.lagMs, maxLength: WEIGHTED_LIMIT }
  const act = async (
    what: Act,
    { attemptId, deadlineMs }: Sending,
    signal: AbortSignal,
  ): Promise<PublishResult> => {
    const drawn = draw()
    if (signal.aborted) return notReached('given up before anything was sent')
    if (drawn.fault !== 'none')
      log.debug({ fault: drawn.fault, attempt: attemptId }, 'sandbox fault')
    return callSandbox({ act: what, deadlineMs, drawn, failpoints, signal })
  }
  return {
    name: 'sandbox',
    ...stageOn(society, (running) => running.catch(unreachable)),
    limits: limitsOf({ tier, rules, counts }, faults),
    publish: (request, signal) => act(publishingAct(store, request), request, signal),
    engage: (request, signal) => act(engagingAct(society, request), request, signal),
    preflight: (action, post) => preflight(rules, action, post),
    readTimeline: ({ externalId: accountId }, since, signal) =>
      reading(timelineOf(store, { accountId, since, lagMs: faults.lagMs }), signal),
    readHandle: (account, query, signal) => reading(readHandle(society, account, query), signal),
    postIdIn,
    readPost: (account, ref, signal) => reading(lookUpPost(society, account, ref), signal),
    async readMetrics(account, externalIds, signal) {
      if (externalIds.length > MOST_MEASURED)
        throw new NetworkError(
          'bad_answer',
          `asked for ${externalIds.length} posts, more than ${MOST_MEASURED}`,
        )
      return reading(metricsOf(society, account, externalIds), signal)
    },
    async connect(workspaceId, handle) {
      const account = await store.account(workspaceId, handleOf(handle)).catch(unreachable)
      return { externalId: account.id, handle: account.handle }
    },
  }
}
