/**
 * Posting exactly once: what happens to an item from the claim to the answer. Pure: each function returns the next rows and
 * what follows. The rule behind all of them: what may have reached the network is never sent again by the machine.
 */
import { fail } from '#kernel/errors'
import { contentHash, type DoubtCause, type Item, posted, postedEvent, stateOf } from '../drafting/item.ts'
import type { SendableKind } from './sendable.ts'

export type AttemptState = 'open' | 'doubt' | 'review' | 'posted' | 'failed' | 'unsent' | 'superseded' | 'returned'
export type Origin = 'manual' | 'automatic'

/** One try to send a record, written before the send. */
export interface Attempt {
  id: string
  sendable: SendableKind
  record_id: string
  number: number
  connection_id: string
  /** Hash of the normalised text: two open attempts of an account never carry the same, or read-back could not tell them apart. */
  body_sha: string
  /** The exact text that goes out, kept whatever becomes of the item; null where there is none, and where an older version did not keep it. */
  sent_text: string | null
  origin: Origin
  state: AttemptState
  intent_at: Date
  lease_until: Date
  doubt_at: Date | null
  doubt_cause: DoubtCause | null
  /** From when on a complete read without the post proves that it was not made; null where only a hit or a person decides. */
  returns_from: Date | null
  clean_reads: number
  /** Those of them that count as proof. */
  proof_reads: number
  external_id: string | null
  error: string | null
  ended_at: Date | null
}

/** All durations of the machine, in milliseconds; source: DESIGN §6. */
export interface PublishTimes {
  /** How long a send may take. */
  deadlineMs: number
  /** How long a claim holds; the send must start early enough to end inside it. */
  leaseMs: number
  /** Kept free between the deadline of a send and the end of its lease. */
  marginMs: number
  /** Wait before the timeline of a doubtful post is read first. */
  settleMs: number
  /** Clean reads before a person must look, spread over `windowMs`. */
  cleanReads: number
  windowMs: number
  /** How long after the doubt a late hit still settles it. */
  lateHitMs: number
  /** Waits between the tries of a scheduled post that provably did not go out. */
  backoffMs: readonly number[]
  /** A scheduled post is tried no longer than this after it was due. */
  retryWindowMs: number
  /** Overdue by less than this, `on_missed: post` still posts. */
  missedMs: number
  /** A post that a person asked for now goes out within this, or not at all. */
  nowMs: number
  /** A timeline that does not show a doubtful post allows it to be sent again for so long. */
  freshMs: number
  /** Overdue by more than this counts as missed at all. */
  missedToleranceMs: number
}

export const publishTimes: PublishTimes = {
  deadlineMs: 10_000,
  leaseMs: 20_000,
  marginMs: 2_000,
  settleMs: 5_000,
  cleanReads: 3,
  windowMs: 30_000,
  lateHitMs: 86_400_000,
  backoffMs: [2_000, 8_000, 30_000, 300_000],
  retryWindowMs: 3_600_000,
  missedMs: 3_600_000,
  nowMs: 600_000,
  freshMs: 5_000,
  missedToleranceMs: 60_000,
}

/** Why a due item was not sent and left the schedule. */
export type ReturnReason =
  | 'x_not_connected'
  | 'approval_stale'
  | 'missed'
  | 'workspace_deletion'
  | `plan_invalid:${string}`
  | 'same_text_unconfirmed'
  | 'network_error_not_posted'

type Event = { type: string; data: Record<string, unknown> }

/**
 * Is the scheduled item too late to go out? `tries` are sends that provably failed since it was due: what was tried in time is
 * missed only when its next try was held up past the window for tries.
 */
export const isMissed = (
  item: Item,
  { now, tries, times, policy }: { now: Date; tries: number; times: PublishTimes; policy: 'post' | 'skip' },
): boolean => {
  if (!item.post_at) return false
  const late = now.getTime() - item.post_at.getTime()
  if (tries > 0) return late > times.retryWindowMs + times.missedToleranceMs
  return policy === 'skip' ? late > times.missedToleranceMs : late >= times.missedMs
}

