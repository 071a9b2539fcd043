/**
 * Reads the metrics of the workspace's posts. A workspace has one row of this work, queued with the
 * time of the next read until no post is left to read. A claim reserves the cost of its read.
 */

import type { Claimed, Claiming, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { refusedAccount } from '#decisions/growth/lost-account'
import { accountOf } from '#decisions/growth/timeline'
import { readBudgetOf, untilTomorrow } from '#domain/app/read-budget'
import {
  changes,
  EARLY_MS,
  nextMetricsRead,
  reserveReads,
  unusedReads,
  type Wait,
  waitAfter,
} from '#domain/growth/learning/metric-sync'
import type { MetricSnapshot } from '#domain/growth/metrics'
import type { Occurrence } from '#domain/growth/rules/rule-trigger'
import type { Connection } from '#domain/growth/sending/connection'
import type { Failpoints } from '#kernel/failpoint'
import type { Spend } from '#kernel/spend'
import {
  MOST_MEASURED,
  type Network,
  type NetworkError,
  type PostMetrics,
} from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Query } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { keepPayload } from '#store/engine/work'
import { connectionById } from '#store/growth/connections'
import {
  type DuePost,
  duePosts,
  insertSnapshots,
  latestSnapshots,
  markRead,
  nextReads,
  thinSnapshots,
} from '#store/growth/metrics'
import { finishWork } from '../decisions.ts'
import { readNetwork } from './network-read.ts'

export interface MetricsDeps {
  networks: Networks
  failpoints: Failpoints
}

interface Job {
  connection: Connection
  network: Network
  posts: DuePost[]
  reserved: Spend
}

type Outcome =
  | { kind: 'read'; metrics: PostMetrics[] }
  | { kind: 'failed'; reason: NetworkError['reason']; retryAfterMs?: number | undefined }
  | { kind: 'stopped' }

/** The row's state between reads: waits of accounts by connection id, and the open reservation. */
interface Memory {
  waits: Record<string, Wait>
  reserved?: Spend | undefined
}

const READ_DEADLINE_MS = 20_000
/** When to check again whether billing is in order. */
const UNPAID_MS = 10 * 60_000

/**
 * Reading twice does no harm: if the process of a read died, its reservation stays in the row and
 * pays for the next read.
 */
export const metricsLane = (deps: MetricsDeps): Lane<Job, Outcome> => ({
  kind: 'metrics',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const letter = { sql, gate, work }
    if (outcome.kind === 'stopped') return requeueMetrics(work, gate.now, memoryOf(work, gate.now))
    return outcome.kind === 'read'
      ? settleRead(letter, job, outcome.metrics)
      : settleFailure(letter, job, outcome)
  },
  crashed: () => ({ kind: 'failed', reason: 'bad_answer' }),
})

const memoryOf = ({ payload }: Work, now: Date): Memory => {
  const waits = Object.entries(
    (payload.waits ?? {}) as Record<string, { failures: number; until: string }>,
  )
    .map(([id, { failures, until }]) => [id, { failures, until: new Date(until) }] as const)
    // Waits that ended long ago are dropped, so that the row does not grow with every account that
    // ever existed.
    .filter(([, { until }]) => until.getTime() > now.getTime() - FORGET_MS)
  return { waits: Object.fromEntries(waits), reserved: payload.reserved as Spend | undefined }
}
const FORGET_MS = 7 * 86_400_000

const payloadOf = ({ waits, reserved }: Memory): Record<string, unknown> => ({
  waits,
  ...(reserved ? { reserved } : {}),
})

const requeueMetrics = (
  { id }: Work,
  runAt: Date,
  memory: Memory,
  effects: Effects = {},
): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id, runAt, payload: payloadOf(memory) }] },
})

/** Queues the next read, or finishes if there is none. `posts` are those just read. */
const untilNext = async (
  { sql, gate, work }: Claiming,
  memory: Memory,
  { posts = [], effects = {} }: { posts?: DuePost[]; effects?: Effects } = {},
) => {
  const others = await nextReads(sql, { now: gate.now, except: posts.map(({ id }) => id) })
  const own = posts.flatMap(({ connection_id, posted_at }) => {
    const at = nextMetricsRead(posted_at, gate.now)
    return at ? [{ connection_id, at }] : []
  })
  const times = [...others, ...own].map(({ connection_id, at }) =>
    Math.max(at.getTime(), memory.waits[connection_id]?.until.getTime() ?? 0),
  )
  if (times.length === 0) return finishWork(work, effects)
  return requeueMetrics(
    work,
    new Date(Math.max(gate.now.getTime(), Math.min(...times))),
    memory,
    effects,
  )
}

