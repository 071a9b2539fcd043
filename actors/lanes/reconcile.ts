/** Looks a doubtful post up in the account's own timeline. Reads only: nothing here can send. */
import type { Connection } from '#domain/connection'
import type { Attempt, PublishTimes } from '#domain/publish'
import { cleanRead, findPost, hit, type OpenAttempt, readSince, type SeenPost, unread } from '#domain/reconcile'
import { NetworkError, type Timeline } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { fingerprintText } from '#port/network/text'
import { openAttempt, takenPosts, unnamedAttempts } from '#store/attempts'
import { connectionById } from '#store/connections'
import type { Sql } from '#store/db'
import { lockItem } from '#store/items'
import type { Work } from '#store/work'
import type { Claimed, Lane, LaneContext } from '../lane.ts'
import { decisionOf } from './settled.ts'

export interface ReconcileDeps {
  networks: Networks
  times: PublishTimes
}

interface Job {
  attempt: Attempt
  connection: Connection
}

type Outcome = { kind: 'read'; posts: SeenPost[] } | { kind: 'unread'; retryAfterMs?: number | undefined }

const READ_DEADLINE_MS = 10_000

export const reconcileLane = (deps: ReconcileDeps): Lane<Job, Outcome> => ({
  kind: 'reconcile',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'control',
  claim: claimRead,
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const item = await lockItem(sql, work.ref_id)
    const attempt = await openAttempt(sql, item.id)
    if (item.status !== 'publish_unconfirmed' || !attempt) return { reply: undefined, effects: { settled: [work.id] } }
    const found = { item, attempt, now: gate.now, times: deps.times }
    if (outcome.kind === 'unread') return decisionOf(unread(found, outcome.retryAfterMs), work)
    const post = await identify(sql, { attempt, connection: job.connection, posts: outcome.posts })
    return decisionOf(post ? hit(found, post) : cleanRead(found), work)
  },
  crashed: () => ({ kind: 'unread' }),
  orphaned: async (_sql, gate, work) => ({ reply: undefined, effects: { requeued: [{ id: work.id, runAt: gate.now }] } }),
})

const claimRead = async (sql: Sql, _gate: unknown, work: Work): Promise<Claimed<Job>> => {
  const attempt = await openAttempt(sql, work.ref_id)
  if (!attempt) return { decision: { reply: undefined, effects: { settled: [work.id] } } }
  const connection = (await connectionById(attempt.connection_id)(sql))[0] as unknown as Connection
  return { job: { attempt, connection }, decision: { reply: undefined } }
}

/** An incomplete or failed read proves nothing, and says so. */
const read = async ({ networks }: ReconcileDeps, { attempt, connection }: Job, context: LaneContext): Promise<Outcome> => {
  const network = networks.named(connection.network)
  if (!network) return { kind: 'unread' }
  const account = { id: connection.id, externalId: connection.external_id, handle: connection.handle }
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READ_DEADLINE_MS)])
  try {
    const timeline = await network.readTimeline(account, readSince(attempt), signal)
    return timeline.complete ? { kind: 'read', posts: seen(timeline) } : { kind: 'unread' }
  } catch (cause) {
    return { kind: 'unread', retryAfterMs: cause instanceof NetworkError ? cause.retryAfterMs : undefined }
  }
}

const seen = (timeline: Timeline): SeenPost[] => timeline.posts.map((post) => ({ ...post, text: fingerprintText(post.text) }))

/** Decided under the lock, against what other items own or may own by now. */
const identify = async (sql: Sql, { attempt, connection, posts }: Job & { posts: SeenPost[] }): Promise<SeenPost | undefined> => {
  const open = (await unnamedAttempts(connection.id)(sql)) as unknown as (Attempt & { body: string })[]
  const texts: OpenAttempt[] = open.map(({ body, ...other }) => ({ attempt: other, text: fingerprintText(body) }))
  const own = texts.find((other) => other.attempt.id === attempt.id)
  if (!own) return undefined
  const taken = (await takenPosts(
    connection.id,
    posts.map((post) => post.externalId),
  )(sql)) as unknown as { external_id: string }[]
  const others = texts.filter((other) => other !== own)
  return findPost(own, posts, { others, taken: new Set(taken.map((row) => row.external_id)) })
}
