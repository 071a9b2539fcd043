/** A reply as people see it. Pure. */
import { channelReplyRecord } from '#contract/records/agent/channel-message'
import { viewOf } from '#contract/records/view'
import { GONE, HIDDEN } from '../job/views.ts'
import type { Channel } from './channel.ts'
import { type ChannelReply, replyUrl } from './reply.ts'
import { readable } from './reply-parts.ts'

/**
 * `is_hidden`: it belongs to a conversation that the reader does not see, though the reader may be
 * allowed to decide about it. `is_gone`: it belongs to a deleted conversation.
 */
export type ShownReply = ChannelReply & { channel: Channel; is_hidden: boolean; is_gone: boolean }

const view = viewOf(channelReplyRecord)

export const replyView = (shown: ShownReply, publicUrl: string) => {
  const reply = readable(shown)
  const instead = reply.is_gone ? GONE : HIDDEN
  const wordsOf = (text: string) => (reply.is_hidden ? instead : text)
  return {
    ...view(reply),
    text: wordsOf(reply.text),
    url: replyUrl(publicUrl, reply.id),
    parts: reply.parts.map((part) => ({
      text: wordsOf(part.text),
      state: part.state,
      externalId: part.external_id,
      error: part.error,
    })),
  }
}
