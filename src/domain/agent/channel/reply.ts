/**
 * A reply: what goes out to a channel. It becomes one or more messages of the provider, its parts, which are sent in order and by one request
 * each. What may have been sent is never sent again, unless the provider tells repeated requests apart.
 *
 * held → queued or discarded; queued ⇄ sending → sent, failed or unknown; queued → discarded, if a person decides so, or its recipient is linked
 * to no member now; failed → queued, if a person wants it; unknown → queued or sent, if a person knows what became of it. Pure.
 */
import { beginning, storable } from '#kernel/storable'
import type { ReplyPart } from './channel.ts'
import { CUT, MOST_PARTS } from './forms/parts.ts'

const replyStatuses = ['held', 'queued', 'sending', 'sent', 'failed', 'unknown', 'discarded'] as const
export type ReplyStatus = (typeof replyStatuses)[number]

export interface ChannelReply {
  id: string
  /** Null: it was disconnected while this was on the wire. */
  connection_id: string | null
  /** The job that it answers, and what began it; null: what no job says, such as a line to a stranger. */
  job_id: string | null
  message_id: string | null
  conversation_id: string | null
  /** As people read it. */
  recipient: string
  /** What the adapter needs to send it. */
  reply_to: Record<string, unknown>
  /** In Markdown. */
  text: string
  /** In the form of the channel. None before the first try. */
  parts: ReplyPart[]
  status: ReplyStatus
  /** Why it waits, or waited, for a person. */
  why: string | null
  /** In a row, and in vain. */
  tries: number
  error: string | null
  /** Who decided about a held one, or wanted a failed one tried again. */
  decided_by: string | null
  decided_at: Date | null
  sent_at: Date | null
  created_at: Date
  updated_at: Date
}

/** The longest text, as of a message of a person to the agent many times over. */
const TEXT_LENGTH = 100_000
const RECIPIENT_LENGTH = 320
const ERROR_LENGTH = 500

export const MOST_TRIES = 8
/** From the first try of a part to its last one, unless the provider asks for a pause. */
const TRIED_FOR_MS = 3_600_000
const PAUSES_MS = [2_000, 8_000, 30_000, 120_000, 600_000]
/** How long a reply waits for a connection that cannot send, or for a provider that asks for pauses, as one whose quota is used up. */
const WAITS_FOR_MS = 86_400_000
const SHORTEST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000
/** What a request may take, and clocks may differ: so long before the end of the time in which a provider knows a repeated id, none is sent. */
const REPEAT_MARGIN_MS = 120_000

type NewReply = { connection_id: string } & Pick<
  ChannelReply,
  'id' | 'job_id' | 'message_id' | 'conversation_id' | 'recipient' | 'reply_to' | 'text'
>

/** `why` it is held; null: it goes out. */
export const newReply = (reply: NewReply, { why, now }: { why: string | null; now: Date }): ChannelReply => ({
  ...reply,
  ...{ text: beginning(storable(reply.text), TEXT_LENGTH), recipient: beginning(storable(reply.recipient), RECIPIENT_LENGTH) },
  ...{
    parts: [],
    status: why === null ? 'queued' : 'held',
    why: why && shortened(why),
    tries: 0,
    error: null,
    decided_by: null,
    decided_at: null,
    sent_at: null,
  },
  ...{ created_at: now, updated_at: now },
})

/** The page where a person decides about it. */
export const replyUrl = (publicUrl: string, id: string): string => `${publicUrl}/replies/${id}`

/** What became of a request: as `Sent` of an adapter. `stopped`: it never began. */
export type PartOutcome =
  | { kind: 'sent'; externalId: string | null }
  | { kind: 'unsent'; error: string; retryAfterMs?: number | undefined }
  | { kind: 'refused'; error: string; of: 'message' | 'connection' }
  | { kind: 'unknown'; error: string }
  | { kind: 'stopped' }

/** `repeatableForMs`: so long the provider takes a repeated request for the same one; 0: never. */
interface Terms {
  now: Date
  repeatableForMs: number
}

/** `runAt`: when it goes on; null: it is over. */
export interface Going {
  reply: ChannelReply
  runAt: Date | null
}

export const shortened = (text: string): string => beginning(storable(text), ERROR_LENGTH)

/** The first of a part that is not sent stops those after it: nobody understands an answer without its beginning. */
const LEFT_OUT = 'not sent, because the message before it was not'

/** Of a reply that is sent no further, with nothing on the wire. */
const droppedStatus = (parts: readonly ReplyPart[]): ReplyStatus => {
  if (parts.some(({ state }) => state === 'unknown')) return 'unknown'
  return parts.every(({ state }) => state === 'sent') ? 'sent' : 'discarded'
}

