/** Replies to start from, and what their requests come to. */
import { type ChannelReply, formParts, newReply } from '#domain/agent/channel/reply'
import { afterSend, beginReply, type PartOutcome } from '#domain/agent/channel/reply-sending'
import { newId } from '#kernel/ids'

export const start = new Date('2026-11-23T09:00:00Z')
export const after = (ms: number) => new Date(start.getTime() + ms)
export const ids = {
  id: newId(),
  connection_id: newId(),
  job_id: newId(),
  message_id: newId(),
  conversation_id: newId(),
}
export const replyOf = (more: { why?: string } = {}): ChannelReply =>
  newReply(
    { ...ids, recipient: 'Ada (U1)', reply_to: { channel: 'C1' }, text: 'Hello' },
    { why: null, now: start, ...more },
  )

export const never = { now: start, repeatableForMs: 0 }
export const HOUR = 3_600_000
export const repeatable = { now: start, repeatableForMs: HOUR }
export const went: PartOutcome = { kind: 'sent', externalId: '17.5' }
export const unsent: Extract<PartOutcome, { kind: 'unsent' }> = { kind: 'unsent', error: '503' }
export const unclear: PartOutcome = { kind: 'unknown', error: 'no answer' }
export const declined: PartOutcome = { kind: 'refused', error: 'too long', of: 'message' }
export const states = ({ parts }: ChannelReply) => parts.map(({ state }) => state)
export const opened = (texts: string[], terms = never) =>
  beginReply(formParts(replyOf(), texts), terms).reply

/** Settles one request after the other, at once. */
export const carried = (texts: string[], outcomes: PartOutcome[], terms = never): ChannelReply =>
  outcomes.reduce(
    (reply, outcome) => afterSend(beginReply(reply, terms).reply, outcome, terms).reply,
    formParts(replyOf(), texts),
  )