const claimRead = async (deps: MetricsDeps, letter: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = letter
  const memory = memoryOf(work, gate.now)
  const backingOff = Object.entries(memory.waits).flatMap(([id, { until }]) =>
    until > gate.now ? [id] : [],
  )
  const until = new Date(gate.now.getTime() + EARLY_MS)
  const posts = await duePosts(sql, { now: gate.now, until, backingOff, limit: MOST_MEASURED })
  if (posts.length === 0) return { decision: await untilNext(letter, memory) }
  // Networks bill reads, so nothing is read until the workspace is paid for.
  if (gate.plan.billing !== 'ok')
    return { decision: requeueMetrics(work, new Date(gate.now.getTime() + UNPAID_MS), memory) }
  const connection = (await connectionById(posts[0]!.connection_id)(sql))[0]!
  const network = deps.networks.named(connection.network)
  const before = memory.waits[connection.id]
  if (!network)
    return {
      decision: await untilNext(
        letter,
        waiting(memory, connection.id, waitAfter(before, gate.now)),
      ),
    }
  const budget = readBudgetOf(gate, network.limits.tier)
  const taken = reserveReads(budget, {
    wanted: posts.length,
    before: memory.reserved,
    now: gate.now,
  })
  if (!taken)
    return {
      decision: await untilNext(letter, waiting(memory, connection.id, tomorrow(before, gate.now))),
    }
  const { reserved, spend } = taken
  const first = [keepPayload(work.id, payloadOf({ ...memory, reserved }))]
  return {
    job: { connection, network, posts: posts.slice(0, taken.posts), reserved },
    decision: { reply: undefined, effects: { first, spend: [spend] } },
  }
}

const waiting = (memory: Memory, id: string, wait: Wait): Memory => ({
  ...memory,
  waits: { ...memory.waits, [id]: wait },
})

/** A spent budget is not a failure of the account. */
const tomorrow = (before: Wait | undefined, now: Date): Wait => ({
  failures: before?.failures ?? 0,
  until: new Date(now.getTime() + untilTomorrow(now) * 1_000),
})

const read = async (
  { failpoints }: MetricsDeps,
  { connection, network, posts }: Job,
  context: LaneContext,
): Promise<Outcome> => {
  await failpoints('metrics.claimed')
  if (context.signal.aborted) return { kind: 'stopped' }
  const ids = posts.map(({ external_id }) => external_id)
  return readNetwork(context, READ_DEADLINE_MS, {
    async ask(signal): Promise<Outcome> {
      const metrics = await network.readMetrics(accountOf(connection), ids, signal)
      await failpoints('metrics.read')
      return { kind: 'read', metrics }
    },
    failed: ({ reason, retryAfterMs }) => ({ kind: 'failed', reason, retryAfterMs }) as const,
  })
}

const snapshotsOf = ({ posts }: Job, metrics: PostMetrics[], at: Date): MetricSnapshot[] => {
  const items = new Map(posts.map(({ id, external_id }) => [external_id, id]))
  return metrics.flatMap(({ externalId, ...counted }) => {
    const item_id = items.get(externalId)
    return item_id ? [{ item_id, at, ...counted }] : []
  })
}

/** New metrics beside the previous ones, for rules with a metric trigger. */
const metricOccurrences = (
  { posts }: Job,
  fresh: MetricSnapshot[],
  latest: MetricSnapshot[],
): Occurrence[] =>
  fresh.map((after) => ({
    kind: 'metric',
    ref: after.item_id,
    before: latest.find(({ item_id }) => item_id === after.item_id) ?? null,
    after,
    ageMs: after.at.getTime() - posts.find(({ id }) => id === after.item_id)!.posted_at.getTime(),
  }))

/** Posts missing from the network's answer are read again at their time. */
const settleRead = async (
  letter: Claiming,
  job: Job,
  metrics: PostMetrics[],
): Promise<Decision<void>> => {
  const { sql, gate, work } = letter
  const ids = job.posts.map(({ id }) => id)
  const read = snapshotsOf(job, metrics, gate.now)
  const latest = await latestSnapshots(sql, ids)
  const fresh = changes(read, latest)
  const writes: Query[] = [markRead(ids, gate.now), thinSnapshots(ids, gate.now)]
  if (fresh.length > 0) writes.push(insertSnapshots(fresh))
  const { [job.connection.id]: _, ...waits } = memoryOf(work, gate.now).waits
  const effects = {
    writes,
    spend: unusedReads(job.network.limits, job.reserved, read.length),
    occurrences: metricOccurrences(job, fresh, latest),
  }
  return untilNext(letter, { waits }, { posts: job.posts, effects })
}

const settleFailure = async (
  letter: Claiming,
  job: Job,
  { reason, retryAfterMs }: Extract<Outcome, { kind: 'failed' }>,
): Promise<Decision<void>> => {
  const { gate, work } = letter
  const { connection, network } = job
  const { id } = connection
  const memory = { ...memoryOf(work, gate.now), reserved: undefined }
  const lost =
    reason === 'disconnected' ? refusedAccount(network, connection, { now: gate.now }) : {}
  const effects = { ...lost, spend: unusedReads(network.limits, job.reserved, 0) }
  return untilNext(
    letter,
    waiting(memory, id, waitAfter(memory.waits[id], gate.now, retryAfterMs)),
    { effects },
  )
}
