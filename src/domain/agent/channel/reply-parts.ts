/** The parts of a reply as the database holds them. Pure. */

import type { ReplyPart } from '#contract/records/agent/channel-message'
import { fail } from '#kernel/errors'
import type { ChannelReply } from './reply.ts'

const PART_STATES: readonly unknown[] = [
  'queued',
  'sending',
  'sent',
  'failed',
  'unknown',
] satisfies ReplyPart['state'][]
const isText = (value: unknown): boolean => typeof value === 'string'

const isPart = (part: Partial<ReplyPart> | null): boolean =>
  typeof part === 'object' &&
  part !== null &&
  isText(part.text) &&
  PART_STATES.includes(part.state) &&
  [part.external_id, part.error].every((one) => one === null || isText(one))

const isReadable = ({ parts }: Pick<ChannelReply, 'parts'>): boolean =>
  Array.isArray(parts) && parts.every(isPart)

const UNREADABLE = 'what has become of its messages cannot be read in the database'

/**
 * Our code never writes malformed parts. If a reply has them anyway, it must not hide the other
 * replies: it is shown without parts, and says why.
 */
export const readable = <R extends ChannelReply>(reply: R): R =>
  isReadable(reply) ? reply : { ...reply, parts: [], error: UNREADABLE }

/** Throws `conflict`: parts that were already sent would be sent again. */
export const requireReadable = (reply: ChannelReply): void => {
  if (!isReadable(reply))
    fail('conflict', `cannot send: ${UNREADABLE}; discard the reply`, { reason: 'wrong_state' })
}
