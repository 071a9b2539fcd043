/**
 * How a reply is sent: what is tried next, when it is retried, and when it is given up. Its parts
 * go out in order, one request each. Pure.
 */
import type { ReplyPart } from '#contract/records/agent/channel-message'
import { type ChannelReply, isReplyDone, shortenError, withPart, withParts } from './reply.ts'

export const retryLimits = {
  tries: 8,
  leastWaitMs: 60_000,
  mostWaitMs: 3_600_000,
} as const
/** The time between the first and the last try of a part, unless the provider asks for a pause. */
const TRIED_FOR_MS = 3_600_000
const PAUSES_MS = [2_000, 8_000, 30_000, 120_000, 600_000]
/**
 * How long a reply waits for a connection that cannot send, or for a provider that asks for pauses,
 * for instance because a quota is used up.
 */
const WAITS_FOR_MS = 86_400_000
/**
 * Allows for the duration of a request and for clocks that differ: a repeat is not sent this close
 * to the time when the provider forgets the id.
 */
const REPEAT_MARGIN_MS = 120_000

/**
 * The outcome of a request, as `Sent` of an adapter reports it. `stopped`: the request never began.
 */
export type PartOutcome =
  | { kind: 'sent'; externalId: string | null }
  | { kind: 'unsent'; error: string; retryAfterMs?: number | undefined }
  | { kind: 'refused'; error: string; of: 'message' | 'connection' }
  | { kind: 'unknown'; error: string }
  | { kind: 'stopped' }

/** `repeatableForMs`: how long the provider takes a repeated request for the same one; 0: never. */
interface Terms {
  now: Date
  repeatableForMs: number
}

/** `runAt`: when it continues; null: it is over. */
export interface Going {
  reply: ChannelReply
  runAt: Date | null
}

/**
 * A part that is not sent stops those after it: nobody understands an answer without its beginning.
 */
const LEFT_OUT = 'not sent, because the message before it was not'

const goingOn = (reply: ChannelReply, runAt: Date): Going => ({
  reply,
  runAt: isReplyDone(reply) ? null : runAt,
})

const triedFor = ({ tried_at }: ReplyPart, now: Date): number =>
  tried_at === null ? 0 : now.getTime() - Date.parse(tried_at)

const canRepeat = (part: ReplyPart, { now, repeatableForMs }: Terms): boolean =>
  triedFor(part, now) < repeatableForMs - REPEAT_MARGIN_MS

const DIED = 'the server stopped while this was being sent'

/**
 * After its process died: the part that was being sent is in doubt, and nothing of the reply is
 * being sent now.
 */
export const resumeReply = (before: ChannelReply, terms: Terms): ChannelReply =>
  before.parts.some(({ state }) => state === 'sending')
    ? afterSend(before, { kind: 'unknown', error: DIED }, terms).reply
    : before

/**
 * What a resumed reply does next: it requests the part with this number, or nothing if it is over.
 */
export const beginReply = (
  reply: ChannelReply,
  terms: Terms,
): { reply: ChannelReply; part: number | null } => {
  const next = reply.parts.findIndex(({ state }) => state === 'queued')
  if (next < 0) return { reply: withParts(reply, reply.parts, terms.now), part: null }
  const part = reply.parts[next]!
  // It is too late to repeat the request: the part stays in doubt, and the parts after it go on.
  if (part.in_doubt && !canRepeat(part, terms))
    return beginReply(withPart(reply, next, { state: 'unknown' }, terms.now), terms)
  const tried_at = part.tried_at ?? terms.now.toISOString()
  return { reply: withPart(reply, next, { state: 'sending', tried_at }, terms.now), part: next }
}

/** The part is not tried again, whatever the outcome. */
const droppedPart = ({ in_doubt, error }: ReplyPart, outcome: PartOutcome): Partial<ReplyPart> => {
  if (outcome.kind === 'unknown') return { state: 'unknown', error: shortenError(outcome.error) }
  return in_doubt ? { state: 'unknown' } : { state: 'failed', error }
}

/** Nothing more is done about this part, and the next one gets tries of its own. */
const moveOn = (before: ChannelReply, index: number, patch: Partial<ReplyPart>, now: Date): Going =>
  goingOn({ ...withPart(before, index, patch, now), tries: 0 }, now)

