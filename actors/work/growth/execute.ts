/** The lane that executes engagements, as the publish lane posts: claim and intent in one commit, one send, the answer as a letter. */
import { createHash } from 'node:crypto'
import type { Claimed, Claiming, LaneContext, UnrepeatableLane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { settleExecution } from '#decisions/growth/engagement-effects'
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Connection } from '#domain/growth/sending/connection'
import { asItem, fromItem, settledEngagement } from '#domain/growth/sending/execute'
import { type Attempt, backToApproved, bindAccount, orphaned, type ReturnReason, type SendOutcome } from '#domain/growth/sending/publish'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Network } from '#port/network/network'
import { fingerprintText } from '#port/network/text'
import { forgetPending } from '#store/engine/idempotency'
import { insertAttempt, openAttempt, triesSoFar } from '#store/growth/attempts'
import { accountFor, disconnect } from '#store/growth/connections'
import { lockEngagement, saveEngagement } from '#store/growth/engagements'
import { finished, requeued } from './decisions.ts'
import { executedDecision } from './engagement-replies.ts'
import type { PublishDeps } from './publish.ts'

interface Job {
  engagement: Engagement
  attempt: Attempt
  connection: Connection
  network: Network
}

export const executeLane = (deps: PublishDeps): UnrepeatableLane<Job, SendOutcome> => ({
  kind: 'execute',
  leaseMs: deps.times.leaseMs,
  priority: 'control',
  claim: (sql, gate, work) => claimEngagement(deps, { sql, gate, work }),
  run: (job, context) => send(deps, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const engagement = await lockEngagement(sql, work.ref_id)
    const sent = { engagement, attempt: job.attempt, now: gate.now, times: deps.times }
    const decision = executedDecision(settleExecution(sent, work, outcome), work, outcome)
    if (outcome.kind === 'disconnected') decision.effects!.writes!.push(disconnect(job.connection.id, gate.now))
    return decision
  },
  crashed: (cause) => ({ kind: 'unknown', reason: `the send broke off: ${cause instanceof Error ? cause.name : 'unknown error'}` }),
  async orphaned(sql, gate, work) {
    const engagement = await lockEngagement(sql, work.ref_id)
    const attempt = await openAttempt(sql, { sendable: 'engagement', record_id: engagement.id })
    // The claim and the attempt are one commit: without one nothing was sent.
    if (!attempt) return requeued(work, gate.now)
    // Its process may still send until the lease ends; one that ends later than a lease of now is of a clock that has stepped back.
    const now = gate.now.getTime()
    const settleFrom = new Date(Math.min(Math.max(now, attempt.lease_until.getTime()), now + deps.times.leaseMs))
    const doubtful = orphaned({ item: asItem(engagement), attempt, now: gate.now, times: deps.times }, settleFrom)
    return executedDecision(settledEngagement(engagement, doubtful), work)
  },
})

/** Everything that may forbid the send is checked again here, under the lock. */
const claimEngagement = async (deps: PublishDeps, claiming: Claiming): Promise<Claimed<Job>> => {
  const { sql, gate, work } = claiming
  const engagement = await lockEngagement(sql, work.ref_id)
  if (engagement.status !== 'executing') return { decision: finished(work) }
  if (gate.deletesAt) return back(claiming, engagement, 'workspace_deletion')
  if (gate.plan.billing !== 'ok') return back(claiming, engagement, `plan_invalid:${gate.plan.billing}`)
  if (gate.now.getTime() - work.run_at.getTime() > deps.times.nowMs) return back(claiming, engagement, 'missed')
  const connection = await accountFor(sql, engagement.account_external_id)
  const network = connection && deps.networks.named(connection.network)
  if (!connection || !network || connection.network !== engagement.network) return back(claiming, engagement, 'x_not_connected')
  const bound = bindAccount(asItem(engagement), { accountExternalId: connection.external_id, now: gate.now })
  if (bound === 'approval_stale') return back(claiming, engagement, bound)
  return claimed(deps, claiming, { engagement: fromItem(engagement, bound), connection, network })
}

const shaOf = ({ body, action, post_id }: Engagement): string =>
  createHash('sha256')
    .update(JSON.stringify([action, post_id, fingerprintText(body ?? '')]))
    .digest('hex')

/** Claim and intent: one commit. */
const claimed = async (
  { times, failpoints }: PublishDeps,
  { sql, gate, work }: Claiming,
  { engagement, connection, network }: Omit<Job, 'attempt'>,
): Promise<Claimed<Job>> => {
  const of = { sendable: 'engagement', record_id: engagement.id } as const
  const { count } = await triesSoFar(sql, of)
  const attempt: Attempt = {
    ...{ id: newId(), ...of, number: count + 1, connection_id: connection.id },
    ...{ body_sha: shaOf(engagement), sent_text: engagement.body, origin: work.origin, state: 'open', intent_at: gate.now },
    lease_until: new Date(gate.now.getTime() + times.leaseMs),
    ...{
      doubt_at: null,
      doubt_cause: null,
      returns_from: null,
      clean_reads: 0,
      proof_reads: 0,
      external_id: null,
      error: null,
      ended_at: null,
    },
  }
  await failpoints('execute.claiming')
  const writes = [saveEngagement(engagement), insertAttempt(attempt)]
  return { job: { engagement, attempt, connection, network }, decision: { reply: undefined, effects: { writes } } }
}

const reasonText = {
  missed: 'it could not be done in time; ask again',
  workspace_deletion: 'the workspace is scheduled for deletion',
  approval_stale: 'it has changed since its approval',
  same_text_unconfirmed: 'the same is in doubt already',
} as const

/** Not sent, with the reason; whoever waits for it is told. */
const back = ({ gate, work }: Claiming, engagement: Engagement, reason: ReturnReason): { decision: Decision<void> } => {
  const next = fromItem(engagement, backToApproved(asItem(engagement), reason, gate.now).item)
  const [code, detail = ''] = reason.split(':')
  const error =
    code === 'plan_invalid' || code === 'x_not_connected'
      ? new AppError(code, detail)
      : new AppError('conflict', `cannot execute: ${reasonText[reason as keyof typeof reasonText]}`)
  const effects = { writes: [saveEngagement(next), forgetPending(engagement.id)], settled: [work.id] }
  return { decision: { reply: undefined, effects, answers: [{ refId: engagement.id, with: error }] } }
}

/** One send. Too late for the lease, or recalled: nothing is sent. */
const send = async ({ times, failpoints }: PublishDeps, job: Job, context: LaneContext): Promise<SendOutcome> => {
  await failpoints('execute.claimed')
  const tooLate = context.elapsed() > times.leaseMs - times.deadlineMs - times.marginMs
  if (tooLate || !context.commit()) return { kind: 'unsent' }
  const { engagement, connection, attempt } = job
  const { id, external_id: externalId, handle } = connection
  const words = attempt.sent_text === null ? {} : { text: attempt.sent_text }
  const what = { action: engagement.action, postId: engagement.post_id, ...words }
  const request = { account: { id, externalId, handle }, ...what, attemptId: attempt.id, deadlineMs: times.deadlineMs }
  const outcome = await job.network.engage(request, AbortSignal.timeout(times.deadlineMs))
  await failpoints('execute.sent')
  return outcome
}