const statusOf = (parts: readonly ReplyPart[]): ReplyStatus => {
  const has = (state: ReplyPart['state']) => parts.some((part) => part.state === state)
  if (has('sending')) return 'sending'
  if (has('queued')) return 'queued'
  if (parts.some(({ dropped }) => dropped)) return droppedStatus(parts)
  if (has('failed')) return 'failed'
  return has('unknown') ? 'unknown' : 'sent'
}

export const isOver = ({ status }: Pick<ChannelReply, 'status'>): boolean => status !== 'queued' && status !== 'sending'

export const withParts = (reply: ChannelReply, parts: ReplyPart[], now: Date): ChannelReply => {
  const status = statusOf(parts)
  const error = parts.find((part) => part.state === 'failed' || part.state === 'unknown')?.error ?? null
  return {
    ...{ ...reply, parts, status, updated_at: now },
    error: status === 'queued' || status === 'sending' ? reply.error : error,
    ...(parts.some(({ state }) => state === 'sent') ? { sent_at: reply.sent_at ?? now } : {}),
  }
}

export const withPart = (reply: ChannelReply, index: number, patch: Partial<ReplyPart>, now: Date): ChannelReply =>
  withParts(
    reply,
    reply.parts.map((part, at) => (at === index ? { ...part, ...patch } : part)),
    now,
  )

const goingOn = (reply: ChannelReply, runAt: Date): Going => ({ reply, runAt: isOver(reply) ? null : runAt })

export const newPart = (text: string): ReplyPart => ({
  ...{ text: storable(text), state: 'queued', external_id: null, error: null, tried_at: null, in_doubt: false },
})

/** Its parts, which are made of its text once. */
export const formed = (reply: ChannelReply, texts: readonly string[]): ChannelReply => {
  if (reply.parts.length > 0) return reply
  const kept = texts.length > MOST_PARTS ? [...texts.slice(0, MOST_PARTS - 1), CUT] : texts
  return { ...reply, parts: kept.map(newPart) }
}

const triedFor = ({ tried_at }: ReplyPart, now: Date): number => (tried_at === null ? 0 : now.getTime() - Date.parse(tried_at))

const canRepeat = (part: ReplyPart, { now, repeatableForMs }: Terms): boolean => triedFor(part, now) < repeatableForMs - REPEAT_MARGIN_MS

const DIED = 'the server stopped while this was being sent'

/** A part whose process died is in doubt, and nothing of the reply is being sent now. */
export const resumed = (before: ChannelReply, terms: Terms): ChannelReply =>
  before.parts.some(({ state }) => state === 'sending') ? afterSend(before, { kind: 'unknown', error: DIED }, terms).reply : before

/** What a resumed reply does next: a request for the part of this number, or nothing, when it is over. */
export const begun = (reply: ChannelReply, terms: Terms): { reply: ChannelReply; part: number | null } => {
  const next = reply.parts.findIndex(({ state }) => state === 'queued')
  if (next < 0) return { reply: withParts(reply, reply.parts, terms.now), part: null }
  const part = reply.parts[next]!
  // Too late to try it again: it stays in doubt, and those after it go on.
  if (part.in_doubt && !canRepeat(part, terms)) return begun(withPart(reply, next, { state: 'unknown' }, terms.now), terms)
  const tried_at = part.tried_at ?? terms.now.toISOString()
  return { reply: withPart(reply, next, { state: 'sending', tried_at }, terms.now), part: next }
}

/** It is not tried again, whatever the outcome. */
const droppedPart = ({ in_doubt, error }: ReplyPart, outcome: PartOutcome): Partial<ReplyPart> => {
  if (outcome.kind === 'unknown') return { state: 'unknown', error: shortened(outcome.error) }
  return in_doubt ? { state: 'unknown' } : { state: 'failed', error }
}

