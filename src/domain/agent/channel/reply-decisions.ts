/** What people decide about a reply that may be on its way, or may have arrived. Pure. */

import type { ReplyPart } from '#contract/records/agent/channel-message'
import type { ConflictGiven, ConflictReason } from '#kernel/conflict'
import { fail } from '#kernel/errors'
import { storable } from '#kernel/storable'
import { FOR_COPIES } from './answer.ts'
import { type ChannelReply, isReplyDone, newPart, textHash, withParts } from './reply.ts'
import { readable } from './reply-parts.ts'
import { resumeReply } from './reply-sending.ts'

interface Decision {
  by: string
  now: Date
}

const DISCARDED = 'a person discarded the reply'
const DISCONNECTED = 'its channel was disconnected'
const DELETED = 'its conversation was deleted'

/** With the person whose decision came first. */
const conflictWith = (
  { decided_by, decided_at: at }: ChannelReply,
  reason: ConflictReason = 'wrong_state',
): ConflictGiven => ({
  reason,
  by: decided_by === null ? null : { kind: 'person', id: decided_by },
  at,
})

/**
 * A part of a dropped reply is not sent any more. One that is on the wire stays marked as sending
 * until its outcome is known.
 */
const droppedPart =
  (error: string) =>
  (part: ReplyPart): ReplyPart => {
    if (part.state === 'sending') return { ...part, dropped: true, error }
    if (part.state !== 'queued') return part
    return part.in_doubt
      ? { ...part, state: 'unknown', dropped: true }
      : { ...part, state: 'failed', dropped: true, error }
  }

/**
 * Nothing more of the reply is sent. A part on the wire keeps waiting for its outcome; what was
 * sent, or may have been, stays as it is.
 */
const dropReply = (unread: ChannelReply, error: string, now: Date): ChannelReply => {
  const before = readable(unread)
  const after = withParts(before, before.parts.map(droppedPart(error)), now)
  // A reply that was never tried has no parts.
  return before.parts.length === 0
    ? { ...after, status: 'discarded', error }
    : { ...after, error: after.error ?? error }
}

/**
 * A person decides that a reply, or the rest of it, is not sent. The part with this number was
 * recalled, so it was not sent. Throws `conflict` if the whole reply was sent, or may have been.
 */
export const discardReply = (before: ChannelReply, { by, now }: Decision): ChannelReply => {
  const { status, parts } = before
  if (status === 'discarded' || parts.some((part) => part.dropped)) return before
  if (status !== 'held' && isReplyDone(before))
    fail('conflict', `cannot discard: the reply is ${status}`, conflictWith(before))
  const decided = { decided_by: by, decided_at: now }
  if (status === 'held') return { ...before, ...decided, status: 'discarded', updated_at: now }
  return { ...dropReply(before, DISCARDED, now), ...decided }
}

interface Release extends Decision {
  text?: string | undefined
  /** The hash of the text that the person has seen, or its first digits. */
  seen?: string | undefined
}

/** Throws `conflict` unless the text is the one that the person has seen. */
const requireSeenText = (before: ChannelReply, seen: string | undefined): void => {
  const present = textHash(before.text)
  if (seen === undefined || present.startsWith(seen)) return
  const details = [{ path: 'contentHash', message: present }]
  fail(
    'conflict',
    `cannot send: the text is not the one that you saw; its contentHash is ${present} now`,
    { ...conflictWith(before, 'stale_text'), details },
  )
}

/**
 * A person releases a held reply, perhaps with another text, or retries what failed. What was sent,
 * or may have been, is not sent again. Returns the same reply if it is already on its way. Throws
 * `conflict`.
 */
export const releaseReply = (
  before: ChannelReply,
  { by, now, text, seen }: Release,
): ChannelReply => {
  const { status } = before
  if (status === 'unknown')
    fail(
      'conflict',
      'cannot send: some of the reply may have arrived (unknown); settle that first',
      conflictWith(before, 'in_doubt'),
    )
  if (status === 'discarded' || before.parts.some(({ dropped }) => dropped))
    fail('conflict', 'cannot send: the reply is discarded', conflictWith(before))
  // Sent with these very words already: somebody asks twice.
  const isRepeated = status !== 'held' && text === before.text
  if (!isRepeated) requireSeenText(before, seen)
  const decided = {
    status: 'queued' as const,
    error: null,
    tries: 0,
    decided_by: by,
    decided_at: now,
    updated_at: now,
  }
  if (status === 'held')
    return { ...before, ...decided, ...(text === undefined ? {} : { text: storable(text) }) }
  if (text !== undefined && text !== before.text)
    fail('conflict', `cannot change the text: the reply is ${status}`, conflictWith(before))
  if (status !== 'failed') return before
  const parts = before.parts.map((part) =>
    part.state === 'failed' ? { ...newPart(part.text) } : part,
  )
  return { ...before, ...decided, parts }
}

