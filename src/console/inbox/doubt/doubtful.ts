/** A post or an engagement of which nobody knows whether it is on the network. */
import type { AnswerOf } from '../../api/operations.ts'

type Item = AnswerOf<'growth.items.get'>['item']
type Engagement = AnswerOf<'growth.engagements.get'>['engagement']

type Attempt = Item['attempts'][number]

/** Both kinds, as their pane needs them. */
export interface Doubtful {
  record: 'item' | 'engagement'
  id: string
  /** What was sent: null for a repost or a like. */
  text: string | null
  /** How it is named: its first line, or what it does. */
  about: string
  hash: string | null
  /** Whether it still is in doubt. */
  isOpen: boolean
  /** Whether a person is asked; before that, the timeline is being read. */
  inReview: boolean
  /** The last try to send it. */
  attempt: Attempt | undefined
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!

export const doubtfulItem = (item: Item): Doubtful => ({
  record: 'item',
  id: item.id,
  text: item.body,
  about: item.title ?? firstLine(item.body),
  hash: item.attempts[0]?.content_hash ?? item.content_hash,
  isOpen: item.status === 'publish_unconfirmed',
  inReview: item.review,
  attempt: item.attempts[0],
})

const deeds: Record<Engagement['action'], string> = {
  reply: 'Reply',
  quote: 'Quote',
  repost: 'Repost',
  like: 'Like',
}

export const doubtfulEngagement = (engagement: Engagement): Doubtful => ({
  record: 'engagement',
  id: engagement.id,
  text: engagement.body,
  about:
    engagement.body === null
      ? `${deeds[engagement.action]} of a post of ${engagement.post.author ?? 'somebody'}`
      : firstLine(engagement.body),
  hash: engagement.attempts[0]?.content_hash ?? engagement.content_hash,
  isOpen: engagement.status === 'execute_unconfirmed',
  inReview: engagement.review,
  attempt: engagement.attempts[0],
})

export const causeWords: Record<NonNullable<Attempt['cause']>, string> = {
  server_error: 'The network answered with an error of its own.',
  no_answer: 'The connection ended before the network answered.',
  unclear_answer: 'The answer of the network says neither yes nor no.',
  process_stopped: 'The server stopped while it was sending.',
  restored: 'The server that this one was restored or copied from may have sent it.',
}

/** What the last reads showed. The newest timeline stands for those after it that saw the same. */
export const lastSeen = ({ attempt }: Doubtful) => {
  const reads = attempt?.reads ?? []
  const last = reads.at(-1)
  const timeline = reads.findLast((read) => read.timeline !== null)?.timeline ?? undefined
  const candidates = new Set(last?.candidates.map(({ external_id }) => external_id))
  return { at: last?.at, saw: last?.saw, timeline, candidates }
}
