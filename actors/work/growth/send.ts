/**
 * The lane that sends: claim and intent in one commit, one request without retries, and the answer
 * in a letter.
 */
import type { Claiming, Ending, LaneContext, UnrepeatableLane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { refusedAccount, renewalWork } from '#decisions/growth/lost-account'
import { notConnected } from '#decisions/growth/not-connected'
import { settleSend } from '#decisions/growth/send-effects'
import { againOf, recordOf, triesOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import { accountOf } from '#decisions/growth/timeline'
import { kindsOfWork } from '#decisions/work'
import type { HeldCall } from '#domain/agent/job/overtaking'
import { chargeDoubtRead } from '#domain/app/read-budget'
import { orphaned, type SendOutcome, type Sent } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import { fail } from '#kernel/errors'
import { inSpan } from '#kernel/trace'
import { appliesWithin } from '#port/network/applying'
import { fingerprintText } from '#port/network/text'
import { waitingCallsAbout } from '#store/agent/approvals'
import type { Sql } from '#store/engine/db'
import { type Loaded, type Part, when } from '#store/engine/load'
import { openAttempt } from '#store/growth/attempts'
import { type RecordStanding, recordStanding } from '#store/growth/standing'
import { requeue } from '../decisions.ts'
import {
  type ClaimParts,
  claimLoad,
  claimOnceMore,
  claimRecord,
  claimRecordAhead,
  type SendJob,
} from './claim-send.ts'
import { notSent, toReview } from './given-up.ts'
import { meansOf } from './means.ts'
import { withOvertaken } from './overtaken.ts'
import { readFirst, type ShownTimeline, settleShown } from './read-back.ts'
import type { SendDeps } from './send-deps.ts'
import { decisionOf } from './send-replies.ts'

/** `resources`: posts read before the send. */
type Answer = (SendOutcome | ShownTimeline) & { resources?: number }

type SettleLoad = {
  record: Part<Sendable | undefined>
  found: Part<RecordStanding | undefined>
  calls: Part<HeldCall[] | undefined>
}

export const sendLane = (
  deps: SendDeps,
): Ending<UnrepeatableLane<SendJob, Answer, SettleLoad, ClaimParts>> => ({
  kind: 'send',
  leaseMs: deps.times.leaseMs,
  priority: 'control',
  claim(sql, gate, work, loaded) {
    const again = againOf(work)
    return again
      ? claimOnceMore(deps, { sql, gate, work }, again)
      : claimRecord(deps, { sql, gate, work }, loaded)
  },
  claimLoad,
  claimAhead: (gate, work, loaded) => claimRecordAhead(deps, { gate, work }, loaded),
  // For a claim of another record, only an attempt that stays open, a new doubt or a lost
  // connection can change anything.
  isPlain: ({ work, job, outcome }) => outcome.kind === 'posted' && !againOf(work) && !job.readBack,
  run: (job, context) => send(deps, job, context),
  load: ({ work, job, outcome }) => ({
    record: sendables[job.attempt.sendable].part(work.ref_id),
    found: when(outcome.kind === 'posted', recordStanding(work.ref_id)),
    calls: when(['posted', 'shown'].includes(outcome.kind), waitingCallsAbout(work.ref_id)),
  }),
  settle: (sql, gate, { work, job, outcome }, loaded) =>
    settleAnswer(deps, { sql, gate, work }, { job, outcome, loaded }),
  givenUp: (sql, gate, work) =>
    work.state === 'running'
      ? perhapsSent(deps, { sql, gate, work })
      : notSent({ sql, gate, work }),
  crashed: (cause) => ({
    kind: 'unknown',
    reason: `the send broke off: ${cause instanceof Error ? cause.name : 'unknown error'}`,
  }),
  orphaned: (sql, gate, work) => putInDoubt(deps, { sql, gate, work }),
})

interface Answered {
  job: SendJob
  outcome: Answer
  loaded: Loaded<SettleLoad>
}

/**
 * Turns the network's answer into rows: the attempt's end, the record's state, and what the answer
 * says about the account.
 */
const settleAnswer = async (
  deps: SendDeps,
  { sql, gate, work }: Claiming,
  { job, outcome, loaded }: Answered,
): Promise<Decision<void>> => {
  const { attempt } = job
  const { moves } = sendables[attempt.sendable]
  const record = loaded.record ?? fail('not_found', `no such ${moves.noun}`)
  const sent = {
    moves,
    record,
    attempt,
    tries: triesOf(work),
    now: gate.now,
    times: deps.times,
    appliesWithinMs: promisedApplyMs(job),
  }
  const settled = await settledAs(sql, { sent, job, work }, outcome)
  const lost = { about: { moves, record }, but: job.connection.id }
  const error = outcome.kind === 'disconnected' ? await notConnected(sql, lost) : undefined
  const decision =
    outcome.kind === 'shown'
      ? decisionOf(settled, work)
      : decisionOf(settled, work, { outcome, error, found: loaded.found })
  const effects = decision.effects!
  if (outcome.kind === 'disconnected') {
    const { isSuspended } = outcome
    const gone = refusedAccount(job.network, job.connection, { isSuspended, now: gate.now })
    effects.writes!.push(...gone.writes)
    effects.events = [...(effects.events ?? []), ...gone.events]
  }
  if (outcome.kind === 'not_applied' && outcome.isSessionOver)
    effects.work = [...(effects.work ?? []), renewalWork(job.connection, gate.now)]
  const { resources = 0 } = outcome
  if (resources > 0) effects.spend = [chargeDoubtRead(job.network.limits.tier, resources, gate.now)]
  return withOvertaken(decision, settled, loaded.calls, gate)
}

/** Its process died, or the network's answer could not be saved. */
const putInDoubt = async (
  deps: SendDeps,
  { sql, gate, work }: Claiming,
): Promise<Decision<void>> => {
  const of = recordOf(work)
  const { moves, lock } = sendables[of.sendable]
  const record = await lock(sql, of.record_id)
  const attempt = await openAttempt(sql, of)
  // Claim and attempt are one commit, so there is an attempt; without one nothing was sent.
  if (!attempt) return requeue(work, gate.now)
  // The process may still be alive and send until its lease ends, so look only afterwards. If the
  // clock stepped back, the lease may end later than one that begins now.
  const now = gate.now.getTime()
  const settleFrom = new Date(
    Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs),
  )
  return decisionOf(
    orphaned({ moves, record, attempt, now: gate.now, times: deps.times }, settleFrom),
    work,
  )
}

/** Not even its doubt could be saved, so a person must check. */
const perhapsSent = (deps: SendDeps, claiming: Claiming): Promise<Decision<void>> =>
  claiming.work.failures > kindsOfWork.send.failures
    ? toReview(claiming)
    : putInDoubt(deps, claiming)

const settledAs = (
  sql: Sql,
  { sent, job, work }: { sent: Sent<Sendable>; job: SendJob; work: Parameters<typeof recordOf>[0] },
  outcome: Answer,
) =>
  outcome.kind === 'shown'
    ? settleShown(sql, { sent, connection: job.connection, readBack: job.readBack! }, outcome)
    : settleSend(sql, { sent, work }, outcome)

/**
 * The network's promise about requests that it answers with an error, unless an earlier attempt may
 * have made the post, or the text cannot be recognised.
 */
const promisedApplyMs = ({ attempt, network, isDoubted }: SendJob): number | undefined =>
  !meansOf[attempt.sendable].endsByItself ||
  isDoubted ||
  fingerprintText(attempt.sent_text ?? '') === ''
    ? undefined
    : appliesWithin(network.limits)

/**
 * Sends once, if the timeline that must be read first shows nothing. Sends nothing if too little of
 * the lease is left, or if the lane was recalled.
 */
const send = async (deps: SendDeps, job: SendJob, context: LaneContext): Promise<Answer> => {
  await deps.failpoints('send.claimed')
  const { readBack } = job
  if (!readBack) return sendOnce(deps, job, context)
  const { leaseMs, deadlineMs, marginMs } = deps.times
  const signal = AbortSignal.any([
    context.signal,
    AbortSignal.timeout(Math.max(1, leaseMs - deadlineMs - marginMs)),
  ])
  const { stop, resources } = await readFirst({ ...job, readBack }, signal)
  await deps.failpoints('send.looked')
  if (context.signal.aborted) return { kind: 'unsent', resources }
  return { ...(stop ?? (await sendOnce(deps, job, context))), resources }
}

/** By the database's clock, which the attempt's time is of. */
const latenessOf = ({ record, attempt }: SendJob, elapsedMs: number): number | undefined => {
  const due = sendables[attempt.sendable].moves.scheduleOf(record)?.at
  return due && attempt.intent_at.getTime() + elapsedMs - due.getTime()
}

const sendOnce = async (
  { times, failpoints, sent, tracer }: SendDeps,
  job: SendJob,
  context: LaneContext,
): Promise<SendOutcome> => {
  const tooLate = context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs
  if (tooLate || !context.commit()) return { kind: 'unsent' }
  const { record, attempt, network, connection } = job
  const lateMs = latenessOf(job, context.elapsed())
  const request = {
    account: accountOf(connection),
    text: attempt.sent_text,
    attemptId: attempt.id,
    key: attempt.network_key,
    madeAt: attempt.intent_at,
    deadlineMs: times.deadlineMs,
  }
  const { sendable } = attempt
  const signal = AbortSignal.timeout(times.deadlineMs)
  const facts = { record: record.id, network: network.name, attempt: attempt.number, lateMs }
  const outcome = await inSpan(
    tracer,
    { name: `send ${sendable}`, facts },
    () => meansOf[sendable].send(network, record, request, signal),
    ({ kind }) => ({ outcome: kind, isFailure: kind === 'unknown' }),
  )
  sent?.({ sendable, network: network.name, outcome: outcome.kind, lateMs })
  await failpoints('send.sent')
  return outcome
}
