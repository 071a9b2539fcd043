/**
 * A record that goes out to a network, as the sending machine sees it. The machine decides; each
 * kind of record has a file (post.ts, engagement.ts) that expresses decisions in its own states and
 * events.
 */
import type { Marks } from '#contract/records/growth/marks'
import type { OnMissed } from '../drafting/profile.ts'
import type { LastDecision, States } from '../transitions.ts'

export type SendableKind = 'post' | 'engagement'

/** `manual`: a person requested it now. */
export type Origin = 'manual' | 'automatic'

/** The fields that all kinds of records have. */
export interface Sendable {
  id: string
  status: string
  /** In doubt, and automatic reads have given up: a person must check. */
  review: boolean
  /** SHA-256 of the approved content. A send whose content differs is refused. */
  approved_hash: string | null
  /**
   * The network's id of the account that the approval is bound to. Null if no account was
   * connected.
   */
  account_external_id: string | null
  /** The network's id of the post it made. */
  external_id: string | null
  decision: LastDecision | null
  last_error: string | null
  /**
   * The time of the backup or copy after which it may have gone out elsewhere, until a person has
   * decided on it.
   */
  restored_as_of: Date | null
  updated_at: Date
}

interface SendEvent {
  type: string
  data: Record<string, unknown>
}

/** The record after a transition, with events for the workspace. */
export interface Moved<R> {
  record: R
  events: SendEvent[]
}

/** Why a record was not sent and no longer waits. */
export type ReturnReason =
  | 'x_not_connected'
  | 'approval_stale'
  | 'missed'
  | 'workspace_deletion'
  | `plan_invalid:${string}`
  | 'same_text_unconfirmed'
  | 'network_error_not_posted'
  | 'restored'

/** The post that a send made. */
export interface Made {
  externalId: string
  url: string | null
}

/** The states of one kind of record, as far as the machine uses them. */
export interface Transitions<R extends Sendable> extends States<R> {
  kind: SendableKind
  /** The whole content of a send, as one text: approvals bind it and the account. */
  contentOf(record: R): string
  /** What an approval covers besides; null if that is all. */
  marksOf(record: R): Marks | null
  /** The text that goes out, or null: what attempts keep. */
  textOf(record: R): string | null
  /** When it should be sent, and its own rule if that is missed; null for manual sends. */
  scheduleOf(record: R): { at: Date; onMissed: OnMissed | null } | null
  /** The network it is bound to; null: the network of whichever account sends it. */
  networkOf(record: R): string | null
  /** Whether it still waits for its work: requested now by a person, or scheduled. */
  isWaiting(record: R, origin: Origin): boolean
  isUnconfirmed(record: R): boolean
  isSent(record: R): boolean
  /** Claimed, or requested now. */
  isSending(record: R): boolean
  /** Whether a late post, after a doubt that ended by itself, is news about it. */
  isWatched(record: R): boolean
  sending(record: R, now: Date): R
  sent(record: R, made: Made, now: Date): Moved<R>
  /** The network refused it for good. */
  failed(record: R, reason: string, now: Date): Moved<R>
  /**
   * Approved and off the schedule, with the reason for people to see. If it changed since its
   * approval, it is a draft again.
   */
  returned(record: R, reason: ReturnReason, now: Date): Moved<R>
  /** Our own fence or the kill switch stopped it: it waits as before. */
  unsent(record: R, now: Date): R
  /** Provably not applied: approved, and on its schedule if it had one. */
  notApplied(record: R, error: string, now: Date): R
  /** A person took it back before it was sent: approved, and on its schedule if it had one. */
  takenBack(record: R, now: Date): R
  /** In doubt, or in review. */
  unconfirmed(record: R, doubt: { review: boolean; error: string | null }, now: Date): R
  /** The event that calls for a person to check. */
  reviewEvent(record: R): SendEvent
}

/**
 * A draft is bound to nothing. Its next approval binds it to the account that is the default then.
 */
export const unapproved = {
  status: 'drafted',
  approved_hash: null,
  account_external_id: null,
} as const

/** What differs between kinds of records in the names of their states alone. */
export const machineOf = <R extends Sendable>(
  names: Record<'sending' | 'sent' | 'unconfirmed', R['status']>,
): Pick<
  Transitions<R>,
  | ('isUnconfirmed' | 'isSent' | 'isSending')
  | ('sending' | 'notApplied' | 'takenBack' | 'unconfirmed')
> => ({
  isUnconfirmed: ({ status }) => status === names.unconfirmed,
  isSent: ({ status }) => status === names.sent,
  isSending: ({ status }) => status === names.sending,
  sending: (record, now) => ({ ...record, status: names.sending, updated_at: now }),
  notApplied: (record, error, now) => ({
    ...record,
    status: 'approved',
    last_error: error,
    updated_at: now,
  }),
  takenBack: (record, now) => ({ ...record, status: 'approved', updated_at: now }),
  unconfirmed: (record, { review, error }, now) => ({
    ...record,
    status: names.unconfirmed,
    review,
    last_error: error,
    updated_at: now,
  }),
})
