/** A part of a reply that its provider accepted but could not deliver. Pure. */
import type { ChannelReply } from './reply.ts'
import { shortenError, withPart } from './reply.ts'

export interface Undelivered {
  /** The number of the part. */
  part: number
  /** As the provider names the message. */
  externalId: string
  error: string
}

/**
 * Reads the name that the provider knows a message by: `${reply}.${part}`, followed by how often a
 * person had it sent again, if ever. Undefined if the message is not ours.
 */
export const partNamed = (id: string): { reply: string; part: number } | undefined => {
  const [, reply, part] =
    /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,3})(?:\.\d{1,3})?$/.exec(id) ?? []
  return reply === undefined ? undefined : { reply, part: Number(part) }
}

/** Whether the part is still on its way: the provider's report came before its answer. */
export const isUnderWay = (
  { parts }: Pick<ChannelReply, 'parts'>,
  { part }: Pick<Undelivered, 'part'>,
): boolean => {
  const { state, in_doubt } = parts[part] ?? { state: 'failed', in_doubt: false }
  return state === 'sending' || (state === 'queued' && in_doubt)
}

/**
 * The part has failed after all, and a person may send it again. Returns the same reply if the
 * failure is known, or belongs to an earlier try.
 */
export const markUndelivered = (
  before: ChannelReply,
  { part: index, externalId, error }: Undelivered,
  now: Date,
): ChannelReply => {
  const part = before.parts[index]
  if (!part || (part.state !== 'sent' && part.state !== 'unknown')) return before
  if (part.external_id !== null && part.external_id !== shortenError(externalId)) return before
  return withPart(
    before,
    index,
    { state: 'failed', external_id: shortenError(externalId), error: shortenError(error) },
    now,
  )
}
