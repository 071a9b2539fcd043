/** A reply as people see it. Pure. */
import { channelReplyRecord, type QuestionRow } from '#contract/records/agent/channel-message'
import { viewOf } from '#contract/records/view'
import { GONE, HIDDEN } from '../job/views.ts'
import type { Channel } from './channel.ts'
import { type ChannelReply, replyUrl, textHash } from './reply.ts'
import { readable } from './reply-parts.ts'

/**
 * `is_hidden`: it belongs to a conversation that the reader does not see, though the reader may be
 * allowed to decide about it. `is_gone`: it belongs to a deleted conversation.
 */
export type ShownReply = ChannelReply & Beside

/** What a reply is shown with. */
export interface Beside {
  channel: Channel
  /** The message that it answers; null if that is no longer kept. */
  asked: QuestionRow | null
  is_hidden: boolean
  is_gone: boolean
}

/** Its own conversation may be hidden where that of the reply is not. */
const questionOf = ({ asked, is_hidden }: Beside, instead: string) => {
  if (asked === null) return null
  const { text, subject, is_cut, sender, at } = asked
  const shown = { sender, at: new Date(at) }
  return is_hidden || asked.is_hidden
    ? { ...shown, text: instead, subject: null, isCut: false }
    : { ...shown, text, subject, isCut: is_cut }
}

const view = viewOf(channelReplyRecord)

export const replyView = (shown: ShownReply, publicUrl: string) => {
  const reply = readable(shown)
  const instead = reply.is_gone ? GONE : HIDDEN
  const wordsOf = (text: string) => (reply.is_hidden ? instead : text)
  return {
    ...view(reply),
    text: wordsOf(reply.text),
    question: questionOf(reply, instead),
    contentHash: reply.is_hidden ? null : textHash(reply.text),
    url: replyUrl(publicUrl, reply.id),
    parts: reply.parts.map((part) => ({
      text: wordsOf(part.text),
      state: part.state,
      externalId: part.external_id,
      error: part.error,
    })),
  }
}
