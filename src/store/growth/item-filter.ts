/** What a list requires of each item, as parts of a statement. */
import type { Item, ItemStatus } from '#domain/growth/drafting/item'
import type { Fragment, Sql } from '../engine/db.ts'
import { allShelves, type Shelf, type SoughtWords, shelfOf } from './item-search.ts'

/**
 * `state`: by the time that counts for the item's state. `created` and `state` start with the
 * newest, `post_at` with the soonest.
 */
export type ItemOrder = 'created' | 'state' | 'post_at' | 'posted_at'

/** What all items of a list have in common. */
export interface ItemFilter {
  /** `scheduled`: approved, with a post time. */
  statuses?: readonly (ItemStatus | 'scheduled')[] | undefined
  kind?: Item['kind'] | undefined
  batchId?: string | undefined
  experimentId?: string | undefined
  /** Only what may have gone out elsewhere since a backup or copy. */
  restored?: boolean | undefined
  /** The connection that sends it. */
  accountId?: string | undefined
  /**
   * Every item has all of these words. Never empty. A shelf that is missing here has no such item.
   */
  words?: SoughtWords | undefined
  /** Inclusive. Applies to the time by which the list is sorted. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
  order: ItemOrder
}

/**
 * Whether the list is in the order of ids, which is that of creation. A list for part of the
 * calendar is found by the time itself.
 */
export const isById = ({ order, from, to }: Pick<ItemFilter, 'order' | 'from' | 'to'>): boolean =>
  order === 'created' && !from && !to

/** Whether the list has no filter other than a single state. `listItems` reads such a list. */
export const isPlain = (
  filter: ItemFilter,
): filter is ItemFilter & { statuses?: readonly [ItemStatus] } => {
  const { statuses = [], words, from, to } = filter
  const { kind, batchId, experimentId, restored, accountId } = filter
  return (
    isById(filter) &&
    statuses.length < 2 &&
    statuses[0] !== 'scheduled' &&
    ![kind, batchId, experimentId, restored, accountId, words, from, to].some(Boolean)
  )
}

export const allStatuses: readonly ItemStatus[] = [
  ...([
    'drafted',
    'approved',
    'publishing',
    'posted',
    'rejected',
    'publish_failed',
    'publish_unconfirmed',
  ] as const),
]

const timeOf = (sql: Sql, order: ItemOrder): Fragment =>
  ({
    created: sql`i.created_at`,
    state: sql`i.at`,
    post_at: sql`i.post_at`,
    posted_at: sql`i.posted_at`,
  })[order]

/** What an order requires of each item. */
const orderable = (sql: Sql, order: ItemOrder): Fragment => {
  if (order === 'post_at') return sql`and i.post_at is not null`
  return order === 'posted_at' ? sql`and i.status = 'posted'` : sql``
}

export const ofStatus = (sql: Sql, status: ItemStatus | 'scheduled'): Fragment =>
  status === 'scheduled'
    ? sql`i.status = 'approved' and i.post_at is not null`
    : sql`i.status = ${status}`

/**
 * The items that an account sends: those bound to it, those for which it was chosen, and those left
 * to it as the default. Each of these three parts has an index.
 */
export const ofAccount = (sql: Sql, id: string): Fragment[] => [
  sql`i.account_external_id = (select c.external_id from connection c where c.id = ${id})`,
  sql`i.account_external_id is null and i.account_id = (select c.id from connection c
    where c.id = ${id})`,
  sql`i.account_external_id is null and i.account_id is null
    and (select c.is_default and c.status = 'connected' from connection c where c.id = ${id})`,
]

/** The shelves on which a list could find words. */
export const shelvesOf = ({ statuses, order }: Pick<ItemFilter, 'statuses' | 'order'>): Shelf[] =>
  allShelves.filter(
    (shelf) =>
      (order !== 'posted_at' || shelf === 'posted') &&
      (!statuses || statuses.some((status) => shelfOf(status) === shelf)),
  )

/** What a list is sorted by, as columns of the table that it is read from. */
export interface Key {
  time: Fragment
  id: Fragment
}
export const itemKey = (sql: Sql, order: ItemOrder): Key => ({
  time: timeOf(sql, order),
  id: sql`i.id`,
})
export const wordKey = (sql: Sql): Key => ({ time: sql`w.at`, id: sql`w.item_id` })

export const withinTimes = (sql: Sql, { from, to }: ItemFilter, { time }: Key): Fragment =>
  sql`${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}`

/**
 * Articles have an index of their own, but Postgres only uses it if the kind is not a parameter.
 */
export const ofKind = (sql: Sql, kind: Item['kind']): Fragment =>
  kind === 'article' ? sql`and i.kind = 'article'` : sql`and i.kind = ${kind}`

export const conditions = (sql: Sql, filter: ItemFilter): Fragment => {
  const { kind, batchId, experimentId, restored } = filter
  return sql`${orderable(sql, filter.order)} ${withinTimes(sql, filter, itemKey(sql, filter.order))}
    ${kind ? ofKind(sql, kind) : sql``}
    ${restored ? sql`and i.restored_as_of is not null` : sql``}
    ${batchId ? sql`and i.batch_id = ${batchId}` : sql``} ${
      experimentId
        ? sql`and i.experiment_id =
      ${experimentId}`
        : sql``
    }`
}

export const anyOf = (sql: Sql, parts: Fragment[]): Fragment =>
  sql`(${parts.map((part, index) => sql`${index === 0 ? sql`` : sql`or`} (${part})`)})`