/** A draft is bound to nothing: it is approved anew, for the account that is the default then. */
const unapproved = { status: 'drafted', approved_hash: null, account_external_id: null } as const

/** Back to approved and off the schedule, with the reason where a person sees it; stale content goes back to drafted. */
export const backToApproved = (item: Item, reason: ReturnReason, now: Date): { item: Item; event: Event } => ({
  item: {
    ...item,
    ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
    post_at: null,
    on_missed: null,
    last_error: reason,
    updated_at: now,
  },
  event: { type: 'growth.item.returned', data: { item_id: item.id, batch_id: item.batch_id, reason } },
})

/** Does the item still wait for what its work was made for: asked for now by a person, or on the schedule? */
export const isWaiting = (item: Item, origin: Origin): boolean =>
  origin === 'manual' ? item.status === 'publishing' : item.status === 'approved' && item.post_at !== null

interface Claim {
  /** The account that the send would go out from. */
  accountExternalId: string
  origin: Origin
  now: Date
}

/** The claim: bound to the account, or `approval_stale` when text or account are not those that were approved. */
export const claim = (item: Item, { accountExternalId, origin, now }: Claim): Item | 'approval_stale' => {
  if (!isWaiting(item, origin)) fail('conflict', `cannot claim: the item is ${stateOf(item)}`)
  return bindAccount(item, { accountExternalId, now })
}

/** On its way out from this account, or `approval_stale`. */
export const bindAccount = (item: Item, { accountExternalId, now }: Omit<Claim, 'origin'>): Item | 'approval_stale' => {
  const bound = item.account_external_id
  if (item.approved_hash !== contentHash(item.body, bound) || (bound !== null && bound !== accountExternalId)) return 'approval_stale'
  return {
    ...item,
    status: 'publishing',
    account_external_id: accountExternalId,
    approved_hash: contentHash(item.body, accountExternalId),
    updated_at: now,
  }
}

/** What the lane reports; see port/network for the first five. `unsent`: our own fence or the kill switch stopped it before the send. */
export type SendOutcome =
  | { kind: 'posted'; externalId: string; url: string | null }
  | { kind: 'refused'; reason: string }
  | { kind: 'not_applied'; reason: 'rate_limited' | 'unreachable'; detail: string; retryAfterMs?: number | undefined }
  | { kind: 'disconnected'; reason: string }
  | { kind: 'unknown'; reason: string; cause?: DoubtCause }
  | { kind: 'unsent' }

export interface Sent {
  item: Item
  attempt: Attempt
  /** The tries before this one that provably failed. */
  tries: number
  now: Date
  times: PublishTimes
  /**
   * The network promises that what it answers with an error of its own is applied within so many milliseconds, if ever, and shows
   * by then; undefined where it promises nothing, or where an earlier attempt may yet have posted the item.
   */
  appliesWithinMs?: number | undefined
}

export interface Settled {
  item: Item
  attempt: Attempt
  /** The attempt before this one, whose fate is open again. */
  reopened?: Attempt
  events: Event[]
  /** What becomes of the work row: done, tried again at a time, or handed to the reconciler: at a time, or at once on a person's word. */
  next: { kind: 'done' } | { kind: 'again'; at: Date; tries: number } | { kind: 'reconcile'; at: Date } | { kind: 'reread' }
}

const end = (attempt: Attempt, state: AttemptState, now: Date, error: string | null = null): Attempt => ({
  ...attempt,
  state,
  error,
  ended_at: now,
})

/** The state machine's answer to the network's answer. */
export const settle = (sent: Sent, outcome: SendOutcome): Settled => {
  const { item, attempt, now } = sent
  switch (outcome.kind) {
    case 'posted':
      return settlePosted(item, attempt, { ...outcome, now })
    case 'unknown':
      return doubt(sent, { reason: outcome.reason, cause: outcome.cause ?? 'no_answer' })
    case 'refused':
      return failed(sent, outcome.reason)
    case 'disconnected':
      return returned(sent, 'x_not_connected')
    case 'not_applied':
      return notApplied(sent, outcome)
    case 'unsent':
      return unsent(sent)
  }
}

