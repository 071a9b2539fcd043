/** An item as the server stores it, of which this tab keeps the newest. */
import { type AnswerOf, mayCall } from '../../api/operations.ts'
import { command, queryClient, readKey } from '../../api/queries.ts'
import { boot } from '../../boot.ts'
import type { DraftItem } from './item.ts'

type Change = Omit<Parameters<typeof command<'growth.items.edit'>>[1], 'id'>

export const mayEditItems = (): boolean => mayCall(boot.session.role, 'growth.items.edit')

export const storedItem = (id: string): DraftItem | undefined =>
  queryClient.getQueryData<AnswerOf<'growth.items.get'>>(readKey('growth.items.get', { id }))?.item

export const changeItem = async (item: DraftItem, change: Change): Promise<DraftItem> => {
  const { id } = item
  const answer = await command('growth.items.edit', { id, ...change })
  const now = { ...(storedItem(id) ?? item), ...answer.item }
  queryClient.setQueryData(readKey('growth.items.get', { id }), { item: now })
  return now
}
