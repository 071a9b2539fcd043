/** What is known a second after a send began, unless it is on the network. */
import type { AnswerOf } from '../api/operations.ts'

type Status =
  | AnswerOf<'growth.items.postNow'>['item']['status']
  | AnswerOf<'growth.engagements.approve'>['engagement']['status']

const SENDING = 'It is being sent'
const REFUSED = 'The network refused it: it is in the inbox'
const DOUBT = 'Nobody knows yet whether it went out; we are looking at the network'

export const sentWords: Partial<Record<Status, string>> = {
  publishing: SENDING,
  executing: SENDING,
  publish_failed: REFUSED,
  execute_failed: REFUSED,
  publish_unconfirmed: DOUBT,
  execute_unconfirmed: DOUBT,
}
