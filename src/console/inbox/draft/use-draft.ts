/** The text of a draft as it is edited: what is typed, kept in this browser, and saved. */
import { ApiError } from '../../api/errors.ts'
import { queryClient, readKey } from '../../api/queries.ts'
import { type Saving, useSaving } from '../../typed/use-saving.ts'
import { type TypedOver, useTypedOver } from '../../typed/use-typed-over.ts'
import type { DraftItem } from './item.ts'
import { changeItem, mayEditItems } from './stored-item.ts'

export interface EditedDraft extends TypedOver, Saving<DraftItem> {
  item: DraftItem
  mayEdit: boolean
}

const store = async (item: DraftItem, body: string, revision: number): Promise<DraftItem> => {
  try {
    return await changeItem(item, { body, revision })
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409)
      await queryClient.invalidateQueries({
        queryKey: readKey('growth.items.get', { id: item.id }),
      })
    throw cause
  }
}

export const useDraft = (item: DraftItem): EditedDraft => {
  const edited = useTypedOver(`draft:${item.id}`, item)
  const saving = useSaving(edited, (text, base) => store(item, text, base))
  return {
    ...edited,
    ...saving,
    item,
    mayEdit: mayEditItems() && item.status === 'drafted',
  }
}
