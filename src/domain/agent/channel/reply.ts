/**
 * A reply: what goes out to a channel. It becomes one or more messages of the provider, its parts,
 * which are sent in order and by one request each. What may have been sent is never sent again,
 * unless the provider tells repeated requests apart.
 *
 * held → queued or discarded; queued ⇄ sending → sent, failed or unknown; queued → discarded, if a
 * person decides so, or its recipient is linked to no member now; failed → queued, if a person
 * wants it; unknown → queued or sent, if a person knows what became of it. Pure.
 */
import { createHash } from 'node:crypto'
import { channelReplyRecord, type ReplyPart } from '#contract/records/agent/channel-message'
import type { RowOf } from '#contract/records/record'
import { beginning, storable } from '#kernel/storable'
import { CUT, replyLimits } from './forms/parts.ts'

export type ChannelReply = RowOf<typeof channelReplyRecord>
export type ReplyStatus = ChannelReply['status']

/** The longest text: many times the length of a person's message to the agent. */
const TEXT_LENGTH = 100_000
const RECIPIENT_LENGTH = 320
const ERROR_LENGTH = 500

type NewReply = { connection_id: string } & Pick<
  ChannelReply,
  'id' | 'job_id' | 'message_id' | 'conversation_id' | 'recipient' | 'reply_to' | 'text'
>

/** `why`: why it is held; null: it is sent. */
export const newReply = (
  reply: NewReply,
  { why, now }: { why: string | null; now: Date },
): ChannelReply => ({
  ...channelReplyRecord.blank,
  ...reply,
  text: beginning(storable(reply.text), TEXT_LENGTH),
  recipient: beginning(storable(reply.recipient), RECIPIENT_LENGTH),
  parts: [],
  status: why === null ? 'queued' : 'held',
  why: why && shortenError(why),
  tries: 0,
  created_at: now,
  updated_at: now,
})

/** SHA-256 of a reply's text, in hex, by which people say what they have seen. */
export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The page where a person decides about the reply. */
export const replyUrl = (publicUrl: string, id: string): string => `${publicUrl}/replies/${id}`

export const shortenError = (text: string): string => beginning(storable(text), ERROR_LENGTH)

/** The status of a reply of which nothing more is sent and nothing is on the wire. */
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

export const isReplyDone = ({ status }: Pick<ChannelReply, 'status'>): boolean =>
  status !== 'queued' && status !== 'sending'

export const withParts = (reply: ChannelReply, parts: ReplyPart[], now: Date): ChannelReply => {
  const status = statusOf(parts)
  const error =
    parts.find((part) => part.state === 'failed' || part.state === 'unknown')?.error ?? null
  return {
    ...reply,
    parts,
    status,
    updated_at: now,
    error: status === 'queued' || status === 'sending' ? reply.error : error,
    ...(parts.some(({ state }) => state === 'sent') ? { sent_at: reply.sent_at ?? now } : {}),
  }
}

export const withPart = (
  reply: ChannelReply,
  index: number,
  patch: Partial<ReplyPart>,
  now: Date,
): ChannelReply =>
  withParts(
    reply,
    reply.parts.map((part, at) => (at === index ? { ...part, ...patch } : part)),
    now,
  )

export const newPart = (text: string): ReplyPart => ({
  text: storable(text),
  state: 'queued',
  external_id: null,
  error: null,
  tried_at: null,
  in_doubt: false,
})

/** The reply with its parts, which are made from its text once. */
export const formParts = (reply: ChannelReply, texts: readonly string[]): ChannelReply => {
  if (reply.parts.length > 0) return reply
  const kept =
    texts.length > replyLimits.parts ? [...texts.slice(0, replyLimits.parts - 1), CUT] : texts
  return { ...reply, parts: kept.map(newPart) }
}
