import type { RecentPost } from '#domain/growth/drafting/draft'
import type { Item, ItemStatus } from '#domain/growth/drafting/item'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapped, one, type Part, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import type { RecordId } from '../engine/work.ts'

const columns = (
  sql: Sql,
): Fragment => sql`id, batch_id, resurfaced_from, experiment_id, arm, kind, title, status, review, body, format, hook, rationale, stories, learnings, length, post_at,
  on_missed, approved_hash, account_external_id, reject_reason, external_id, url, posted_at, last_error, created_at, updated_at,
  case when status = 'posted' then metrics end as metrics,
  case when status = 'publish_unconfirmed' then item_doubt(id, review) end as doubt`

export const itemById =
  (id: RecordId): Query<Item> =>
  (sql) =>
    sql`select ${columns(sql)} from item where id = ${id}`

const times = { post_at: true, posted_at: true, created_at: true, updated_at: true } as const

export const itemPart = (id: RecordId): Part<Item | undefined> => one<Item>(times, itemById(id))

export const itemsOfBatch =
  (batchId: string): Query<Item> =>
  (sql) =>
    sql`select ${columns(sql)} from item where batch_id = ${batchId} order by id`

export const itemsOfBatchPart = (batchId: string) => many<Item>(times, itemsOfBatch(batchId))

/** Newest first; one more than the limit, so that the caller sees whether there is a next page. */
export const listItems =
  ({ status, limit, after }: Page & { status?: ItemStatus | undefined }): Query<Item> =>
  (sql) =>
    sql`select ${columns(sql)} from item where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** The first items of that list. */
export const newestItems = ({ status, limit }: { status: ItemStatus; limit: number }) => many<Item>(times, listItems({ status, limit }))

export const itemCount = (status: ItemStatus) =>
  mapped(
    sure(one<{ total: number }>({}, (sql) => sql`select count(*)::int as total from item where status = ${status}`)),
    ({ total }) => total,
  )

/** The newest posts of a month, in any state, which a new draft must not repeat. Older posts and articles may be repeated. */
export const recentItems =
  (limit: number): Query<RecentPost> =>
  (sql) =>
    sql`select body, hook from item where kind = 'post' and created_at > now() - interval '30 days' order by id desc limit ${limit}`

export const lockItem = async (sql: Sql, id: string): Promise<Item> =>
  (await sql<Item>`select ${columns(sql)} from item where id = ${id} for update`)[0] ?? fail('not_found', 'no such item')

export const insertItem =
  ({ metrics: _, doubt: __, ...item }: Item): Query =>
  (sql) =>
    sql`insert into item ${sql({ ...item, stories: sql.json(item.stories), learnings: sql.json(item.learnings) })}`

/** Saves everything that can change after drafting. */
export const saveItem =
  ({ id, ...item }: Item): Query =>
  (sql) =>
    sql`update item set status = ${item.status}, review = ${item.review}, body = ${item.body}, title = ${item.title}, length = ${item.length}, post_at = ${item.post_at},
      on_missed = ${item.on_missed}, approved_hash = ${item.approved_hash}, account_external_id = ${item.account_external_id},
      reject_reason = ${item.reject_reason}, external_id = ${item.external_id}, url = ${item.url}, posted_at = ${item.posted_at},
      last_error = ${item.last_error}, updated_at = ${item.updated_at} where id = ${id}`
