/** The publish lane: claim and intent in one commit, one send without retries, the answer as a letter. */
import { createHash } from 'node:crypto'
import type { Connection } from '#domain/connection'
import type { Item } from '#domain/item'
import type { Again } from '#domain/post-again'
import {
  type Attempt,
  claim,
  doubt,
  giveBack,
  isMissed,
  isWaiting,
  type Outcome,
  PROCESS_STOPPED,
  type PublishTimes,
  type ReturnReason,
} from '#domain/publish'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import type { Network } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { fingerprintText } from '#port/network/text'
import { attemptCount, insertAttempt, openAttempt, sameTextOpen } from '#store/attempts'
import { accountFor, disconnect } from '#store/connections'
import { forgetPending } from '#store/idempotency'
import { lockItem, saveItem } from '#store/items'
import type { Gate } from '#store/letter'
import { currentProfile } from '#store/profiles'
import { settleSend } from '#store/settled'
import { againOf, triesOf, type Work } from '#store/work'
import type { Claimed, Claiming, Lane, LaneContext } from '../lane.ts'
import type { Decision } from '../letter.ts'
import { finished, requeued } from './decisions.ts'
import { tryClaimAgain } from './post-again.ts'
import { decisionOf } from './settled.ts'

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
}

const textHash = (body: string): string => createHash('sha256').update(fingerprintText(body)).digest('hex')

export const publishLane = (deps: PublishDeps): Lane<Job, Outcome> => ({
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
    const sent = { item, attempt: job.attempt, tries: triesOf(work), now: gate.now, times: deps.times }
    const settled = await settleSend(sql, { sent, work }, outcome)
    const decision = decisionOf(settled, work, outcome)
    if (outcome.kind === 'disconnected') decision.effects!.writes!.push(disconnect(job.connection.id, gate.now))
    return decision
  },
  crashed: (cause) => ({ kind: 'unknown', reason: `the send broke off: ${cause instanceof Error ? cause.name : 'unknown error'}` }),
  async orphaned(sql, gate, work) {
    const item = await lockItem(sql, work.ref_id)
    const attempt = await openAttempt(sql, item.id)
    // The claim and the attempt are one commit, so there is one; without it nothing was sent.
    if (!attempt) return requeued(work, gate.now)
    // Its process may still be alive somewhere, and send until the lease ends: look only after that. A lease that ends later than
    // one that begins now is one that the clock has stepped back from.
    const now = gate.now.getTime()
    const settleFrom = new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))
    return decisionOf(doubt({ item, attempt, now: gate.now, times: deps.times }, PROCESS_STOPPED, settleFrom), work)
  },
})

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
  const attempt = newAttempt(deps, { ...claim, gate, work, number: (await attemptCount(sql, claim.item.id)) + 1 })
  await deps.failpoints('publish.claiming')
  const { item, connection } = claim
  const job: Job = { item, attempt, connection, network: deps.networks.named(connection.network)! }
  return { job, decision: { reply: undefined, effects: { writes: [saveItem(item), insertAttempt(attempt)] } } }
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
  approval_stale: 'the item is not what was approved any more; approve it again',
  missed: 'the request could not be carried out in time; ask again',
  workspace_deletion: 'the workspace is to be deleted',
  same_text_unconfirmed: 'another item with the same text is unconfirmed on this account; settle that one first',
}

/** Not sent, off the schedule, with the reason; whoever waits for it is told. */
const back = ({ gate, work }: Claiming, item: Item, reason: ReturnReason): { decision: Decision<void> } => {
  const { item: next, event } = giveBack(item, reason, gate.now)
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
  item_id: item.id,
  number,
  connection_id: connection.id,
  body_sha,
  sent_text: item.body,
  origin: work.origin,
  state: 'open',
  intent_at: gate.now,
  lease_until: new Date(gate.now.getTime() + times.leaseMs),
  doubt_at: null,
  clean_reads: 0,
  external_id: null,
  error: null,
  ended_at: null,
})

/** One send. Too late for the lease, or recalled: nothing is sent. */
const send = async ({ times, failpoints }: PublishDeps, job: Job, context: LaneContext): Promise<Outcome> => {
  await failpoints('publish.claimed')
  const tooLate = context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs
  if (tooLate || !context.commit()) return { kind: 'unsent' }
  const account = { id: job.connection.id, externalId: job.connection.external_id, handle: job.connection.handle }
  const isLong = job.item.kind === 'article'
  const request = { account, text: job.attempt.sent_text!, isLong, attemptId: job.attempt.id, deadlineMs: times.deadlineMs }
  const outcome = await job.network.publish(request, AbortSignal.timeout(times.deadlineMs))
  await failpoints('publish.sent')
  return outcome
}
