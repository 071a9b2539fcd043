/** A reply as people see it. Pure. */
import { GONE, HIDDEN } from '../job/views.ts'
import type { Channel } from './channel.ts'
import { type ChannelReply, replyUrl } from './reply.ts'
import { readable } from './reply-parts.ts'

/**
 * `is_hidden`: it answers in a conversation that the reader does not see, but may be theirs to
 * decide about all the same. `is_gone`: it answers in one that was deleted.
 */
export type ShownReply = ChannelReply & { channel: Channel; is_hidden: boolean; is_gone: boolean }

export const replyView = (shown: ShownReply, publicUrl: string) => {
  const { channel, is_hidden: isHidden, is_gone: isGone, ...reply } = readable(shown)
  const instead = isGone ? GONE : HIDDEN
  const wordsOf = (text: string) => (isHidden ? instead : text)
  const { id, recipient, status, why, tries, error } = reply
  return {
    ...{
      id,
      connectionId: reply.connection_id,
      channel,
      jobId: reply.job_id,
      messageId: reply.message_id,
    },
    ...{
      conversationId: reply.conversation_id,
      recipient,
      text: wordsOf(reply.text),
      status,
      why,
      tries,
      error,
      url: replyUrl(publicUrl, id),
    },
    parts: reply.parts.map((part) => ({
      text: wordsOf(part.text),
      state: part.state,
      externalId: part.external_id,
      error: part.error,
    })),
    ...{ decidedBy: reply.decided_by, decidedAt: reply.decided_at, sentAt: reply.sent_at },
    ...{ createdAt: reply.created_at, updatedAt: reply.updated_at },
  }
}
