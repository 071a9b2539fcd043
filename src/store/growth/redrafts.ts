import type { Redraft } from '#domain/growth/drafting/redraft'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, sure } from '../engine/load.ts'

const columns = (sql: Sql): Fragment =>
  sql`id, item_id, revision, hint, status, error, model, usage, created_at, updated_at`

/** Whether the item is being written again. */
export const isRedrafted = (itemId: string) =>
  mapPart(
    sure(
      one<{ open: boolean }>(
        {},
        (sql) =>
          sql`select exists (select 1 from redraft where item_id = ${itemId}
            and status in ('queued', 'generating')) as open`,
      ),
    ),
    ({ open }) => open,
  )

export const lockRedraft = async (sql: Sql, id: string): Promise<Redraft> =>
  (await sql<Redraft>`select ${columns(sql)} from redraft where id = ${id} for update`)[0] ??
  fail('not_found', 'no such redraft')

export const insertRedraft =
  (redraft: Redraft): Query =>
  (sql) =>
    sql`insert into redraft ${sql({ ...redraft, usage: null })}`

export const saveRedraft =
  ({ id, status, error, model, usage, updated_at }: Redraft): Query =>
  (sql) =>
    sql`update redraft set status = ${status}, error = ${error}, model = ${model},
      usage = ${usage ? sql.json(usage) : null},
      updated_at = ${updated_at} where id = ${id}`

/** Notes on the item why it was not written again, unless the item has changed since. */
export const tellRedraftFailed =
  ({ item_id, revision, error, updated_at }: Redraft): Query =>
  (sql) =>
    sql`update item set last_error = ${error}, updated_at = ${updated_at}
      where id = ${item_id} and status = 'drafted' and revision = ${revision}`
