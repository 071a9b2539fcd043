/**
 * The claim of a send: checks everything that can forbid it under the lock, and writes the attempt
 * in the same commit.
 */
import type { Claimed, Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { notConnected } from '#decisions/growth/not-connected'
import { againOf, recordOf, triesOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import { type Attempt, newAttempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { sentContent } from '#domain/growth/sending/keyed'
import { isMissed } from '#domain/growth/sending/missed'
import type { Again } from '#domain/growth/sending/post-again'
import { claim } from '#domain/growth/sending/send'
import type { ReturnReason, Sendable } from '#domain/growth/sending/sendable'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Network } from '#port/network/network'
import { forgetPending } from '#store/engine/idempotency'
import { type Loaded, loadNow } from '#store/engine/load'
import type { RecordId } from '#store/engine/next-due'
import {
  accountOfRecord,
  insertAttempt,
  type RefOrExpression,
  type SendingAccount,
  type Tries,
  triesSoFar,
} from '#store/growth/attempts'
import { needsSignIn } from '#store/growth/connections'
import { currentProfile } from '#store/growth/profiles'
import { finishWork, requeue } from '../decisions.ts'
import { meansOf } from './means.ts'
import { tryClaimAgain } from './post-again.ts'
import { type ReadBack, readBackOf } from './read-back.ts'
import type { SendDeps } from './send-deps.ts'
import { unsentRefusal } from './send-refusals.ts'

export interface SendJob {
  record: Sendable
  attempt: Attempt
  connection: Connection
  network: Network
  /** Whether an earlier attempt may still turn out to have sent the record. */
  isDoubted: boolean
  /** The posts that must not be on the timeline before this send. */
  readBack?: ReadBack | undefined
}

/**
 * What a claim needs to know of a record. `settling`: the record of a send that the same
 * transaction settles.
 */
const claimParts = (of: RefOrExpression, settling: string | null) => ({
  record: sendables[of.sendable].part(of.record_id),
  account: accountOfRecord(of, settling),
  tries: triesSoFar(of),
})

export type ClaimParts = ReturnType<typeof claimParts>

/** For posts, everything is read by the poll that finds them. */
export const claimLoad = {
  payload: { sendable: 'post' },
  of: (record_id: RecordId, settling: string | null): ClaimParts =>
    claimParts({ sendable: 'post', record_id }, settling),
}

/** Checks everything that can forbid the send: plan, account, approval, schedule. */
export const claimRecord = async (
  deps: SendDeps,
  claiming: Claiming,
  early?: Loaded<ClaimParts>,
): Promise<Claimed<SendJob>> => {
  const { sql, gate, work } = claiming
  const of = recordOf(work)
  const { moves } = sendables[of.sendable]
  const loaded = early ?? (await loadNow(sql, claimParts(of, null)))
  const record = loaded.record ?? fail('not_found', `no such ${moves.noun}`)
  if (!moves.isWaiting(record, work.origin)) return { decision: finishWork(work) }
  const ready = examine(deps, claiming, {
    ...loaded,
    record,
    isMissed: await isTooLate(deps, claiming, record),
  })
  if (ready === 'x_not_connected' && (await waitsForSignIn(claiming, record)))
    return { decision: waiting(claiming, record) }
  if (typeof ready === 'string') return back(claiming, record, ready)
  const means = meansOf[of.sendable]
  if (
    loaded.account!.has_open_posts &&
    (await means.isInTheWay(sql, ready.connection.id, means.hashOf(record)))
  )
    return back(claiming, record, 'same_text_unconfirmed')
  const tries = loaded.tries!
  // At a person's request, the timeline has just been read for the attempt that this one
  // supersedes.
  const first = tries.doubted > 0 ? await readBackOf({ sql, gate, work }, deps.times) : undefined
  // The text may have changed since. If the earlier post is found to be out, its attempt is open
  // again, and two attempts cannot have one text.
  const earlier = first?.readBack.returned.body_sha
  if (
    earlier &&
    loaded.account!.has_open_posts &&
    (await means.isInTheWay(sql, ready.connection.id, earlier))
  )
    return back(claiming, record, 'same_text_unconfirmed')
  return claimNow(deps, claiming, { ...ready, tries, first })
}

/**
 * The same, from loaded records alone, in the plain case: nothing forbids the send, and nothing
 * else must be read.
 */
export const claimRecordAhead = async (
  deps: SendDeps,
  claiming: Omit<Claiming, 'sql'>,
  { record, account, tries }: Loaded<ClaimParts>,
): Promise<Claimed<SendJob> | undefined> => {
  const { work } = claiming
  if (againOf(work) || !record || account?.has_open_posts || tries!.doubted > 0) return undefined
  if (
    !sendables[recordOf(work).sendable].moves.isWaiting(record, work.origin) ||
    mayBeMissed(deps, claiming, record)
  )
    return undefined
  const ready = examine(deps, claiming, { record, account, isMissed: false })
  return typeof ready === 'string'
    ? undefined
    : claimNow(deps, claiming, { ...ready, tries: tries! })
}

interface Examined {
  record: Sendable
  account: SendingAccount | undefined
  isMissed: boolean
}

/** Why the record cannot be sent; or the record, bound to its account. */
const examine = (
  { networks }: SendDeps,
  { gate, work }: Omit<Claiming, 'sql'>,
  { record, account, isMissed }: Examined,
): ReturnReason | Pick<SendJob, 'record' | 'connection'> => {
  const { moves } = sendables[recordOf(work).sendable]
  if (gate.deletesAt) return 'workspace_deletion'
  if (gate.plan.billing !== 'ok') return `plan_invalid:${gate.plan.billing}`
  if (record.restored_as_of) return 'restored'
  if (isMissed) return 'missed'
  const network = account && networks.named(account.network)
  if (!account || !network || ![null, network.name].includes(moves.networkOf(record)))
    return 'x_not_connected'
  const next = claim(moves, record, {
    accountExternalId: account.external_id,
    origin: work.origin,
    now: gate.now,
  })
  if (next === 'approval_stale') return next
  const { has_open_posts: _, ...connection } = account
  return { record: next, connection }
}

/** The new attempt at a person's request, in the same commit that ends the doubtful one. */
export const claimOnceMore = async (
  deps: SendDeps,
  claiming: Claiming,
  again: Again,
): Promise<Claimed<SendJob>> => {
  const found = await tryClaimAgain(claiming, again, deps)
  if ('decision' in found) return found
  const { next: record, connection, superseded } = found
  const { tries } = await loadNow(claiming.sql, { tries: triesSoFar(recordOf(claiming.work)) })
  const { job, decision } = await claimNow(deps, claiming, { record, connection, tries: tries! })
  return { job, decision: { ...decision, effects: { ...decision.effects, first: [superseded] } } }
}

interface Ready extends Pick<SendJob, 'record' | 'connection'> {
  tries: Tries
  /** What must be read first, because an earlier attempt may have sent the record. */
  first?: Awaited<ReturnType<typeof readBackOf>>
}

/** Claim and intent, in one commit. */
const claimNow = async (
  { networks, times, failpoints }: SendDeps,
  { gate, work }: Omit<Claiming, 'sql'>,
  { record, connection, tries: { count, doubted }, first }: Ready,
) => {
  const of = recordOf(work)
  const means = meansOf[of.sendable]
  const network = networks.named(connection.network)!
  const what = {
    body_sha: means.hashOf(record),
    sent_text: sendables[of.sendable].moves.textOf(record),
    network_key: network.keys?.keyOf(sentContent(record)) ?? null,
  }
  const fields = {
    id: newId(),
    ...of,
    number: count + 1,
    connection_id: connection.id,
    ...what,
    origin: work.origin,
  }
  const attempt = newAttempt(fields, { now: gate.now, leaseMs: times.leaseMs })
  await failpoints('send.claiming')
  const isDoubted = doubted > 0 || againOf(work) !== undefined
  const job: SendJob = {
    record,
    attempt,
    connection,
    network,
    isDoubted,
    readBack: first?.readBack,
  }
  const writes = [sendables[of.sendable].save(record), insertAttempt(attempt)]
  return { job, decision: { reply: undefined, effects: { ...first?.effects, writes } } }
}

/**
 * Whether it is too late by the stricter rule, or requested "now" so long ago that nobody expects
 * it any more. A post in time by the stricter rule is in time by any.
 */
const mayBeMissed = (
  { times }: SendDeps,
  { gate, work }: Omit<Claiming, 'sql'>,
  record: Sendable,
): boolean => {
  if (work.origin === 'manual') return gate.now.getTime() - work.run_at.getTime() > times.nowMs
  const schedule = sendables[recordOf(work).sendable].moves.scheduleOf(record)
  return isMissed(schedule, { now: gate.now, tries: triesOf(work), times, policy: 'skip' })
}

/** Too late by the record's or the profile's rule. The profile is read only if it matters. */
const isTooLate = async (
  deps: SendDeps,
  claiming: Claiming,
  record: Sendable,
): Promise<boolean> => {
  if (!mayBeMissed(deps, claiming, record)) return false
  const { sql, gate, work } = claiming
  if (work.origin === 'manual') return true
  const schedule = sendables[recordOf(work).sendable].moves.scheduleOf(record)
  const policy = schedule?.onMissed ?? (await currentProfile(sql)).profile.on_missed
  return isMissed(schedule, { now: gate.now, tries: triesOf(work), times: deps.times, policy })
}

/** How often a scheduled record asks whether its account has been connected again. */
const SIGN_IN_EVERY_MS = 60_000

/** Whether a person can mend it before a scheduled record counts as missed. */
const waitsForSignIn = async (
  { sql, work }: Claiming,
  { account_external_id }: Sendable,
): Promise<boolean> => work.origin === 'automatic' && (await needsSignIn(sql, account_external_id))

const waiting = ({ gate, work }: Claiming, before: Sendable): Decision<void> => {
  const { save } = sendables[recordOf(work).sendable]
  const record = { ...before, last_error: 'needs_reauth', updated_at: gate.now }
  const writes = before.last_error === record.last_error ? [] : [save(record)]
  return requeue(work, new Date(gate.now.getTime() + SIGN_IN_EVERY_MS), { writes })
}

/** Not sent and off the schedule, with the reason. Waiting callers get it as an error. */
const back = async (
  { sql, gate, work }: Claiming,
  before: Sendable,
  reason: ReturnReason,
): Promise<{ decision: Decision<void> }> => {
  const { moves, save } = sendables[recordOf(work).sendable]
  const { record, events } = moves.returned(before, reason, gate.now)
  const error =
    reason === 'x_not_connected'
      ? await notConnected(sql, { about: { moves, record: before } })
      : unsentRefusal(work, reason)
  return {
    decision: {
      reply: undefined,
      effects: { writes: [save(record), forgetPending(record.id)], events, settled: [work.id] },
      answers: [{ refId: record.id, with: error }],
    },
  }
}
