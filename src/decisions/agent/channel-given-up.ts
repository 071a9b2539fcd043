/** A channel's message that leads to nothing: what is kept of it, and who is told. */
import { recipientOf } from '#domain/agent/channel/answer'
import type { ChannelConnection } from '#domain/agent/channel/channel'
import { markLost } from '#domain/agent/channel/connection-health'
import { type ChannelMessage, failedMessage } from '#domain/agent/channel/message'
import { saveChannelConnection } from '#store/agent/channel-connections'
import { type ArrivalFacts, insertTold, saveChannelMessage } from '#store/agent/channel-messages'
import { type Effects, merge } from '#store/engine/letter'
import { replyEffects } from './channel-replies.ts'

export interface Losing {
  connection: ChannelConnection
  message: ChannelMessage
  /** Whether the sender is linked now. */
  isLinked: boolean
  facts: Pick<ArrivalFacts, 'told' | 'is_told'>
  now: Date
}

/** Nobody is told: the sender is told nothing in general, or wants no answer. */
export const failedEffects = (message: ChannelMessage, error: string, now: Date): Effects => ({
  writes: [saveChannelMessage(failedMessage(message, error, now))],
})

/** Once a day: a machine may have written the message, and would answer this line. */
const lineTo = ({ connection, message, isLinked, facts, now }: Losing, text: string): Effects => {
  if (!isLinked || facts.is_told) return {}
  const line = replyEffects({
    connection,
    replyTo: message.reply_to,
    recipient: recipientOf(message),
    text,
    now,
  })
  return merge(line, { writes: [insertTold({ source: connection.id, told: facts.told, now })] })
}

const UNREAD =
  'I could not read a message that you sent, and have given it up. Please send again whatever I have not answered.'

/**
 * Its text could not be fetched from the provider. A linked sender is told, and the connection
 * shows the error.
 */
export const unreadEffects = (losing: Losing, error: string): Effects => {
  const { connection, message, now } = losing
  const writes = [saveChannelConnection(markLost(connection, error, now))]
  return merge(failedEffects(message, error, now), { writes }, lineTo(losing, UNREAD))
}

const CROWDED =
  'I was too busy for a whole day and gave up a message of yours. Please send again whatever I have not answered.'

/** There were too many open jobs for too long. */
export const crowdedEffects = (losing: Losing): Effects =>
  merge(
    failedEffects(losing.message, 'the agent had too many open jobs for a day', losing.now),
    lineTo(losing, CROWDED),
  )
