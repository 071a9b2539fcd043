/** The publish lane: claim and intent in one commit, one send without retries, the answer as a letter. */
import { createHash } from 'node:crypto'
import type { Claimed, Claiming, LaneContext, UnrepeatableLane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { settleSend } from '#decisions/growth/send-effects'
import { againOf, triesOf } from '#decisions/growth/send-payload'
import { chargeDoubtRead } from '#domain/app/read-budget'
import type { Item } from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import type { Again } from '#domain/growth/sending/post-again'
import {
  type Attempt,
  backToApproved,
  claim,
  isMissed,
  isWaiting,
  orphaned,
  type PublishTimes,
  type ReturnReason,
  type SendOutcome,
} from '#domain/growth/sending/publish'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { appliesWithin, type Network } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { fingerprintText } from '#port/network/text'
import { forgetPending } from '#store/engine/idempotency'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { insertAttempt, openAttempt, sameTextOpen, triesSoFar } from '#store/growth/attempts'
import { accountFor, disconnect } from '#store/growth/connections'
import { lockItem, saveItem } from '#store/growth/items'
import { currentProfile } from '#store/growth/profiles'
import { finished, requeued } from './decisions.ts'
import { tryClaimAgain } from './post-again.ts'
import { lookFirst, type ReadBack, readBackOf, type Shown, settleShown } from './read-back.ts'
import { decisionOf } from './send-replies.ts'

export interface PublishDeps {
  networks: Networks
  times: PublishTimes
  failpoints: Failpoints
}

interface Job {
  item: Item
  attempt: Attempt
  connection: Connection
  network: Network
  /** An attempt before this one may yet turn out to have posted the item. */
  isDoubted: boolean
  /** What the timeline must not show before this is sent. */
  readBack?: ReadBack | undefined
}

/** `resources`: posts that were read before the send. */
type Answer = (SendOutcome | Shown) & { resources?: number }

const textHash = (body: string): string => createHash('sha256').update(fingerprintText(body)).digest('hex')

export const publishLane = (deps: PublishDeps): UnrepeatableLane<Job, Answer> => ({
  kind: 'publish',
  leaseMs: deps.times.leaseMs,
  priority: 'control',
  claim(sql, gate, work) {
    const again = againOf(work)
    return again ? claimOnceMore(deps, { sql, gate, work }, again) : claimItem(deps, { sql, gate, work })
  },
  run: (job, context) => send(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const item = await lockItem(sql, work.ref_id)
    const sent = { item, attempt: job.attempt, tries: triesOf(work), now: gate.now, times: deps.times, appliesWithinMs: promised(job) }
    const decision =
      outcome.kind === 'shown'
        ? decisionOf(await settleShown(sql, { sent, connection: job.connection, readBack: job.readBack! }, outcome), work)
        : decisionOf(await settleSend(sql, { sent, work }, outcome), work, outcome)
    if (outcome.kind === 'disconnected') decision.effects!.writes!.push(disconnect(job.connection.id, gate.now))
    const { resources = 0 } = outcome
    if (resources > 0) decision.effects!.spend = [chargeDoubtRead(job.network.limits.tier, resources, gate.now)]
    return decision
  },
  crashed: (cause) => ({ kind: 'unknown', reason: `the send broke off: ${cause instanceof Error ? cause.name : 'unknown error'}` }),
  async orphaned(sql, gate, work) {
    const item = await lockItem(sql, work.ref_id)
    const attempt = await openAttempt(sql, { sendable: 'post', record_id: item.id })
    // The claim and the attempt are one commit, so there is one; without it nothing was sent.
    if (!attempt) return requeued(work, gate.now)
    // Its process may still be alive somewhere, and send until the lease ends: look only after that. A lease that ends later than
    // one that begins now is one that the clock has stepped back from.
    const now = gate.now.getTime()
    const settleFrom = new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))
    return decisionOf(orphaned({ item, attempt, now: gate.now, times: deps.times }, settleFrom), work)
  },
})

/** The network's promise about errors that it answers with, unless the item could be there by an earlier attempt, or cannot be recognised. */
const promised = ({ attempt, network, isDoubted }: Job): number | undefined =>
  isDoubted || fingerprintText(attempt.sent_text ?? '') === '' ? undefined : appliesWithin(network.limits)

/** Everything that may forbid the send is checked again here, under the lock: plan, account, approval, schedule. */
const claimItem = async (deps: PublishDeps, claiming: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = claiming
  const item = await lockItem(sql, work.ref_id)
  if (!isWaiting(item, work.origin)) return { decision: finished(work) }
  if (gate.deletesAt) return back(claiming, item, 'workspace_deletion')
  if (gate.plan.billing !== 'ok') return back(claiming, item, `plan_invalid:${gate.plan.billing}`)
  if (await missed(deps, claiming, item)) return back(claiming, item, 'missed')
  const connection = await accountFor(sql, item.account_external_id)
  const network = connection && deps.networks.named(connection.network)
  if (!connection || !network) return back(claiming, item, 'x_not_connected')
  const next = claim(item, { accountExternalId: connection.external_id, origin: work.origin, now: gate.now })
  if (next === 'approval_stale') return back(claiming, item, next)
  const body_sha = textHash(item.body)
  if (await sameTextOpen(sql, connection.id, body_sha)) return back(claiming, item, 'same_text_unconfirmed')
  return claimed(deps, claiming, { item: next, connection, body_sha })
}

