/** The claim of a send: checks everything that can forbid it under the lock, and writes the attempt in the same commit. */
import type { Claimed, Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { againOf, recordOf, triesOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import { type Attempt, newAttempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import type { Again } from '#domain/growth/sending/post-again'
import { claim, isMissed } from '#domain/growth/sending/send'
import type { ReturnReason, Sendable } from '#domain/growth/sending/sendable'
import type { SendTimes } from '#domain/growth/sending/times'
import { AppError, fail } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import type { Network } from '#port/network/network'
import type { Networks } from '#port/network/registry'
import { forgetPending } from '#store/engine/idempotency'
import { loadNow } from '#store/engine/load'
import { accountOfRecord, insertAttempt, type Tries, triesSoFar } from '#store/growth/attempts'
import { currentProfile } from '#store/growth/profiles'
import { finished } from './decisions.ts'
import { meansOf } from './means.ts'
import { tryClaimAgain } from './post-again.ts'
import { type ReadBack, readBackOf } from './read-back.ts'

export interface SendDeps {
  networks: Networks
  times: SendTimes
  failpoints: Failpoints
}

export interface SendJob {
  record: Sendable
  attempt: Attempt
  connection: Connection
  network: Network
  /** Whether an earlier attempt may still turn out to have sent the record. */
  isDoubted: boolean
  /** What the timeline must not show before this send. */
  readBack?: ReadBack | undefined
}

/** Checks everything that can forbid the send: plan, account, approval, schedule. */
export const claimRecord = async (deps: SendDeps, claiming: Claiming): Promise<Claimed<SendJob>> => {
  const { sql, gate, work } = claiming
  const of = recordOf(work)
  const { moves, part } = sendables[of.sendable]
  const loaded = await loadNow(sql, { record: part(of.record_id), account: accountOfRecord(of), tries: triesSoFar(of) })
  const record = loaded.record ?? fail('not_found', `no such ${moves.noun}`)
  if (!moves.isWaiting(record, work.origin)) return { decision: finished(work) }
  if (gate.deletesAt) return back(claiming, record, 'workspace_deletion')
  if (gate.plan.billing !== 'ok') return back(claiming, record, `plan_invalid:${gate.plan.billing}`)
  if (await missed(deps, claiming, record)) return back(claiming, record, 'missed')
  const { account } = loaded
  const network = account && deps.networks.named(account.network)
  if (!account || !network || ![null, network.name].includes(moves.networkOf(record))) return back(claiming, record, 'x_not_connected')
  const next = claim(moves, record, { accountExternalId: account.external_id, origin: work.origin, now: gate.now })
  if (next === 'approval_stale') return back(claiming, record, next)
  const means = meansOf[of.sendable]
  const { has_open_posts, ...connection } = account
  if (has_open_posts && (await means.isInTheWay(sql, connection.id, means.hashOf(record))))
    return back(claiming, record, 'same_text_unconfirmed')
  return claimed(deps, claiming, { record: next, connection, tries: loaded.tries! })
}

/** The new attempt at a person's request, in the same commit that ends the doubtful one. */
export const claimOnceMore = async (deps: SendDeps, claiming: Claiming, again: Again): Promise<Claimed<SendJob>> => {
  const found = await tryClaimAgain(claiming, again, deps)
  if ('decision' in found) return found
  const { next: record, connection, superseded } = found
  const { tries } = await loadNow(claiming.sql, { tries: triesSoFar(recordOf(claiming.work)) })
  const { job, decision } = await claimed(deps, claiming, { record, connection, tries: tries! })
  return { job, decision: { ...decision, effects: { ...decision.effects, first: [superseded] } } }
}

/** Claim and intent, in one commit. */
const claimed = async (
  { networks, times, failpoints }: SendDeps,
  { sql, gate, work }: Claiming,
  { record, connection, tries: { count, doubted } }: Pick<SendJob, 'record' | 'connection'> & { tries: Tries },
) => {
  const of = recordOf(work)
  const means = meansOf[of.sendable]
  const what = { body_sha: means.hashOf(record), sent_text: means.textOf(record) }
  const fields = { id: newId(), ...of, number: count + 1, connection_id: connection.id, ...what, origin: work.origin }
  const attempt = newAttempt(fields, { now: gate.now, leaseMs: times.leaseMs })
  // At a person's request, the timeline has just been read for the attempt that this one supersedes.
  const isAgain = againOf(work) !== undefined
  const first = doubted > 0 && !isAgain ? await readBackOf({ sql, gate, work }, times) : undefined
  await failpoints('send.claiming')
  const network = networks.named(connection.network)!
  const job: SendJob = { record, attempt, connection, network, isDoubted: doubted > 0 || isAgain, readBack: first?.readBack }
  const writes = [sendables[of.sendable].save(record), insertAttempt(attempt)]
  return { job, decision: { reply: undefined, effects: { ...first?.effects, writes } } }
}

/** Too late by the record's or the profile's rule, or requested "now" so long ago that nobody expects it any more. */
const missed = async ({ times }: SendDeps, { sql, gate, work }: Claiming, record: Sendable): Promise<boolean> => {
  if (work.origin === 'manual') return gate.now.getTime() - work.run_at.getTime() > times.nowMs
  const schedule = sendables[recordOf(work).sendable].moves.scheduleOf(record)
  const rule = { now: gate.now, tries: triesOf(work), times }
  // A post in time by the stricter policy is in time by any, so the profile is read only for others.
  if (!isMissed(schedule, { ...rule, policy: 'skip' })) return false
  return isMissed(schedule, { ...rule, policy: schedule?.onMissed ?? (await currentProfile(sql)).profile.on_missed })
}

const reasonText = {
  missed: 'the request could not be completed in time; try again',
  workspace_deletion: 'the workspace is scheduled for deletion',
  same_text_unconfirmed: 'another item with the same text is unconfirmed on this account; settle that one first',
}

/** Not sent and off the schedule, with the reason. Waiting callers get it as an error. */
const back = ({ gate, work }: Claiming, before: Sendable, reason: ReturnReason): { decision: Decision<void> } => {
  const { moves, save, verb } = sendables[recordOf(work).sendable]
  const { record, events } = moves.returned(before, reason, gate.now)
  const [code, detail = ''] = reason.split(':')
  const why =
    reason === 'approval_stale'
      ? `the ${moves.noun} has changed since its approval; approve it again`
      : reasonText[reason as keyof typeof reasonText]
  const error =
    code === 'plan_invalid' || code === 'x_not_connected' ? new AppError(code, detail) : new AppError('conflict', `cannot ${verb}: ${why}`)
  return {
    decision: {
      reply: undefined,
      effects: { writes: [save(record), forgetPending(record.id)], events, settled: [work.id] },
      answers: [{ refId: record.id, with: error }],
    },
  }
}
