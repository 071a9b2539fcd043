import { itemRecord } from '#contract/records/growth/item'
import type { RecentPost } from '#domain/growth/drafting/draft'
import type { Item, ItemStatus } from '#domain/growth/drafting/item'
import { MOST_DRAFTS } from '#domain/growth/drafting/item-edits'
import { printsOf } from '#domain/growth/drafting/prints'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, type Part, sure } from '../engine/load.ts'
import type { RecordId } from '../engine/next-due.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { authorColumns, authorshipColumns } from './authorship.ts'
import { repeatedBy } from './item-prints.ts'

const items = tableOf(itemRecord)

const accountWhere = (sql: Sql, condition: Fragment): Fragment =>
  sql`(select jsonb_build_object('id', c.id, 'handle', c.handle, 'network', c.network)
    from connection c where ${condition} limit 1)`

/** The default account is looked up once for the statement, since no item appears in that query. */
const postingAccount = (sql: Sql): Fragment => sql`case
  when account_external_id is not null
    then ${accountWhere(sql, sql`c.external_id = item.account_external_id`)}
  when account_id is not null then ${accountWhere(sql, sql`c.id = item.account_id`)}
  else ${accountWhere(sql, sql`c.is_default and c.status = 'connected'`)} end`

/** What the names, counts and records beside an item say of it, wherever it is listed. */
const besideItem = (sql: Sql): Fragment => sql`
  case source_kind when 'arm' then arm
    when 'batch' then (select b.focus from batch b where b.id = source_id)
    when 'article' then (select a.topic from article a where a.id = source_id)
    when 'rule' then (select r.name from rule r where r.id = source_id) end as source_name,
  (select count(*)::int from comment c where c.item_id = item.id) as comments,
  ${postingAccount(sql)} as posting_account,
  case when status = 'drafted' then ${repeatedBy(sql, { prints: sql`item.prints`, itemId: sql`item.id` })} end as repeats,
  case when status = 'drafted' and (revision > 1 or written_by is not null) then (select p.data -> 'writing_dna' -> 'avoid' from profile p) end as avoid`

export const itemColumns = (sql: Sql): Fragment => sql`${items.columns(sql)},
  ${authorshipColumns(sql)}, ${besideItem(sql)},
  case when revision > 1 then (select r.body from revision r where r.record_id = item.id order by r.number limit 1) end as original_body,
  case when status = 'drafted' then (select jsonb_build_object('status', r.status, 'revision', r.revision) from redraft r
    where r.item_id = item.id and r.status <> 'ready' order by r.id desc limit 1) end as redraft,
  case when status = 'posted' then metrics end as metrics,
  case when status = 'publish_unconfirmed' then item_doubt(id, review) end as doubt`

/** What the list of all that waits shows. */
export const waitingItemColumns = (sql: Sql): Fragment =>
  sql`id, kind, status, title, body, hook, length, post_at, source_kind, source_id, revision,
    written_by, created_at, ${authorColumns(sql)}, ${besideItem(sql)}`

export const itemById =
  (id: RecordId): Query<Item> =>
  (sql) =>
    sql`select ${itemColumns(sql)} from item where id = ${id} and status <> 'deleted'`

export const itemPart = (id: RecordId): Part<Item | undefined> =>
  one<Item>(items.times, itemById(id))

/** A deleted item as it will be when it is restored. */
export const deletedItemPart = (id: RecordId): Part<Item | undefined> =>
  mapPart(
    one<Item & { deleted_status: Item['status'] }>(
      items.times,
      (sql) =>
        sql`select ${itemColumns(sql)}, deleted_status from item where id = ${id}
          and status = 'deleted'`,
    ),
    (row) => row && { ...row, status: row.deleted_status },
  )

/** How many drafts there are, counted up to the most that are allowed. */
export const draftCount: Part<number> = mapPart(
  sure(
    one<{ drafts: number }>(
      {},
      (sql) =>
        sql`select count(*)::int as drafts from (select 1 from item where status = 'drafted'
          limit ${MOST_DRAFTS}) counted`,
    ),
  ),
  ({ drafts }) => drafts,
)

export const itemsOfBatch =
  (batchId: string): Query<Item> =>
  (sql) =>
    sql`select ${itemColumns(sql)} from item where batch_id = ${batchId} and status <> 'deleted'
      order by id`

export const itemsOfBatchPart = (batchId: string) => many<Item>(items.times, itemsOfBatch(batchId))

/** Newest first; one more than the limit, so that the caller sees whether there is a next page. */
export const listItems =
  ({ status, limit, after }: Page & { status?: ItemStatus | undefined }): Query<Item> =>
  (sql) =>
    sql`select ${itemColumns(sql)} from item
      where ${status ? sql`status = ${status}` : sql`status <> 'deleted'`}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** The first items of the same list. */
export const newestItems = ({ status, limit }: { status: ItemStatus; limit: number }) =>
  many<Item>(items.times, listItems({ status, limit }))

export const itemCount = (status: ItemStatus) =>
  mapPart(
    sure(
      one<{ total: number }>(
        {},
        (sql) => sql`select count(*)::int as total from item where status = ${status}`,
      ),
    ),
    ({ total }) => total,
  )

/**
 * The newest posts of the last month, in any state, which a new draft must not repeat. It may
 * repeat older posts, and articles.
 */
export const recentItems =
  (limit: number, except?: string): Query<RecentPost> =>
  (sql) =>
    sql`select body, hook from item where kind = 'post'
      and status <> 'deleted' ${except ? sql`and id <> ${except}` : sql``}
      and created_at > now() - interval '30 days' order by id desc limit ${limit}`

export const lockItem = async (sql: Sql, id: string): Promise<Item> =>
  (
    await sql<Item>`select ${itemColumns(sql)} from item where id = ${id} and status <> 'deleted'
      for update`
  )[0] ?? fail('not_found', 'no such item')

export const insertItem = (item: Item): Query => items.insert(item, { prints: printsOf(item.body) })

/** `prints`: the prints of a text that has changed. */
export const saveItem = (item: Item, prints?: readonly number[]): Query =>
  items.save(item, prints && { prints })

/**
 * Deletes an item, whose row stays until it is erased. `item`: as it will be when it is restored.
 */
export const removeItem =
  ({ id, status, proposed_at, approved_hash, account_external_id, updated_at }: Item): Query =>
  (sql) =>
    sql`update item set status = 'deleted', deleted_status = ${status}, deleted_at = ${updated_at},
      proposed_at = ${proposed_at}, post_at = null,
      on_missed = null, approved_hash = ${approved_hash},
        account_external_id = ${account_external_id}, updated_at = ${updated_at} where id = ${id}`

export const restoreItem =
  ({ id, updated_at }: Item): Query =>
  (sql) =>
    sql`update item set status = deleted_status, deleted_status = null, deleted_at = null,
      updated_at = ${updated_at} where id = ${id}`
