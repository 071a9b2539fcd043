import type { itemReading } from '#contract/growth/item-reading'
import { itemView } from '#domain/growth/drafting/item-view'
import { found } from '#kernel/errors'
import { itemById } from '#store/growth/items'
import type { Handlers } from '../call.ts'

export const itemReadingHandlers: Handlers<typeof itemReading> = {
  async get({ id }, { read }) {
    const [item] = await read(itemById(id))
    return { item: itemView(found(item, 'no such item')) }
  },
}
