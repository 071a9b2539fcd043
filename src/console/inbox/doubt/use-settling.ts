/** The answers that a person can give to a doubt. */
import { errorWords } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command, queryClient } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { hrefOf } from '../../router/paths.ts'
import { navigate } from '../../router/router.tsx'
import { enact, type ListDecision } from '../decide.ts'
import { markAsSent } from '../it-is-there.tsx'
import { sentWords } from '../sent-words.ts'
import type { Doubtful } from './doubtful.ts'

type Posted = AnswerOf<'growth.items.postNow'>

const afterwards: Partial<Record<Posted['item']['status'], string>> = {
  posted: 'It is on the network',
  ...sentWords,
  approved: 'It is approved, and was not sent yet',
}

const writeAnew = async (id: string): Promise<void> => {
  try {
    const { item } = await command('growth.items.duplicate', { id })
    await queryClient.invalidateQueries()
    navigate(hrefOf('entry', { kind: item.kind === 'article' ? 'article' : 'draft', id: item.id }))
    notify({ says: 'This is a new draft; the one in doubt stays' })
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
}

export const useSettling = ({ id, record, about }: Doubtful, next: () => void) => {
  const begin = <A>(decision: Pick<ListDecision<A>, 'says' | 'act' | 'check'>): void => {
    next()
    void enact({ ...decision, id, about })
  }
  return {
    isThere: (url: string | undefined) => begin(markAsSent(record, id, url)),
    postAgain: () =>
      begin({
        says: 'Read again',
        act: () => command('growth.items.postNow', { id, confirm: 'post_again', wait: 1 }),
        check: ({ item }: Posted) => afterwards[item.status],
      }),
    notDone: () =>
      begin({
        says: 'Not done; the post is free for another answer',
        act: () => command('growth.engagements.reject', { id }),
      }),
    /** A copy of the post, as a new draft. */
    writeAnew: () => void writeAnew(id),
  }
}

export type DoubtDecisions = ReturnType<typeof useSettling>
