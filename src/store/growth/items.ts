import { itemRecord } from '#contract/records/growth/item'
import type { RecentPost } from '#domain/growth/drafting/draft'
import type { Item, ItemStatus } from '#domain/growth/drafting/item'
import { MOST_DRAFTS } from '#domain/growth/drafting/item-edits'
import { printsOf } from '#domain/growth/drafting/prints'
import { type DraftedText, MOST_WEIGHED } from '#domain/growth/sending/account-fit'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, type Part, sure } from '../engine/load.ts'
import type { RecordId } from '../engine/next-due.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import {
  authorNames,
  complete,
  namesOfPage,
  type OnPage,
  type PageParts,
  selectPage,
} from './authorship.ts'
import { mayRepeat } from './item-prints.ts'

const items = tableOf(itemRecord)

const account = (sql: Sql, condition: Fragment): Fragment =>
  sql`(select jsonb_build_object('id', c.id, 'handle', c.handle, 'network', c.network)
    from connection c where ${condition} limit 1)`

const defaultAccount = (sql: Sql): Fragment =>
  account(sql, sql`c.is_default and c.status = 'connected'`)

/** The account of its approval, or else the chosen one; `otherwise`, if it has neither. */
const postingAccount = (sql: Sql, otherwise: Fragment): Fragment =>
  sql`case when account_external_id is null and account_id is null then ${otherwise} else ${account(
    sql,
    sql`case when item.account_external_id is not null
      then c.external_id = item.account_external_id else c.id = item.account_id end`,
  )} end as posting_account`

/** Phrases that the profile avoids, of which texts of people are warned. */
const avoided = (sql: Sql): Fragment =>
  sql`(select p.data -> 'writing_dna' -> 'avoid' from profile p)`

const besideItem = (sql: Sql): Fragment => sql`
  case source_kind when 'arm' then arm
    when 'batch' then (select b.focus from batch b where b.id = source_id)
    when 'article' then (select a.topic from article a where a.id = source_id)
    when 'rule' then (select r.name from rule r where r.id = source_id) end as source_name,
  comments,
  case when status = 'drafted'
    then ${mayRepeat(sql, { prints: sql`item.prints`, itemId: sql`item.id` })} end as repeats`

const anyItemColumns = (sql: Sql): Fragment => sql`${items.columns(sql)}, ${besideItem(sql)},
  case when revision > 1 then (select r.body from revision r where r.record_id = item.id order by r.number limit 1) end as original_body,
  redraft,
  case when status = 'posted' then metrics end as metrics,
  case when status = 'publish_unconfirmed' then item_doubt(id, review) end as doubt`

/** The columns of an item that is read alone. */
const itemColumns = (sql: Sql): Fragment => sql`${anyItemColumns(sql)},
  ${authorNames(sql)}, ${postingAccount(sql, defaultAccount(sql))},
  case when status = 'drafted' and (revision > 1 or written_by is not null)
    then ${avoided(sql)} end as avoid`

type Shared = Pick<Item, 'names' | 'avoid'> & { account: Item['posting_account'] }

/** An item of a page, which `itemPage` completes. */
export type PagedItem = OnPage<Item, Shared>

const pageOfItems = <Row>(sql: Sql, page: PageParts): Fragment<Row> =>
  selectPage<Row>(sql, 'item', {
    ...page,
    columns: sql`${page.columns}, ${postingAccount(sql, sql`null`)}`,
    shared: sql`jsonb_build_object('names', ${namesOfPage(sql, 'item')},
      'avoid', ${avoided(sql)}, 'account', ${defaultAccount(sql)})`,
  })

/** `more`: further columns. */
export const itemsOfPage = <Row extends PagedItem>(
  sql: Sql,
  { rows, more = sql``, sort }: { rows: Fragment; more?: Fragment; sort: Fragment },
): Fragment<Row> =>
  pageOfItems<Row>(sql, {
    rows,
    columns: sql`${anyItemColumns(sql)} ${more}`,
    end: sql`order by ${sort}`,
  })

/** What the list of all that waits shows of items. */
export const waitingItems = (
  sql: Sql,
  { where, columns, join }: Record<'where' | 'columns' | 'join', Fragment>,
): Fragment =>
  pageOfItems(sql, {
    rows: sql`select * from item where ${where}`,
    columns: sql`id, kind, status, title, body, marks, hook, length, post_at, source_kind, source_id,
      revision, written_by, account_external_id, account_id, created_at, ${besideItem(sql)},
      ${columns}`,
    end: join,
  })

/** Completes the items of a page. */
export const itemPage = <
  Row extends OnPage<Pick<Item, 'account_external_id' | 'account_id' | 'posting_account'>, Shared>,
>(
  rows: Row[],
): Row[] =>
  complete(rows, ({ names, avoid, account: shared }: Shared, row: Row) => ({
    names,
    avoid,
    posting_account:
      row.account_external_id === null && row.account_id === null ? shared : row.posting_account,
  }))

export const itemById =
  (id: RecordId): Query<Item> =>
  (sql) =>
    sql`select ${itemColumns(sql)} from item where id = ${id} and status <> 'deleted'`

export const itemPart = (id: RecordId): Part<Item | undefined> =>
  one<Item>(items.times, itemById(id))

export const keptMarksPart = (id: RecordId): Part<Pick<Item, 'marks'> | undefined> =>
  one<Pick<Item, 'marks'>>(
    {},
    (sql) => sql`select marks from item where id = ${id} and status = 'drafted'`,
  )

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
  (batchId: string): Query<PagedItem> =>
  (sql) =>
    itemsOfPage(sql, {
      rows: sql`select * from item where batch_id = ${batchId} and status <> 'deleted'`,
      sort: sql`id`,
    })

export const itemsOfBatchPart = (batchId: string) =>
  mapPart(many<PagedItem>(items.times, itemsOfBatch(batchId)), itemPage)

/** Newest first; one more than the limit, so that the caller sees whether there is a next page. */
export const listItems =
  ({ status, limit, after }: Page & { status?: ItemStatus | undefined }): Query<PagedItem> =>
  (sql) =>
    itemsOfPage(sql, {
      rows: sql`select * from item
        where ${status ? sql`status = ${status}` : sql`status <> 'deleted'`}
          ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`,
      sort: sql`id desc`,
    })

/** Newest first. */
export const draftsBefore = (before: string | null, limit: number) =>
  mapPart(
    many<PagedItem>(items.times, (sql) =>
      itemsOfPage(sql, {
        rows: sql`select * from item where status = 'drafted'
          ${before ? sql`and id < ${before}` : sql``} order by id desc limit ${limit}`,
        sort: sql`id desc`,
      }),
    ),
    itemPage,
  )

/** The first items of the same list. */
export const newestItems = ({ status, limit }: { status: ItemStatus; limit: number }) =>
  mapPart(many<PagedItem>(items.times, listItems({ status, limit })), itemPage)

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

/** The newest drafts, with the beginnings of their texts. */
export const newestDrafts = (limit: number) =>
  many<DraftedText>(
    {},
    (sql) =>
      sql`select id, kind, left(body, ${MOST_WEIGHED}) as body from item where status = 'drafted'
        order by id desc limit ${limit}`,
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
