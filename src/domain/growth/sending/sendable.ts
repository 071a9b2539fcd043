/**
 * A record that goes out to a network, as the sending machine knows it. The machine decides; each kind of record says in a file of its
 * own (post.ts, engagement.ts) what a decision looks like in its own states and events.
 */
import type { OnMissed } from '../drafting/profile.ts'

export type SendableKind = 'post' | 'engagement'

/** `manual`: a person asked for it now. */
export type Origin = 'manual' | 'automatic'

/** What every kind of record has. */
export interface Sendable {
  id: string
  /** In doubt, and the machine has given up: a person must look. */
  review: boolean
  /** SHA-256 of what was approved; a send whose content differs is refused. */
  approved_hash: string | null
  /** The network's own id of the account that the approval is bound to; null until there is one. */
  account_external_id: string | null
  /** The network's id of what was sent. */
  external_id: string | null
  last_error: string | null
  updated_at: Date
}

interface SendEvent {
  type: string
  data: Record<string, unknown>
}

/** The record after a transition, and what the workspace hears of it. */
export interface Moved<R> {
  record: R
  events: SendEvent[]
}

/** Why a record was not sent and waits for nothing any more. */
export type ReturnReason =
  | 'x_not_connected'
  | 'approval_stale'
  | 'missed'
  | 'workspace_deletion'
  | `plan_invalid:${string}`
  | 'same_text_unconfirmed'
  | 'network_error_not_posted'

/** The post that a send has made. */
export interface Made {
  externalId: string
  url: string | null
}

/** The states of one kind of record, as far as the machine leads through them. */
export interface Transitions<R extends Sendable> {
  kind: SendableKind
  /** As errors name the record. */
  noun: string
  /** As a person would name its state. */
  stateOf(record: R): string
  /** All that goes out, in one text: what an approval is bound to, beside the account. */
  contentOf(record: R): string
  /** When it is or was to go out, and what its own rule is should that be missed; null where a person asked for it now. */
  scheduleOf(record: R): { at: Date; onMissed: OnMissed | null } | null
  /** The network that it is bound to; null: that of whichever account it goes out by. */
  networkOf(record: R): string | null
  /** It still waits for what its work was made for: asked for now by a person, or on the schedule. */
  isWaiting(record: R, origin: Origin): boolean
  isUnconfirmed(record: R): boolean
  isSent(record: R): boolean
  /** Claimed, or asked for now. */
  isSending(record: R): boolean
  /** After a doubt that ended by itself, a late post says something new of it. */
  isWatched(record: R): boolean
  /** On its way out. */
  sending(record: R, now: Date): R
  sent(record: R, made: Made, now: Date): Moved<R>
  /** The network has refused it for good. */
  failed(record: R, reason: string, now: Date): Moved<R>
  /** Approved and off the schedule, with the reason where a person sees it; what has changed since its approval is a draft again. */
  returned(record: R, reason: ReturnReason, now: Date): Moved<R>
  /** Our own fence or the kill switch has stopped it: it waits as before. */
  unsent(record: R, now: Date): R
  /** Provably not applied: approved, and on the schedule where it was. */
  notApplied(record: R, error: string, now: Date): R
  /** In doubt, or in review. */
  unconfirmed(record: R, doubt: { review: boolean; error: string | null }, now: Date): R
  /** The call for a person who must look. */
  reviewEvent(record: R): SendEvent
}

/** A draft is bound to nothing: it is approved anew, for the account that is the default then. */
export const unapproved = { status: 'drafted', approved_hash: null, account_external_id: null } as const