export const settlePosted = (item: Item, attempt: Attempt, hit: { externalId: string; url: string | null; now: Date }): Settled => {
  const next = posted(item, hit)
  return {
    item: next,
    attempt: { ...end(attempt, 'posted', hit.now), external_id: hit.externalId },
    events: [postedEvent(next)],
    next: { kind: 'done' },
  }
}

/** Why an attempt of a process that died is in doubt. */
export const PROCESS_STOPPED = 'the process stopped while sending'

interface Why {
  reason: string
  cause: DoubtCause
}

/** From when on reads may prove that nothing was posted: what the network did not answer may be applied at any time. */
const returnsFrom = ({ now, times, appliesWithinMs }: Omit<Sent, 'tries'>, { cause }: Why): Date | null =>
  cause === 'server_error' && appliesWithinMs !== undefined && appliesWithinMs < times.lateHitMs
    ? new Date(now.getTime() + appliesWithinMs)
    : null

/** It may be out there. From here only the timeline or a person decides; it is read first a settling time after `from`. */
export const doubt = (sent: Omit<Sent, 'tries'>, why: Why, from: Date = sent.now): Settled => {
  const { item, attempt, now, times } = sent
  const began = { doubt_at: now, doubt_cause: why.cause, returns_from: returnsFrom(sent, why) }
  return {
    item: { ...item, status: 'publish_unconfirmed', review: false, last_error: why.reason, updated_at: now },
    attempt: { ...attempt, state: 'doubt', error: why.reason, ...began },
    events: [],
    next: { kind: 'reconcile', at: new Date(from.getTime() + times.settleMs) },
  }
}

/** What a process left that died between its claim and the news of its end. */
export const orphaned = (sent: Omit<Sent, 'tries' | 'appliesWithinMs'>, from: Date): Settled =>
  doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)

const failed = ({ item, attempt, now }: Sent, reason: string): Settled => ({
  item: { ...item, status: 'publish_failed', post_at: null, on_missed: null, last_error: reason, updated_at: now },
  attempt: end(attempt, 'failed', now, reason),
  events: [{ type: 'growth.item.failed', data: { item_id: item.id, batch_id: item.batch_id, reason } }],
  next: { kind: 'done' },
})

const returned = ({ item, attempt, now }: Sent, reason: ReturnReason): Settled => {
  const back = backToApproved(item, reason, now)
  return { item: back.item, attempt: end(attempt, 'failed', now, reason), events: [back.event], next: { kind: 'done' } }
}

/** Our own fence or the kill switch stopped it: what a person asked for now stays asked for, the rest waits on the schedule. */
const unsent = ({ item, attempt, now, tries }: Sent): Settled => ({
  item: { ...item, status: item.post_at ? 'approved' : 'publishing', updated_at: now },
  attempt: end(attempt, 'unsent', now),
  events: [],
  next: { kind: 'again', at: now, tries },
})

/** Provably not applied: approved again, on the schedule where it was. */
const waiting = ({ item, attempt, now }: Sent, error: string): Settled => ({
  item: { ...item, status: 'approved', last_error: error, updated_at: now },
  attempt: end(attempt, 'failed', now, error),
  events: [],
  next: { kind: 'done' },
})

/** Only scheduled posts are tried again by the machine; a person who asked for "now" gets the error. */
const notApplied = (sent: Sent, outcome: Extract<SendOutcome, { kind: 'not_applied' }>): Settled => {
  const { now, tries, times } = sent
  const postAt = sent.item.post_at
  if (!postAt) return waiting(sent, outcome.reason)
  const wait = Math.max(times.backoffMs[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterMs ?? 0)
  if (now.getTime() + wait > postAt.getTime() + times.retryWindowMs) return failed(sent, outcome.reason)
  return { ...waiting(sent, outcome.reason), next: { kind: 'again', at: new Date(now.getTime() + wait), tries: tries + 1 } }
}
