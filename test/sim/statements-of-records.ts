/** The statements on items and engagements, over the tables in memory. */
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { kept, type Memory, type Write } from './memory.ts'
import { part } from './work.ts'

const keptItems = kept<Item>(
  (memory) => memory.items,
  ({ changes }) => changes.items,
)
const keptEngagements = kept<Engagement>(
  (memory) => memory.engagements,
  ({ changes }) => changes.engagements,
)
const itemPart = (id: string) =>
  part((memory) => (memory.deleted.has(id) ? undefined : memory.items.get(id)))
const engagementPart = (id: string) =>
  part((memory) => (memory.deleted.has(id) ? undefined : memory.engagements.get(id)))
const isSaved = (record: Item | Engagement, deletes: boolean) => (): Write => {
  const { row, change } =
    'action' in record ? keptEngagements.save(record)() : keptItems.save(record)()
  return {
    row,
    change(memory) {
      memory.deleted[deletes ? 'add' : 'delete'](record.id)
      change(memory)
    },
  }
}

export const items = {
  itemPart,
  lockItem: (memory: Memory, id: string) =>
    keptItems.lock(memory, memory.deleted.has(id) ? 'none' : id),
  saveItem: keptItems.save,
  deletedItemPart: (id: string) =>
    part((memory) => (memory.deleted.has(id) ? memory.items.get(id) : undefined)),
  removeItem: (item: Item) => isSaved({ ...item, post_at: null, on_missed: null }, true),
  restoreItem: (item: Item) => isSaved(item, false),
}

export const engagements = {
  engagementPart,
  lockEngagement: (memory: Memory, id: string) =>
    keptEngagements.lock(memory, memory.deleted.has(id) ? 'none' : id),
  saveEngagement: keptEngagements.save,
  deletedEngagementPart: (id: string) =>
    part((memory) => (memory.deleted.has(id) ? memory.engagements.get(id) : undefined)),
  removeEngagement: (engagement: Engagement) => isSaved(engagement, true),
  restoreEngagement: (engagement: Engagement) => isSaved(engagement, false),
  // Each is the only one of its action on its post.
  otherEngagement: () => part(() => undefined),
}
