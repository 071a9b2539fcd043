/** Looks a doubtful post up in the account's own timeline. Reads only: nothing here can send. */

import type { Claimed, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { againOf } from '#decisions/growth/send-payload'
import { chargeDoubtRead } from '#domain/app/read-budget'
import type { Item } from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import { readableFrom } from '#domain/growth/sending/post-again'
import type { Attempt, PublishTimes, Settled } from '#domain/growth/sending/publish'
import { afterFailedRead, hit, type TimelineRead } from '#domain/growth/sending/reconcile'
import { clearRead, returnedSince, watchNext } from '#domain/growth/sending/returning'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import type { Spend } from '#kernel/spend'
import { appliesWithin } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { doubtfulSince, openAttempt, returnedAttempt } from '#store/growth/attempts'
import { connectionById } from '#store/growth/connections'
import { lockItem } from '#store/growth/items'
import { finished, requeued } from './decisions.ts'
import { settleLate } from './late-hit.ts'
import { handOver, refuseAgain } from './post-again.ts'
import { decisionOf } from './send-replies.ts'
import { identify, type Looked, readTimeline, type Unread } from './timeline.ts'

export interface ReconcileDeps {
  networks: Networks
  times: PublishTimes
  failpoints: Failpoints
}

interface Job {
  attempt: Attempt
  connection: Connection
  /** Before the read, by the database's clock. */
  begunAt: Date
}

const READ_DEADLINE_MS = 10_000

export const reconcileLane = (deps: ReconcileDeps): Lane<Job, Looked> => ({
  kind: 'reconcile',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'control',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, finished) {
    const decision = await settleRead(deps, { sql, gate }, finished)
    const spend = [...(decision.effects?.spend ?? []), ...chargesOf(deps, finished, gate.now)]
    return { ...decision, effects: { ...decision.effects, spend } }
  },
  crashed: () => ({ kind: 'unread' }),
})

interface Finished {
  work: Work
  job: Job
  outcome: Looked
}

/** What the network bills. A read whose outcome a crash took away is not charged: it holds little, and none is ever refused. */
const chargesOf = ({ networks }: ReconcileDeps, { job, outcome }: Finished, now: Date): Spend[] => {
  const network = networks.named(job.connection.network)
  const resources = outcome.kind === 'read' ? outcome.posts.length : (outcome.resources ?? 0)
  return network && resources > 0 ? [chargeDoubtRead(network.limits.tier, resources, now)] : []
}

const settleRead = async (
  deps: ReconcileDeps,
  { sql, gate }: { sql: Sql; gate: Gate },
  { work, job, outcome }: Finished,
): Promise<Decision<void>> => {
  const item = await lockItem(sql, work.ref_id)
  const attempt = await openAttempt(sql, { sendable: 'post', record_id: item.id })
  await deps.failpoints('reconcile.settling')
  if (item.status !== 'publish_unconfirmed' || !attempt) return settleLate({ sql, gate, work }, { item, times: deps.times, job, outcome })
  const found = { item, attempt, now: gate.now, times: deps.times }
  const again = againOf(work)
  if (outcome.kind === 'unread') {
    if (again) return refuseAgain(afterFailedRead(withError(found), outcome.retryAfterMs), work, { again, error: errorOf(outcome) })
    return decisionOf(afterFailedRead(found, outcome.retryAfterMs), work)
  }
  const { post, mayBeThere } = await identify(sql, { attempt, connection: job.connection }, outcome.posts)
  if (post) return decisionOf(await watchedOn(sql, found, hit(found, post)), work)
  if (again && !mayBeThere) return handOver(found, work, again)
  const network = deps.networks.named(job.connection.network)
  const appliesWithinMs = network && appliesWithin(network.limits)
  const settled = clearRead(found, { begunAt: job.begunAt, isClear: !mayBeThere, appliesWithinMs })
  return again ? refuseAgain(settled, work, { again, error: UNCLEAR }) : decisionOf(settled, work)
}

/** An attempt that was returned before is watched on, whatever has become of the one after it. */
const watchedOn = async (sql: Sql, { attempt, now, times }: TimelineRead, settled: Settled): Promise<Settled> => {
  const returned = attempt.number > 1 ? await returnedAttempt(sql, attempt, returnedSince(now, times)) : undefined
  const at = returned && watchNext(returned, now, times)
  return at ? { ...settled, next: { kind: 'reconcile', at } } : settled
}

const UNREAD = 'the timeline could not be read to its end, so nothing was sent'

const UNCLEAR = new AppError('conflict', 'cannot post again: the timeline shows a post that may be this one; mark it posted if it is')

const withError = <F extends { item: Item; now: Date }>(found: F): F => ({
  ...found,
  item: { ...found.item, last_error: UNREAD, updated_at: found.now },
})

/** What a person is told who wanted it posted again. */
const errorOf = ({ why, retryAfterMs = 1_000 }: Unread): AppError =>
  why === 'rate_limited'
    ? new AppError('rate_limited', 'network', { retryAfter: Math.ceil(retryAfterMs / 1_000) })
    : new AppError('network_error', UNREAD)

const claimRead = async ({ times }: ReconcileDeps, { sql, gate, work }: { sql: Sql; gate: Gate; work: Work }): Promise<Claimed<Job>> => {
  const of = { sendable: 'post', record_id: work.ref_id } as const
  const open = (await openAttempt(sql, of)) ?? (await returnedAttempt(sql, of, returnedSince(gate.now, times)))
  if (!open) return { decision: finished(work) }
  const runAt = readableFrom(open, times)
  if (againOf(work) && gate.now < runAt) return { decision: requeued(work, runAt) }
  const attempt = { ...open, intent_at: await doubtfulSince(sql, of) }
  const connection = (await connectionById(attempt.connection_id)(sql))[0] as unknown as Connection
  return { job: { attempt, connection, begunAt: gate.now }, decision: { reply: undefined } }
}

const read = async ({ networks, failpoints }: ReconcileDeps, job: Job, context: LaneContext): Promise<Looked> => {
  const network = networks.named(job.connection.network)
  if (!network) return { kind: 'unread' }
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READ_DEADLINE_MS)])
  await failpoints('reconcile.reading')
  const looked = await readTimeline(network, job, signal)
  await failpoints('reconcile.read')
  return looked
}