/** The channel was disconnected while a part of the reply is on the wire. */
export const disconnectReply = (before: ChannelReply, now: Date): ChannelReply =>
  isReplyDone(before) ? before : dropReply(before, DISCONNECTED, now)

/** The conversation was deleted: nothing more of the reply is sent. */
export const deletedWith = (before: ChannelReply, now: Date): ChannelReply => {
  if (before.status === 'held')
    return { ...before, status: 'discarded', error: DELETED, updated_at: now }
  return isReplyDone(before) ? before : dropReply(before, DELETED, now)
}

/** The reply's process died and its channel was disconnected: nothing more of it is sent. */
export const leftOnTheWire = (before: ChannelReply, now: Date): ChannelReply =>
  disconnectReply(resumeReply(before, { now, repeatableForMs: 0 }), now)

/**
 * The reply was on its way as the deployment was copied, so the other one may have sent it. Where
 * nothing of it was tried by then, a person decides about all of it, otherwise about the rest.
 */
export const leftElsewhere = (unread: ChannelReply, now: Date): ChannelReply => {
  const before = readable(unread)
  if (before.parts.length === 0)
    return { ...before, status: 'held', why: FOR_COPIES, updated_at: now }
  const parts = before.parts.map(
    (part): ReplyPart =>
      part.state === 'queued' || part.state === 'sending'
        ? { ...part, state: 'unknown', error: FOR_COPIES }
        : part,
  )
  return withParts(before, parts, now)
}

/** The part that was about to be sent has been recalled: its send never began. */
export const recallReply = (before: ChannelReply): ChannelReply => ({
  ...before,
  parts: before.parts.map((part) =>
    part.state === 'sending'
      ? { ...part, state: 'queued', tried_at: part.in_doubt ? part.tried_at : null }
      : part,
  ),
})

/** Whether a part of it is on the wire. */
export const isOnTheWire = ({ parts }: Pick<ChannelReply, 'parts'>): boolean =>
  parts.some(({ state }) => state === 'sending')

interface Settling extends Decision {
  /** Whether the parts in doubt arrived. */
  arrived: boolean
  /** When the reply last changed, as far as the person has seen. */
  seen: Date
  /** Whether its channel is still connected. */
  canSend: boolean
  /** Whether its conversation was deleted. */
  isGone?: boolean
}

/** Whether nobody knows if some of it arrived, and nothing is under way to find out. */
export const isInDoubt = (reply: Pick<ChannelReply, 'status' | 'parts'>): boolean =>
  isReplyDone(reply) && reply.parts.some(({ state }) => state === 'unknown')

/**
 * A person has found out what became of the parts in doubt. If they arrived, they count as sent. If
 * not, they are sent again, each under a new name, because the provider may take a repeated name
 * for the same message. Either way the rest of the reply follows, unless the reply was discarded,
 * or its channel or conversation is gone. Throws `conflict` if nothing is in doubt, or if the reply
 * has changed since the person looked.
 */
export const settledByPerson = (
  before: ChannelReply,
  { arrived, seen, canSend, isGone = false, by, now }: Settling,
): ChannelReply => {
  if (!isInDoubt(before))
    fail(
      'conflict',
      `cannot settle: the reply is ${before.status}, and no part of it is in doubt`,
      conflictWith(before),
    )
  if (seen.getTime() !== before.updated_at.getTime())
    fail(
      'conflict',
      'cannot settle: the reply has changed since you looked; look again',
      conflictWith(before, 'stale_record'),
    )
  const isDropped = !canSend || isGone || before.parts.some(({ dropped }) => dropped)
  const why = isGone ? DELETED : canSend ? DISCARDED : DISCONNECTED
  const settled = before.parts.map((part): ReplyPart => {
    if (part.state === 'unknown' && arrived)
      return { ...part, state: 'sent', error: null, in_doubt: false }
    if (part.state !== 'unknown' && (part.state !== 'failed' || isDropped)) return part
    if (isDropped) return { ...part, state: 'failed', dropped: true, in_doubt: false, error: why }
    return { ...newPart(part.text), round: (part.round ?? 0) + 1 }
  })
  const after = withParts({ ...before, error: null, tries: 0 }, settled, now)
  return { ...after, decided_by: by, decided_at: now }
}

/**
 * The name of a part that the provider is told. It changes each time a person sends the part again.
 */
export const nameOfPart = (
  { id, parts }: Pick<ChannelReply, 'id' | 'parts'>,
  index: number,
): string => {
  const round = parts[index]?.round ?? 0
  return round === 0 ? `${id}.${index}` : `${id}.${index}.${round}`
}
