/** The drafts of one batch that wait, as they are read for their cards. */
import { useMemo } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { useRead } from '../../api/queries.ts'
import { useStore } from '../../parts/store.ts'
import { firstLineOf } from '../draft/item.ts'
import { hidden } from '../hidden.ts'
import type { SelectedDraft } from '../selection.ts'

type Item = AnswerOf<'growth.items.list'>['items'][number]

export interface BatchCard extends SelectedDraft {
  item: Item
}

/** More than a batch has. */
const EVERY_DRAFT = 100

const cardOf = (item: Item): BatchCard => ({
  id: item.id,
  kind: item.kind === 'article' ? 'article' : 'draft',
  title: firstLineOf(item),
  account: item.posting_account,
  content_hash: item.content_hash,
  item,
})

/** In the order of the inbox: the oldest first. `id` undefined: no batch is looked at. */
export const useBatch = (id: string | undefined) => {
  const read = useRead(
    'growth.items.list',
    { status: 'drafted', limit: EVERY_DRAFT, ...(id !== undefined && { batch_id: id }) },
    { enabled: id !== undefined },
  )
  const gone = useStore(hidden)
  const items = read.data?.items
  const cards = useMemo(
    () =>
      (items ?? [])
        .filter((item) => !gone.has(item.id))
        .map(cardOf)
        .reverse(),
    [items, gone],
  )
  return id === undefined ? undefined : { id, read, cards }
}

export type ShownBatch = NonNullable<ReturnType<typeof useBatch>>
