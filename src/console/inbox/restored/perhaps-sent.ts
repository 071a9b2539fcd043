/** What may have gone out elsewhere, and the answers that people can give. */
import type { AnswerOf } from '../../api/operations.ts'
import { command } from '../../api/queries.ts'
import { whenOf } from '../../parts/when.tsx'
import { enact, type ListDecision } from '../decide.ts'
import type { DraftItem } from '../draft/item.ts'
import { markAsSent } from '../it-is-there.tsx'
import { sentWords } from '../sent-words.ts'

type Engagement = AnswerOf<'growth.engagements.get'>['engagement']

export type AccountSeen = AnswerOf<'growth.items.look'>['look']

export interface PerhapsSent {
  id: string
  record: 'item' | 'engagement'
  text: string
  hash: string | null
  /** The time of the backup or copy. Null: it was decided meanwhile. */
  asOf: string | null
  /** When it is due, if that lies ahead. */
  at: string | undefined
  onMissed: DraftItem['on_missed']
}

const ahead = (at: string | null): string | undefined =>
  at !== null && Date.parse(at) > Date.now() ? at : undefined

export const ofItem = (item: DraftItem): PerhapsSent => ({
  id: item.id,
  record: 'item',
  text: item.body,
  hash: item.content_hash,
  asOf: item.restored_as_of,
  at: ahead(item.post_at),
  onMissed: item.on_missed,
})

export const ofEngagement = (engagement: Engagement): PerhapsSent => ({
  id: engagement.id,
  record: 'engagement',
  text: engagement.body ?? engagement.action,
  hash: engagement.content_hash,
  asOf: engagement.restored_as_of,
  at: undefined,
  onMissed: null,
})

const sawWords: Record<AccountSeen['saw'], string> = {
  it: 'It is there.',
  nothing: 'It is not there.',
  unclear: 'A post is there that may be this one.',
}

/** What a look at the account says about it. */
export const seenWords = ({
  saw,
  complete,
  posts,
}: Pick<AccountSeen, 'saw' | 'complete' | 'posts'>) => {
  if (complete) return sawWords[saw]
  const rest = 'The account could not be read as a whole, so more may stand there.'
  if (saw !== 'nothing') return `${sawWords[saw]} ${rest}`
  return posts.length === 0
    ? 'The network does not say whether it is there.'
    : `It was not found. ${rest}`
}

export const useAnswers = (it: PerhapsSent, next: () => void) => {
  const { id, record, text: about, at, onMissed } = it
  const begin = <A>(decision: Omit<ListDecision<A>, 'id' | 'about'>): void => {
    next()
    void enact({ ...decision, id, about })
  }
  return {
    isThere: (url: string | undefined) => begin(markAsSent(record, id, url)),
    send: () =>
      record === 'item'
        ? begin({
            says: 'Handed to the network',
            act: () => command('growth.items.postNow', { id, wait: 1 }),
            check: ({ item }) => sentWords[item.status],
          })
        : begin({
            says: 'Handed to the network',
            act: () => command('growth.engagements.execute', { id, wait: 1 }),
          }),
    keepTime:
      at === undefined
        ? undefined
        : () =>
            begin({
              says: `It goes out at ${whenOf(at)}`,
              act: () =>
                command('growth.items.schedule', {
                  id,
                  post_at: at,
                  ...(onMissed && { on_missed: onMissed }),
                }),
            }),
    drop: () =>
      record === 'item'
        ? begin({ says: 'It is a draft again', act: () => command('growth.items.reopen', { id }) })
        : begin({
            says: 'It is a draft again',
            act: () => command('growth.engagements.reopen', { id }),
          }),
  }
}

export type Answers = ReturnType<typeof useAnswers>