/** The part that was being sent has an outcome. */
export const afterSend = (before: ChannelReply, outcome: PartOutcome, terms: Terms): Going => {
  const { now } = terms
  const index = before.parts.findIndex(({ state }) => state === 'sending')
  const part = before.parts[index]
  if (!part) return goingOn(before, now)
  if (part.dropped && outcome.kind !== 'sent')
    return goingOn(withPart(before, index, droppedPart(part, outcome), now), now)
  switch (outcome.kind) {
    case 'sent': {
      const external_id = outcome.externalId === null ? null : shortenError(outcome.externalId)
      return moveOn(
        before,
        index,
        { state: 'sent', external_id, error: null, in_doubt: false },
        now,
      )
    }
    case 'stopped': {
      const tried_at = part.in_doubt ? part.tried_at : null
      return goingOn(withPart(before, index, { state: 'queued', tried_at }, now), now)
    }
    case 'unsent': {
      const { retryAfterMs } = outcome
      return retryPart(before, index, { error: shortenError(outcome.error), retryAfterMs }, terms)
    }
    case 'refused': {
      const error = shortenError(outcome.error)
      return outcome.of === 'connection'
        ? retryPart(before, index, { error }, terms)
        : givenUp(before, index, error, now)
    }
    case 'unknown': {
      const error = shortenError(outcome.error)
      if (!canRepeat(part, terms)) return moveOn(before, index, { state: 'unknown', error }, now)
      return retryPart(withPart(before, index, { in_doubt: true }, now), index, { error }, terms)
    }
  }
}

const pauseAfter = (tries: number): number => PAUSES_MS[Math.min(tries, PAUSES_MS.length) - 1]!

/**
 * Whether this was the last try. If the provider says when to come back, there is no limit to the
 * tries, only to how long the reply may wait.
 */
const isLast = (
  part: ReplyPart,
  { tries, isAsked, now }: { tries: number; isAsked: boolean; now: Date },
): boolean =>
  isAsked
    ? triedFor(part, now) >= WAITS_FOR_MS
    : tries >= retryLimits.tries || triedFor(part, now) >= TRIED_FOR_MS

/** Schedules another try, or gives the part up. */
const retryPart = (
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
  if (isLate || isLast(part, { tries, isAsked: retryAfterMs > 0, now }))
    return givenUp(before, index, error, now)
  return goingOn(
    { ...withPart(before, index, { state: 'queued', error }, now), tries, error },
    runAt,
  )
}

/** The part is not tried again. If an earlier try may have arrived, the parts after it go on. */
const givenUp = (before: ChannelReply, index: number, error: string, now: Date): Going => {
  if (before.parts[index]!.in_doubt) return moveOn(before, index, { state: 'unknown', error }, now)
  return { reply: failReply(before, error, now), runAt: null }
}

/** Nothing more of the reply is sent. A part in doubt stays in doubt. */
const failReply = (before: ChannelReply, error: string, now: Date): ChannelReply => {
  let isFirst = true
  const parts = before.parts.map((part): ReplyPart => {
    if (part.state !== 'queued' && part.state !== 'sending') return part
    const said = isFirst ? error : LEFT_OUT
    isFirst = false
    return { ...part, state: part.in_doubt ? 'unknown' : 'failed', error: said }
  })
  const after = withParts(before, parts, now)
  // A reply that was never tried has no parts.
  return before.parts.length === 0 ? { ...after, status: 'failed', error } : { ...after, error }
}

/**
 * Sending it fails on our side again and again: what was being sent is in doubt, and nothing more
 * is sent.
 */
export const givenUpWhole = (before: ChannelReply, error: string, now: Date): Going => ({
  reply: isReplyDone(before)
    ? before
    : failReply(resumeReply(before, { now, repeatableForMs: 0 }), error, now),
  runAt: null,
})

const GONE = 'the sender whom it answers is no longer linked to a member'

/** Its recipient must not read it any more. What was sent, or may have been, stays as it is. */
export const withdrawn = (before: ChannelReply, now: Date): ChannelReply => {
  const isUntouched = before.parts.every(({ state, in_doubt }) => state === 'queued' && !in_doubt)
  return isUntouched
    ? { ...before, status: 'discarded', error: GONE, updated_at: now }
    : failReply(before, GONE, now)
}

/**
 * When to try a reply that waited for its connection, now that the connection works. One that has
 * already failed waits a little longer.
 */
export const wokenAt = (tries: number, now: Date): Date =>
  new Date(now.getTime() + (tries === 0 ? 0 : pauseAfter(tries)))

const queuedAt = ({ decided_at, created_at }: ChannelReply): Date => decided_at ?? created_at

/** Waits until the connection can send: longer each time, and a day at most. */
export const waiting = (before: ChannelReply, error: string, now: Date): Going => {
  const said = shortenError(error)
  const waited = now.getTime() - queuedAt(before).getTime()
  if (waited >= WAITS_FOR_MS) return { reply: failReply(before, said, now), runAt: null }
  const pause = Math.min(retryLimits.mostWaitMs, Math.max(retryLimits.leastWaitMs, waited))
  return {
    reply: { ...before, error: said, updated_at: now },
    runAt: new Date(now.getTime() + pause),
  }
}
