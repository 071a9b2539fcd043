/** What a team says about its items. */
import { commentRecord } from '#contract/records/growth/comment'
import type { Comment } from '#domain/growth/drafting/comment'
import { type NamedAuthor, namedAuthor } from '../app/names.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(commentRecord)

interface ListedComment extends Omit<Comment, 'written_by'> {
  written_by: NamedAuthor
}

const columns = (sql: Sql): Fragment =>
  sql`id, item_id, kind, body, ${namedAuthor(sql, sql`written_by`)} as written_by, created_at`

/** Newest first; one more than the limit, so that the caller sees whether there is a next page. */
export const commentsOfItem = (itemId: string, { limit, after }: Page) =>
  many<ListedComment>(
    table.times,
    (sql) => sql`select ${columns(sql)} from comment
      where item_id = ${itemId} ${after ? sql`and id < ${after}` : sql``} order by id desc
        limit ${limit + 1}`,
  )

export const commentCount = (itemId: string) =>
  mapPart(
    sure(
      one<{ total: number }>(
        {},
        (sql) => sql`select count(*)::int as total from comment where item_id = ${itemId}`,
      ),
    ),
    ({ total }) => total,
  )

export const commentPart = (itemId: string, id: string) =>
  one<ListedComment>(
    table.times,
    (sql) => sql`select ${columns(sql)} from comment where id = ${id} and item_id = ${itemId}`,
  )

/** The newest reason of a rejection of the item. */
export const newestRejection = (itemId: string) =>
  one<Pick<Comment, 'id' | 'created_at'>>(
    { created_at: true },
    (sql) => sql`select id, created_at from comment where item_id = ${itemId}
      and kind = 'rejection' order by created_at desc limit 1`,
  )

export const { insert: insertComment } = table

export const deleteComment =
  (id: string): Query =>
  (sql) =>
    sql`delete from comment where id = ${id}`