/** The part that was being sent has an outcome. */
export const afterSend = (before: ChannelReply, outcome: PartOutcome, terms: Terms): Going => {
  const { now } = terms
  const index = before.parts.findIndex(({ state }) => state === 'sending')
  const part = before.parts[index]
  if (!part) return goingOn(before, now)
  if (part.dropped && outcome.kind !== 'sent') return goingOn(withPart(before, index, droppedPart(part, outcome), now), now)
  switch (outcome.kind) {
    case 'sent': {
      const external_id = outcome.externalId === null ? null : shortened(outcome.externalId)
      return goingOn({ ...withPart(before, index, { state: 'sent', external_id, error: null, in_doubt: false }, now), tries: 0 }, now)
    }
    case 'stopped':
      return goingOn(withPart(before, index, { state: 'queued', tried_at: part.in_doubt ? part.tried_at : null }, now), now)
    case 'unsent':
      return again(before, index, { error: shortened(outcome.error), retryAfterMs: outcome.retryAfterMs }, terms)
    case 'refused':
      return outcome.of === 'connection'
        ? again(before, index, { error: shortened(outcome.error) }, terms)
        : givenUp(before, index, shortened(outcome.error), now)
    case 'unknown': {
      const error = shortened(outcome.error)
      if (canRepeat(part, terms)) return again(withPart(before, index, { in_doubt: true }, now), index, { error }, terms)
      return goingOn({ ...withPart(before, index, { state: 'unknown', error }, now), tries: 0 }, now)
    }
  }
}

const pauseAfter = (tries: number): number => PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1]!

/** Whether this was the last try. A provider that says when to come back is asked for as long as the reply may wait, however often. */
const isLast = (part: ReplyPart, { tries, isAsked, now }: { tries: number; isAsked: boolean; now: Date }): boolean =>
  isAsked ? triedFor(part, now) >= WAITS_FOR_MS : tries >= MOST_TRIES || triedFor(part, now) >= TRIED_FOR_MS

/** A later try, if there is to be one. */
const again = (
  before: ChannelReply,
  index: number,
  { error, retryAfterMs = 0 }: { error: string; retryAfterMs?: number | undefined },
  terms: Terms,
): Going => {
  const { now } = terms
  const part = before.parts[index]!
  const tries = before.tries + 1
  const pause = Math.max(pauseAfter(tries), Math.min(retryAfterMs, WAITS_FOR_MS))
  const runAt = new Date(now.getTime() + pause)
  const isLate = part.in_doubt && !canRepeat(part, { ...terms, now: runAt })
  if (isLate || isLast(part, { tries, isAsked: retryAfterMs > 0, now })) return givenUp(before, index, error, now)
  return goingOn({ ...withPart(before, index, { state: 'queued', error }, now), tries, error }, runAt)
}

/** The part is not tried again. If an earlier try may have been sent, the others go on. */
const givenUp = (before: ChannelReply, index: number, error: string, now: Date): Going => {
  if (before.parts[index]!.in_doubt) return goingOn({ ...withPart(before, index, { state: 'unknown', error }, now), tries: 0 }, now)
  return { reply: failed(before, error, now), runAt: null }
}

/** Nothing more of it is sent. What is in doubt stays so. */
const failed = (before: ChannelReply, error: string, now: Date): ChannelReply => {
  let isFirst = true
  const parts = before.parts.map((part): ReplyPart => {
    if (part.state !== 'queued' && part.state !== 'sending') return part
    const said = isFirst ? error : LEFT_OUT
    isFirst = false
    return { ...part, state: part.in_doubt ? 'unknown' : 'failed', error: said }
  })
  const after = withParts(before, parts, now)
  // One that was never tried has no parts.
  return before.parts.length === 0 ? { ...after, status: 'failed', error } : { ...after, error }
}

/** Sending it fails here again and again: what was being sent is in doubt, and nothing more goes out. */
export const givenUpWhole = (before: ChannelReply, error: string, now: Date): Going => ({
  reply: isOver(before) ? before : failed(resumed(before, { now, repeatableForMs: 0 }), error, now),
  runAt: null,
})

const GONE = 'the sender whom it answers is no longer linked to a member'

/** Its recipient must not read it any more. What was sent, or may have been, stays as it is. */
export const withdrawn = (before: ChannelReply, now: Date): ChannelReply => {
  const isUntouched = before.parts.every(({ state, in_doubt }) => state === 'queued' && !in_doubt)
  return isUntouched ? { ...before, status: 'discarded', error: GONE, updated_at: now } : failed(before, GONE, now)
}

/** When a reply that waits for its connection is tried, now that the connection works: one that was tried in vain not at once. */
export const wokenAt = (tries: number, now: Date): Date => new Date(now.getTime() + (tries === 0 ? 0 : pauseAfter(tries)))

const queuedAt = ({ decided_at, created_at }: ChannelReply): Date => decided_at ?? created_at

/** It waits until its connection can send, for longer each time, and for a day at most. */
export const waiting = (before: ChannelReply, error: string, now: Date): Going => {
  const said = shortened(error)
  const waited = now.getTime() - queuedAt(before).getTime()
  if (waited >= WAITS_FOR_MS) return { reply: failed(before, said, now), runAt: null }
  const pause = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waited))
  return { reply: { ...before, error: said, updated_at: now }, runAt: new Date(now.getTime() + pause) }
}
