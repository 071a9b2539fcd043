/**
 * Looks up what became of an engagement in doubt. Reads only: nothing here can send. A reply and a quote are looked for in the
 * account's own timeline, among what answers the same post; a like and a repost on the post itself.
 */

import type { Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { chargeDoubtRead } from '#domain/app/read-budget'
import { type Engagement, isWritten } from '#domain/growth/drafting/engagement'
import type { Connection } from '#domain/growth/sending/connection'
import { asItem, settledEngagement } from '#domain/growth/sending/execute'
import type { Attempt } from '#domain/growth/sending/publish'
import { afterFailedRead, cleanRead, findPost, hit, readSince, type SeenPost } from '#domain/growth/sending/reconcile'
import type { Spend } from '#kernel/spend'
import { type Network, type NetworkAccount, NetworkError, type TimelinePost } from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { openAttempt, takenPosts, unnamedAnswers } from '#store/growth/attempts'
import { connectionById } from '#store/growth/connections'
import { lockEngagement } from '#store/growth/engagements'
import { finished } from './decisions.ts'
import { executedDecision } from './engagement-replies.ts'
import type { ReconcileDeps } from './reconcile.ts'
import { sentBy } from './timeline.ts'

interface Job {
  engagement: Engagement
  attempt: Attempt
  connection: Connection
}

/** `done`: the post shows it. `resources`: how many the network answered with. */
type Outcome = Seen | { kind: 'unread'; retryAfterMs?: number | undefined; resources: number }
type Seen = { kind: 'answers'; posts: SeenPost[]; resources: number } | { kind: 'state'; done: boolean; resources: number }

const READ_DEADLINE_MS = 10_000

export const confirmLane = (deps: ReconcileDeps): Lane<Job, Outcome> => ({
  kind: 'confirm',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'control',
  async claim(sql, _gate, work) {
    const engagement = await lockEngagement(sql, work.ref_id)
    const attempt = await openAttempt(sql, { sendable: 'engagement', record_id: engagement.id })
    if (!attempt) return { decision: finished(work) }
    const connection = (await connectionById(attempt.connection_id)(sql))[0] as unknown as Connection
    return { job: { engagement, attempt, connection }, decision: { reply: undefined } }
  },
  run: (job, context) => read(deps, job, context),
  async settle(sql, gate, finished) {
    const decision = await settleRead(deps, { sql, gate }, finished)
    const spend = [...(decision.effects?.spend ?? []), ...chargesOf(deps, finished, gate.now)]
    return { ...decision, effects: { ...decision.effects, spend } }
  },
  crashed: () => ({ kind: 'unread', resources: 0 }),
})

interface Finished {
  work: Work
  job: Job
  outcome: Outcome
}

/** Doubt is never refused a read, and pays for it. */
const chargesOf = ({ networks }: ReconcileDeps, { job, outcome: { resources } }: Finished, now: Date): Spend[] => {
  const network = networks.named(job.connection.network)
  return network && resources > 0 ? [chargeDoubtRead(network.limits.tier, resources, now)] : []
}

const settleRead = async (
  { times, failpoints }: ReconcileDeps,
  { sql, gate }: { sql: Sql; gate: Gate },
  { work, job, outcome }: Finished,
): Promise<Decision<void>> => {
  const engagement = await lockEngagement(sql, work.ref_id)
  const attempt = await openAttempt(sql, { sendable: 'engagement', record_id: engagement.id })
  if (engagement.status !== 'execute_unconfirmed' || !attempt) return finished(work)
  await failpoints('confirm.settling')
  const found = { item: asItem(engagement), attempt, now: gate.now, times }
  if (outcome.kind === 'unread') return executedDecision(settledEngagement(engagement, afterFailedRead(found, outcome.retryAfterMs)), work)
  const post = await identify(sql, { ...job, engagement, attempt }, outcome)
  return executedDecision(settledEngagement(engagement, post ? hit(found, post) : cleanRead(found)), work)
}

/** An incomplete or failed read proves nothing, and says so. */
const read = async ({ networks, failpoints }: ReconcileDeps, job: Job, context: LaneContext): Promise<Outcome> => {
  const { engagement, connection } = job
  const network = networks.named(connection.network)
  if (!network) return { kind: 'unread', resources: 0 }
  const account = { id: connection.id, externalId: connection.external_id, handle: connection.handle }
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READ_DEADLINE_MS)])
  await failpoints('confirm.reading')
  try {
    return isWritten(engagement.action) ? await readAnswers(network, account, job, signal) : await readState(network, account, job, signal)
  } catch (cause) {
    return { kind: 'unread', resources: 0, ...(cause instanceof NetworkError ? { retryAfterMs: cause.retryAfterMs } : {}) }
  }
}

const isAnswer = ({ inReplyTo, quoted }: TimelinePost, { action, post_id }: Engagement): boolean =>
  (action === 'reply' ? inReplyTo : quoted) === post_id

const readAnswers = async (network: Network, account: NetworkAccount, job: Job, signal: AbortSignal): Promise<Outcome> => {
  const { posts, complete } = await network.readTimeline(account, readSince(job.attempt), signal)
  const resources = posts.length
  if (!complete) return { kind: 'unread', resources }
  const answers = posts.filter((post) => isAnswer(post, job.engagement))
  return { kind: 'answers', resources, posts: answers.map((post) => ({ ...post, text: fingerprintText(post.text) })) }
}

/** A post that is gone shows nothing; a network that does not tell decides nothing. */
const readState = async (network: Network, account: NetworkAccount, { engagement }: Job, signal: AbortSignal): Promise<Outcome> => {
  const post = await network.readPost(account, engagement.post_id, signal)
  if (!post) return { kind: 'state', done: false, resources: 0 }
  return post.done ? { kind: 'state', done: post.done.includes(engagement.action), resources: 1 } : { kind: 'unread', resources: 1 }
}

/** Decided under the lock, against what other engagements own or may own by now. */
const identify = async (
  sql: Sql,
  { engagement, attempt, connection }: Job,
  outcome: Seen,
): Promise<Pick<SeenPost, 'externalId' | 'url'> | undefined> => {
  if (outcome.kind === 'state') return outcome.done ? { externalId: engagement.post_id, url: null } : undefined
  const { network, post_id: postId, action } = engagement
  const unnamed = (await unnamedAnswers({ connectionId: connection.id, network, postId, action })(sql)) as unknown as Attempt[]
  const others = unnamed.filter(({ id }) => id !== attempt.id).map(sentBy)
  const ids = outcome.posts.map(({ externalId }) => externalId)
  const taken = new Set(
    (
      (await takenPosts({ sendable: 'engagement', connectionId: connection.id, externalIds: ids })(sql)) as unknown as {
        external_id: string
      }[]
    ).map((row) => row.external_id),
  )
  return findPost(sentBy(attempt), outcome.posts, { others, taken })
}
