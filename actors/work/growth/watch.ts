/**
 * Reads the posts of targets. Each active target has a row of work, due at its next read; pausing
 * the target removes it. A claim reserves the most that the read can cost, and the rest is
 * returned.
 */

import type { Claimed, Claiming, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { accountOf } from '#decisions/growth/timeline'
import { hasFeature } from '#domain/app/plan'
import {
  costOf,
  readBudgetOf,
  settleReads,
  takeReads,
  untilTomorrow,
} from '#domain/app/read-budget'
import { SIGNAL_MS } from '#domain/growth/learning/signal'
import {
  nextTargetRead,
  readTarget,
  type Target,
  targetLimits,
  unreadTarget,
  watchCost,
} from '#domain/growth/learning/target'
import type { Connection } from '#domain/growth/sending/connection'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { Spend } from '#kernel/spend'
import type { Network, OthersPost } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { type Effects, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { currentDefault } from '#store/growth/connections'
import { lockTarget, NOT_CONNECTED, saveTarget } from '#store/growth/targets'
import { finishWork, requeue } from '../decisions.ts'
import { readNetwork } from './network-read.ts'
import { newSignals } from './new-signals.ts'

export interface WatchDeps {
  networks: Networks
  failpoints: Failpoints
}

interface Job {
  target: Target
  connection: Connection
  network: Network
  since: Date
  reserved: Spend
}

type Outcome =
  | { kind: 'read'; posts: OthersPost[] | null }
  | { kind: 'failed'; error: string; retryAfterMs?: number | undefined }
  | { kind: 'stopped' }

const READ_DEADLINE_MS = 10_000
/** When to try again after the workspace's own state prevented a read. */
const LATER_MS = 10 * 60_000

export const watchLane = (deps: WatchDeps): Lane<Job, Outcome> => ({
  kind: 'watch',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    if (outcome.kind === 'read') return settleRead({ sql, gate, work }, job, outcome.posts)
    // The network may have answered and billed a read for which nobody waited, so the reservation
    // stays spent.
    if (outcome.kind === 'stopped') return requeue(work, gate.now)
    const target = unreadTarget(await lockTarget(sql, work.ref_id), outcome.error, gate.now)
    const runAt = new Date(
      Math.max(nextTargetRead(target).getTime(), gate.now.getTime() + (outcome.retryAfterMs ?? 0)),
    )
    return scheduleNext(
      { work, target, runAt },
      { writes: [saveTarget(target)], spend: [settleReads(job.reserved, 0)] },
    )
  },
  crashed: () => ({ kind: 'failed', error: 'bad_answer' }),
})

/** Queues the next read, or finishes if the target was paused in the meantime. */
const scheduleNext = (
  { work, target, runAt }: { work: Work; target: Target; runAt: Date },
  effects: Effects,
): Decision<void> =>
  target.status === 'active' ? requeue(work, runAt, effects) : finishWork(work, effects)

/**
 * The account to read with, or why there is none: not connected, not paid for, or not in the plan.
 */
const reader = async ({ networks }: WatchDeps, { sql, gate }: Claiming) => {
  const connection = await currentDefault(sql)
  const network = connection && networks.named(connection.network)
  if (!network) return NOT_CONNECTED
  if (gate.plan.billing !== 'ok') return `plan_invalid:${gate.plan.billing}`
  return hasFeature(gate.plan, 'engagement')
    ? { connection, network }
    : 'plan_feature_disabled:engagement'
}

const claimRead = async (deps: WatchDeps, letter: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = letter
  const { now } = gate
  const target = await lockTarget(sql, work.ref_id)
  if (target.status !== 'active') return { decision: finishWork(work) }
  const later = (error: string, runAt: Date) => ({
    decision: requeue(
      work,
      runAt,
      target.last_error === error
        ? {}
        : { writes: [saveTarget({ ...target, last_error: error, updated_at: now })] },
    ),
  })
  const found = await reader(deps, letter)
  if (typeof found === 'string') return later(found, new Date(now.getTime() + LATER_MS))
  const { tier } = found.network.limits
  try {
    const reserved = takeReads(readBudgetOf(gate, tier), watchCost(tier), now)
    const since = new Date(
      Math.max(now.getTime() - SIGNAL_MS, (target.last_read_at?.getTime() ?? 0) - OVERLAP_MS),
    )
    return {
      job: { target, ...found, since, reserved },
      decision: { reply: undefined, effects: { spend: [reserved] } },
    }
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'x_read_budget_exhausted') throw cause
    return later(cause.code, new Date(now.getTime() + untilTomorrow(now) * 1_000))
  }
}
/** Networks show posts late, and clocks differ. A post seen twice is still one signal. */
const OVERLAP_MS = 15 * 60_000

const read = async (
  { failpoints }: WatchDeps,
  { target, connection, network, since }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('watch.reading')
  const query = { handle: target.handle, since, limit: targetLimits.postsPerRead }
  return readNetwork(context, READ_DEADLINE_MS, {
    ask: async (signal): Promise<Outcome> => ({
      kind: 'read',
      posts: await network.readHandle(accountOf(connection), query, signal),
    }),
    failed: ({ reason, retryAfterMs }) =>
      ({ kind: 'failed', error: reason, retryAfterMs }) as const,
  })
}

const settleRead = async (
  letter: Claiming,
  job: Job,
  posts: OthersPost[] | null,
): Promise<Decision<void>> => {
  const { sql, gate, work } = letter
  const { tier } = job.network.limits
  const resources = (posts?.length ?? 0) + 1
  const cost = costOf(tier, 'post', posts?.length ?? 0) + costOf(tier, 'account', 1)
  const spent = {
    found: posts !== null,
    reads: resources,
    micros: tier === 'payg' ? cost : 0,
    now: gate.now,
  }
  const target = readTarget(await lockTarget(sql, work.ref_id), spent)
  const others = (posts ?? []).filter(
    ({ author }) => author.externalId !== job.connection.external_id,
  )
  const { effects: signals } = await newSignals(letter, {
    posts: others,
    network: job.network.name,
    target: job.target,
  })
  const effects = { writes: [saveTarget(target)], spend: [settleReads(job.reserved, cost)] }
  return scheduleNext({ work, target, runAt: nextTargetRead(target) }, merge(effects, signals))
}
