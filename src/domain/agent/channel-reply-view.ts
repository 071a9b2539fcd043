/** A reply as people see it. Pure. */
import type { Channel } from './channel.ts'
import { type ChannelReply, replyUrl } from './channel-reply.ts'

export type ShownReply = ChannelReply & { channel: Channel }

export const replyView = ({ channel, ...reply }: ShownReply, publicUrl: string) => {
  const { id, recipient, text, status, why, tries, error } = reply
  return {
    ...{ id, connectionId: reply.connection_id, channel, jobId: reply.job_id, messageId: reply.message_id },
    ...{ conversationId: reply.conversation_id, recipient, text, status, why, tries, error, url: replyUrl(publicUrl, id) },
    parts: reply.parts.map((part) => ({ text: part.text, state: part.state, externalId: part.external_id, error: part.error })),
    ...{ decidedBy: reply.decided_by, decidedAt: reply.decided_at, sentAt: reply.sent_at },
    ...{ createdAt: reply.created_at, updatedAt: reply.updated_at },
  }
}
