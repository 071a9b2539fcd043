/** A draft, and what can be decided about it. */
import { useQueryClient } from '@tanstack/react-query'
import { errorWords } from '../../api/errors.ts'
import type { AnswerOf } from '../../api/operations.ts'
import { command, useRead } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { ReadView } from '../../parts/states.tsx'
import type { PaneProps } from '../pane-props.ts'
import { markOf } from './mark.ts'

type Item = AnswerOf<'growth.items.get'>['item']

const useDecisions = (item: Item | undefined, next: () => void) => {
  const client = useQueryClient()
  const read = () => void client.invalidateQueries()
  const reopen = async (id: string) => {
    await command('growth.items.reopen', { id }).catch((cause) =>
      notify({ says: errorWords(cause), tone: 'bad' }),
    )
    read()
  }
  const decide = async (says: string, act: (item: Item) => Promise<unknown>) => {
    if (!item) return
    next()
    try {
      await act(item)
      notify({ says, about: item.body.split('\n', 1)[0], undo: () => reopen(item.id) })
    } catch (cause) {
      notify({ says: errorWords(cause), tone: 'bad' })
    }
    read()
  }
  return {
    approve: () =>
      void decide('Approved', ({ id, content_hash }) =>
        command('growth.items.approve', { id, expect_hash: content_hash }),
      ),
    reject: () => void decide('Rejected', ({ id }) => command('growth.items.reject', { id })),
  }
}

export const DraftPane = ({ id, next }: PaneProps) => {
  const read = useRead('growth.items.get', { id })
  const item = read.data?.item
  const { approve, reject } = useDecisions(item, next)
  return (
    <>
      <div className="pane-body">
        <ReadView read={read} what="The draft">
          <article className="post">
            <p className="post-text" dir="auto">
              {item?.body}
            </p>
            <p className="post-foot soft">
              <span>{item?.length}</span>
              <span className="mono">{markOf(item?.content_hash)}</span>
            </p>
          </article>
        </ReadView>
      </div>
      <div className="pane-foot">
        <ActionButton calls="growth.items.reject" shortcut="reject" tone="harm" act={reject}>
          Reject
        </ActionButton>
        <ActionButton calls="growth.items.approve" shortcut="approve" tone="go" act={approve}>
          Approve
        </ActionButton>
      </div>
    </>
  )
}
