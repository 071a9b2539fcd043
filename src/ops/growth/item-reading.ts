import type { itemReading } from '#contract/growth/item-reading'
import { itemView } from '#domain/growth/drafting/item-view'
import { found } from '#kernel/errors'
import { loadBy } from '#store/engine/load'
import { itemPart } from '#store/growth/items'
import { wayParts } from '#store/growth/ways'
import type { Handlers } from '../engine/call.ts'
import { wayView } from './shared/way.ts'

export const itemReadingHandlers: Handlers<Omit<typeof itemReading, 'look'>> = {
  async get({ id }, { read }) {
    const parts = { item: itemPart(id), ...wayParts({ sendable: 'post', record_id: id }) }
    const { item, ...way } = await loadBy(read, parts)
    return { item: { ...itemView(found(item, 'no such item')), ...wayView(way) } }
  },
}