/** The new attempt on a person's word, in the same commit as the end of the one that is in doubt. */
const claimOnceMore = async (deps: PublishDeps, claiming: Claiming, again: Again): Promise<Claimed<Job>> => {
  const found = await tryClaimAgain(claiming, again, deps)
  if ('decision' in found) return found
  const { next: item, connection, superseded } = found
  const { job, decision } = await claimed(deps, claiming, { item, connection, body_sha: textHash(item.body) })
  return { job, decision: { ...decision, effects: { ...decision.effects, first: [superseded] } } }
}

/** Claim and intent: one commit. */
const claimed = async (deps: PublishDeps, { sql, gate, work }: Claiming, claim: Pick<NewAttempt, 'item' | 'connection' | 'body_sha'>) => {
  const { count, doubted } = await triesSoFar(sql, { sendable: 'post', record_id: claim.item.id })
  const attempt = newAttempt(deps, { ...claim, gate, work, number: count + 1 })
  const { item, connection } = claim
  // On a person's word the timeline has just been read, for an attempt that this one supersedes.
  const isAgain = againOf(work) !== undefined
  const first = doubted > 0 && !isAgain ? await readBackOf({ sql, gate, work }, connection, deps.times) : undefined
  await deps.failpoints('publish.claiming')
  const network = deps.networks.named(connection.network)!
  const job: Job = { item, attempt, connection, network, isDoubted: doubted > 0 || isAgain, readBack: first?.readBack }
  return { job, decision: { reply: undefined, effects: { ...first?.effects, writes: [saveItem(item), insertAttempt(attempt)] } } }
}

/** Too late by the item's or the profile's rule; or asked for "now" so long ago that nobody expects it any more. */
const missed = async ({ times }: PublishDeps, { sql, gate, work }: Claiming, item: Item): Promise<boolean> => {
  if (work.origin === 'manual') return gate.now.getTime() - work.run_at.getTime() > times.nowMs
  const rule = { now: gate.now, tries: triesOf(work), times }
  // What is not too late by the stricter policy is not too late by any: the profile is read for the others alone.
  if (!isMissed(item, { ...rule, policy: 'skip' })) return false
  return isMissed(item, { ...rule, policy: item.on_missed ?? (await currentProfile(sql)).profile.on_missed })
}

const reasonText = {
  approval_stale: 'the item has changed since its approval; approve it again',
  missed: 'the request could not be completed in time; try again',
  workspace_deletion: 'the workspace is scheduled for deletion',
  same_text_unconfirmed: 'another item with the same text is unconfirmed on this account; settle that one first',
}

/** Not sent, off the schedule, with the reason; whoever waits for it is told. */
const back = ({ gate, work }: Claiming, item: Item, reason: ReturnReason): { decision: Decision<void> } => {
  const { item: next, event } = backToApproved(item, reason, gate.now)
  const [code, detail = ''] = reason.split(':')
  const error =
    code === 'plan_invalid' || code === 'x_not_connected'
      ? new AppError(code, detail)
      : new AppError('conflict', `cannot post: ${reasonText[reason as keyof typeof reasonText]}`)
  return {
    decision: {
      reply: undefined,
      effects: { writes: [saveItem(next), forgetPending(item.id)], events: [event], settled: [work.id] },
      answers: [{ refId: item.id, with: error }],
    },
  }
}

interface NewAttempt {
  item: Item
  connection: Connection
  gate: Gate
  work: Work
  body_sha: string
  number: number
}

const newAttempt = ({ times }: PublishDeps, { item, connection, gate, work, body_sha, number }: NewAttempt): Attempt => ({
  id: newId(),
  sendable: 'post',
  record_id: item.id,
  number,
  connection_id: connection.id,
  body_sha,
  sent_text: item.body,
  origin: work.origin,
  state: 'open',
  intent_at: gate.now,
  lease_until: new Date(gate.now.getTime() + times.leaseMs),
  doubt_at: null,
  doubt_cause: null,
  returns_from: null,
  clean_reads: 0,
  proof_reads: 0,
  external_id: null,
  error: null,
  ended_at: null,
})

/** One send, where the timeline that must be read first shows nothing. Too late for the lease, or recalled: nothing is sent. */
const send = async (deps: PublishDeps, job: Job, context: LaneContext): Promise<Answer> => {
  await deps.failpoints('publish.claimed')
  const { readBack } = job
  if (!readBack) return sendOnce(deps, job, context)
  const { leaseMs, deadlineMs, marginMs } = deps.times
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.max(1, leaseMs - deadlineMs - marginMs))])
  const { stop, resources } = await lookFirst({ ...job, readBack }, signal)
  await deps.failpoints('publish.looked')
  if (context.signal.aborted) return { kind: 'unsent', resources }
  return { ...(stop ?? (await sendOnce(deps, job, context))), resources }
}

const sendOnce = async ({ times, failpoints }: PublishDeps, job: Job, context: LaneContext): Promise<SendOutcome> => {
  const tooLate = context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs
  if (tooLate || !context.commit()) return { kind: 'unsent' }
  const account = { id: job.connection.id, externalId: job.connection.external_id, handle: job.connection.handle }
  const isLong = job.item.kind === 'article'
  const request = { account, text: job.attempt.sent_text!, isLong, attemptId: job.attempt.id, deadlineMs: times.deadlineMs }
  const outcome = await job.network.publish(request, AbortSignal.timeout(times.deadlineMs))
  await failpoints('publish.sent')
  return outcome
}
