/** What a reply to a channel is, in the words of the inbox. */
import { channelTraits } from '#domain/agent/channel/channel'
import type { AnswerOf } from '../../api/operations.ts'

type Answer = AnswerOf<'agent.channelReplies.get'>
export type ReplyToDecide = Answer['reply']
/** What a held one becomes in its channel; null where that is not shown. */
export type ReplyMessages = Answer['messages']

export interface ReplyState {
  says: string
  tone: 'asks' | 'runs' | 'good' | 'bad' | 'care' | 'over'
}

const STATES: Record<ReplyToDecide['status'], ReplyState> = {
  held: { says: 'Waits for you', tone: 'asks' },
  queued: { says: 'Let go, on its way…', tone: 'runs' },
  sending: { says: 'On its way…', tone: 'runs' },
  sent: { says: 'Sent', tone: 'good' },
  failed: { says: 'Not sent', tone: 'bad' },
  unknown: { says: 'Nobody knows yet whether it arrived', tone: 'care' },
  discarded: { says: 'Discarded', tone: 'over' },
}

export const replyState = ({ status }: ReplyToDecide): ReplyState => STATES[status]

/** Whether it waits for a person. */
export const isOpen = ({ status }: ReplyToDecide): boolean =>
  status === 'held' || status === 'unknown'

/** Whether the reader does not see its conversation. */
export const isHidden = ({ contentHash }: ReplyToDecide): boolean => contentHash === null

export const channelName = ({ channel }: ReplyToDecide): string => channelTraits[channel].name

const NEWS: Partial<Record<ReplyToDecide['status'], string>> = {
  queued: 'let this go just now',
  sending: 'let this go just now',
  sent: 'let this go just now',
  discarded: 'discarded this just now',
}

/** What somebody else has just done with it. */
export const replyNews = (reply: ReplyToDecide): string => {
  const did = NEWS[reply.status]
  return did === undefined ? replyState(reply).says : `Somebody ${did}`
}
