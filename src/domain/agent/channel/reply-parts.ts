/** Parts of a reply as the database has them. Pure. */

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
 * Nothing of ours writes parts that are none. One reply of which they are must not hide the others:
 * it is without parts, and says so.
 */
export const readable = <R extends ChannelReply>(reply: R): R =>
  isReadable(reply) ? reply : { ...reply, parts: [], error: UNREADABLE }

/** Throws `conflict`: what was sent of it would be sent again. */
export const requireReadable = (reply: ChannelReply): void => {
  if (!isReadable(reply)) fail('conflict', `cannot send: ${UNREADABLE}; discard the reply`)
}
