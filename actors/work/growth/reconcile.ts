/** The lane that resolves doubtful sends. It only reads: nothing here can send. */

import type { Claimed, Ending, Lane, LaneContext } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { readEvidence } from '#decisions/growth/evidence'
import { type Identified, identify } from '#decisions/growth/identify'
import { againOf, recordOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import { accountOf, type ReadResult, resourcesOf, type Unread } from '#decisions/growth/timeline'
import type { HeldCall } from '#domain/agent/job/overtaking'
import { chargeDoubtRead } from '#domain/app/read-budget'
import { type Attempt, type DoubtRead, withRead } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { shownTimeline } from '#domain/growth/sending/doubt-read'
import { absent } from '#domain/growth/sending/keyed'
import { readableFrom } from '#domain/growth/sending/post-again'
import { afterFailedRead, hit } from '#domain/growth/sending/reconcile'
import { clearRead, returnedSince, watchNext } from '#domain/growth/sending/returning'
import type { Settled, Trial } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import { AppError } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import { appliesWithin } from '#port/network/applying'
import { waitingCallsAbout } from '#store/agent/approvals'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { type Part, when } from '#store/engine/load'
import type { Work } from '#store/engine/work'
import { doubtfulSince, openAttempt, returnedAttempt } from '#store/growth/attempts'
import { connectionById } from '#store/growth/connections'
import { finishWork, requeue } from '../decisions.ts'
import { toReview } from './given-up.ts'
import { settleLate } from './late-hit.ts'
import { withOvertaken } from './overtaken.ts'
import { handOver, refuseAgain } from './post-again.ts'
import type { SendDeps } from './send-deps.ts'
import { decisionOf } from './send-replies.ts'

interface ReadJob {
  record: Sendable
  attempt: Attempt
  connection: Connection
  /** Before the read, by the database's clock. */
  begunAt: Date
}

const READ_DEADLINE_MS = 10_000

/** Only what was read can settle a doubt as posted. */
type ReadLoad = { calls: Part<HeldCall[] | undefined> }

export const reconcileLane = (deps: SendDeps): Ending<Lane<ReadJob, ReadResult, ReadLoad>> => ({
  kind: 'reconcile',
  leaseMs: 3 * READ_DEADLINE_MS,
  priority: 'control',
  claim: (sql, gate, work) => claimRead(deps, { sql, gate, work }),
  run: (job, context) => read(deps, job, context),
  load: ({ work, outcome }) => ({
    calls: when(outcome.kind === 'read', waitingCallsAbout(work.ref_id)),
  }),
  async settle(sql, gate, finished, { calls }) {
    const decision = await settleRead(deps, { sql, gate }, { ...finished, calls })
    const spend = [...(decision.effects?.spend ?? []), ...chargesOf(deps, finished, gate.now)]
    return { ...decision, effects: { ...decision.effects, spend } }
  },
  givenUp: (sql, gate, work) => toReview({ sql, gate, work }),
  crashed: () => ({ kind: 'unread' }),
})

interface Finished {
  work: Work
  job: ReadJob
  outcome: ReadResult
  /** Of the agent, about the record. */
  calls?: readonly HeldCall[] | undefined
}

/**
 * The cost that the network bills. A read whose outcome a crash lost is not charged: such reads are
 * small, and none is ever refused.
 */
const chargesOf = ({ networks }: SendDeps, { job, outcome }: Finished, now: Date): Spend[] => {
  const network = networks.named(job.connection.network)
  const resources = resourcesOf(outcome)
  return network && resources > 0 ? [chargeDoubtRead(network.limits.tier, resources, now)] : []
}

const settleRead = async (
  deps: SendDeps,
  { sql, gate }: { sql: Sql; gate: Gate },
  { work, job, outcome, calls }: Finished,
): Promise<Decision<void>> => {
  const of = recordOf(work)
  const { moves, lock } = sendables[of.sendable]
  const record = await lock(sql, of.record_id)
  const attempt = await openAttempt(sql, of)
  await deps.failpoints('reconcile.settling')
  if (!moves.isUnconfirmed(record) || !attempt)
    return settleLate({ sql, gate, work }, { record, times: deps.times, job, outcome, calls })
  const having = (seen?: Identified) => {
    const read = readOf(outcome, seen, { attempt, now: gate.now })
    return { moves, record, attempt: withRead(attempt, read), now: gate.now, times: deps.times }
  }
  const again = againOf(work)
  if (outcome.kind === 'unread') {
    const found = having()
    if (again)
      return refuseAgain(afterFailedRead(withError(found), outcome.retryAfterMs), work, {
        again,
        error: errorOf(outcome),
      })
    return decisionOf(afterFailedRead(found, outcome.retryAfterMs), work)
  }
  const seen = await identify(sql, { record, attempt, connection: job.connection }, outcome)
  const [found, { post, mayBeThere }] = [having(seen), seen]
  if (post) {
    const settled = await watchedOn(sql, found, hit(found, post))
    return withOvertaken(decisionOf(settled, work), settled, calls, gate)
  }
  if (again && !mayBeThere) return handOver(found, work, again)
  if (attempt.network_key !== null && !mayBeThere)
    return decisionOf(absent({ ...found, since: job.attempt.intent_at }), work)
  const network = deps.networks.named(job.connection.network)
  const appliesWithinMs = network && appliesWithin(network.limits)
  const settled = clearRead(found, { begunAt: job.begunAt, isClear: !mayBeThere, appliesWithinMs })
  return again ? refuseAgain(settled, work, { again, error: UNCLEAR }) : decisionOf(settled, work)
}

const MOST_CANDIDATES = 3

/** What the network showed, for people who wonder what became of a post. */
const readOf = (
  outcome: ReadResult,
  seen: Identified | undefined,
  { attempt, now }: { attempt: Attempt; now: Date },
): DoubtRead => {
  const saw = seen?.post ? 'it' : seen?.mayBeThere ? 'unclear' : seen ? 'nothing' : 'unreadable'
  const candidates = (seen?.candidates ?? []).slice(0, MOST_CANDIDATES)
  const posts = outcome.kind === 'read' ? outcome.posts : undefined
  return {
    at: now,
    saw,
    posts: posts?.length ?? null,
    candidates: candidates.map((post) => ({
      external_id: post.externalId,
      url: post.url,
      posted_at: post.createdAt,
    })),
    timeline: posts ? shownTimeline(posts, candidates, attempt) : null,
  }
}

/**
 * Keeps watching an attempt that was returned earlier, whatever happened to the attempt after it.
 */
const watchedOn = async (
  sql: Sql,
  { attempt, now, times }: Trial<Sendable>,
  settled: Settled<Sendable>,
): Promise<Settled<Sendable>> => {
  const returned =
    attempt.number > 1 ? await returnedAttempt(sql, attempt, returnedSince(now, times)) : undefined
  const at = returned && watchNext(returned, now, times)
  return at ? { ...settled, next: { kind: 'reconcile', at } } : settled
}

const UNREAD = 'the timeline could not be read to its end, so nothing was sent'

const UNCLEAR = new AppError(
  'conflict',
  'cannot post again: the timeline shows a post that may be this one; mark it posted if it is',
  { reason: 'in_doubt' },
)

const withError = (found: Trial<Sendable>): Trial<Sendable> => ({
  ...found,
  record: { ...found.record, last_error: UNREAD, updated_at: found.now },
})

/** The error for a person who asked to send the record again. */
const errorOf = ({ why, retryAfterMs = 1_000 }: Unread): AppError =>
  why === 'rate_limited'
    ? new AppError('rate_limited', 'network', { retryAfter: Math.ceil(retryAfterMs / 1_000) })
    : new AppError('network_error', UNREAD)

const claimRead = async (
  { times }: SendDeps,
  { sql, gate, work }: { sql: Sql; gate: Gate; work: Work },
): Promise<Claimed<ReadJob>> => {
  const of = recordOf(work)
  const open =
    (await openAttempt(sql, of)) ?? (await returnedAttempt(sql, of, returnedSince(gate.now, times)))
  if (!open) return { decision: finishWork(work) }
  const runAt = readableFrom(open, times)
  if (againOf(work) && gate.now < runAt) return { decision: requeue(work, runAt) }
  const attempt = { ...open, intent_at: await doubtfulSince(sql, open) }
  const connection = (await connectionById(attempt.connection_id)(sql))[0]!
  const record = await sendables[of.sendable].lock(sql, of.record_id)
  return { job: { record, attempt, connection, begunAt: gate.now }, decision: { reply: undefined } }
}

const read = async (
  { networks, failpoints }: SendDeps,
  job: ReadJob,
  context: LaneContext,
): Promise<ReadResult> => {
  const network = networks.named(job.connection.network)
  if (!network) return { kind: 'unread' }
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(READ_DEADLINE_MS)])
  await failpoints('reconcile.reading')
  const { record, attempt, connection } = job
  const sought = { record, attempt, account: accountOf(connection) }
  const result = await readEvidence(network, sought, signal)
  await failpoints('reconcile.read')
  return result
}
