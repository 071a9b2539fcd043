/** Looks a doubtful post up in the account's own timeline. Reads only: nothing here can send. */
import type { Connection } from '#domain/connection'
import type { Item } from '#domain/item'
import type { Spend } from '#domain/plan'
import { readableFrom } from '#domain/post-again'
import type { Attempt, PublishTimes } from '#domain/publish'
import { chargeDoubtRead } from '#domain/read-budget'
import { cleanRead, findPost, hit, mayShow, type OpenAttempt, readSince, type SeenPost, unread } from '#domain/reconcile'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { NetworkError, type Timeline } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { fingerprintText } from '#port/network/text'
import { doubtfulSince, openAttempt, takenPosts, unnamedAttempts } from '#store/attempts'
import { connectionById } from '#store/connections'
import type { Sql } from '#store/db'
import { lockItem } from '#store/items'
import type { Gate } from '#store/letter'
import { againOf, type Work } from '#store/work'
import type { Claimed, Lane, LaneContext } from '../lane.ts'
import type { Decision } from '../letter.ts'
import { finished, requeued } from './decisions.ts'
import { handOver, refuseAgain } from './post-again.ts'
import { decisionOf } from './settled.ts'

export interface ReconcileDeps {
  networks: Networks
  times: PublishTimes
  failpoints: Failpoints
}

interface Job {
  attempt: Attempt
  connection: Connection
}

/** `resources`: how many the network answered with all the same. */
type Unread = { kind: 'unread'; retryAfterMs?: number | undefined; limited?: boolean; resources?: number }
type Outcome = { kind: 'read'; posts: SeenPost[] } | Unread

const READ_DEADLINE_MS = 10_000

export const reconcileLane = (deps: ReconcileDeps): Lane<Job, Outcome> => ({
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
  orphaned: async (_sql, gate, work) => requeued(work, gate.now),
})

interface Finished {
  work: Work
  job: Job
  outcome: Outcome
}

/** What the network bills. A read whose outcome a crash took away is not charged: it holds little, and none is ever refused. */
const chargesOf = ({ networks }: ReconcileDeps, { job, outcome }: Finished, now: Date): Spend[] => {
  const network = networks.named(job.connection.network)
  const resources = outcome.kind === 'read' ? outcome.posts.length : (outcome.resources ?? 0)
  return network && resources > 0 ? [chargeDoubtRead(network.capabilities.tier, resources, now)] : []
}

const settleRead = async (
  deps: ReconcileDeps,
  { sql, gate }: { sql: Sql; gate: Gate },
  { work, job, outcome }: Finished,
): Promise<Decision<void>> => {
  const item = await lockItem(sql, work.ref_id)
  const attempt = await openAttempt(sql, item.id)
  if (item.status !== 'publish_unconfirmed' || !attempt) return finished(work)
  await deps.failpoints('reconcile.settling')
  const found = { item, attempt, now: gate.now, times: deps.times }
  const again = againOf(work)
  if (outcome.kind === 'unread') {
    if (again) return refuseAgain(unread(withError(found), outcome.retryAfterMs), work, { again, error: errorOf(outcome) })
    return decisionOf(unread(found, outcome.retryAfterMs), work)
  }
  const { post, mayBeThere } = await identify(sql, { attempt, connection: job.connection, posts: outcome.posts.filter(isOfItem) })
  if (post) return decisionOf(hit(found, post), work)
  if (!again) return decisionOf(cleanRead(found), work)
  return mayBeThere ? refuseAgain(cleanRead(found), work, { again, error: UNCLEAR }) : handOver(found, work, again)
}

const UNREAD = 'the timeline could not be read to its end, so nothing was sent'

const UNCLEAR = new AppError('conflict', 'cannot post again: the timeline shows a post that may be this one; mark it posted if it is')

const withError = <F extends { item: Item; now: Date }>(found: F): F => ({
  ...found,
  item: { ...found.item, last_error: UNREAD, updated_at: found.now },
})

/** What a person is told who wanted it posted again. */
const errorOf = ({ limited, retryAfterMs = 1_000 }: Unread): AppError =>
  limited ? new AppError('rate_limited', 'network', { retryAfter: Math.ceil(retryAfterMs / 1_000) }) : new AppError('network_error', UNREAD)

const claimRead = async ({ times }: ReconcileDeps, { sql, gate, work }: { sql: Sql; gate: Gate; work: Work }): Promise<Claimed<Job>> => {
  const open = await openAttempt(sql, work.ref_id)
  if (!open) return { decision: finished(work) }
  const runAt = readableFrom(open, times)
  if (againOf(work) && gate.now < runAt) return { decision: requeued(work, runAt) }
  const attempt = { ...open, intent_at: await doubtfulSince(sql, work.ref_id) }
  const connection = (await connectionById(attempt.connection_id)(sql))[0] as unknown as Connection
  return { job: { attempt, connection }, decision: { reply: undefined } }
}

/** An incomplete or failed read proves nothing, and says so. */
const read = async ({ networks, failpoints }: ReconcileDeps, { attempt, connection }: Job, context: LaneContext): Promise<Outcome> => {
  const network = networks.named(connection.network)
  if (!network) return { kind: 'unread' }
  const account = { id: connection.id, externalId: connection.external_id, handle: connection.handle }
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READ_DEADLINE_MS)])
  await failpoints('reconcile.reading')
  try {
    const timeline = await network.readTimeline(account, readSince(attempt), signal)
    await failpoints('reconcile.read')
    return timeline.complete ? { kind: 'read', posts: seen(timeline) } : { kind: 'unread', resources: timeline.posts.length }
  } catch (cause) {
    if (!(cause instanceof NetworkError)) return { kind: 'unread' }
    return { kind: 'unread', retryAfterMs: cause.retryAfterMs, limited: cause.reason === 'rate_limited' }
  }
}

const seen = (timeline: Timeline): SeenPost[] => timeline.posts.map((post) => ({ ...post, text: fingerprintText(post.text) }))

/** What answers somebody is no item's. */
const isOfItem = ({ inReplyTo, quoted }: SeenPost): boolean => inReplyTo === undefined && quoted === undefined

/** The words as they went out: what is done to the record afterwards changes nothing of them. */
export const sentBy = (attempt: Attempt): OpenAttempt => ({ attempt, text: fingerprintText(attempt.sent_text ?? '') })

/** Decided under the lock, against what other items own or may own by now. */
const identify = async (
  sql: Sql,
  { attempt, connection, posts }: Job & { posts: SeenPost[] },
): Promise<{ post?: SeenPost | undefined; mayBeThere: boolean }> => {
  // Nobody knows what it has sent.
  if (attempt.sent_text === null) return { mayBeThere: true }
  // A post of any attempt of the item settles it: all of them sent what was approved once.
  const own = { ...sentBy(attempt), attempt: { ...attempt, intent_at: await doubtfulSince(sql, attempt.item_id) } }
  const unnamed = (await unnamedAttempts(connection.id)(sql)) as unknown as Attempt[]
  const owned = (await takenPosts(
    connection.id,
    posts.map((post) => post.externalId),
  )(sql)) as unknown as { external_id: string }[]
  const taken = new Set(owned.map((row) => row.external_id))
  const others = unnamed.filter((other) => other.item_id !== attempt.item_id).map(sentBy)
  return { post: findPost(own, posts, { others, taken }), mayBeThere: mayShow(own, posts, taken) }
}
