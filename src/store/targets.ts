import type { Target, TargetStatus } from '#domain/target'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from './db.ts'
import type { Page } from './items.ts'

const columns = (sql: Sql): Fragment =>
  sql`id, handle, category, priority, status, last_read_at, failures, last_error, reads, reads_micros, created_at, updated_at`

/** Newest first; one more than the limit. */
export const listTargets =
  ({ status, limit, after }: Page & { status?: TargetStatus | undefined }): Query =>
  (sql) =>
    sql`select ${columns(sql)} from target where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** How many there are, and whether one of them has the handle. */
export const otherTargets = async (sql: Sql, handle: string): Promise<{ total: number; taken: boolean }> =>
  (
    await sql<
      { total: number; taken: boolean }[]
    >`select count(*)::int as total, coalesce(bool_or(handle = ${handle}), false) as taken from target`
  )[0]!

export const lockTarget = async (sql: Sql, id: string): Promise<Target> =>
  ((await sql`select ${columns(sql)} from target where id = ${id} for update`)[0] as Target | undefined) ??
  fail('not_found', 'no such target')

export const insertTarget =
  (target: Target): Query =>
  (sql) =>
    sql`insert into target ${sql(target as never)}`

export const saveTarget =
  ({ id, ...target }: Target): Query =>
  (sql) =>
    sql`update target set category = ${target.category}, priority = ${target.priority}, status = ${target.status},
      last_read_at = ${target.last_read_at}, failures = ${target.failures}, last_error = ${target.last_error},
      reads = ${target.reads}, reads_micros = ${target.reads_micros}, updated_at = ${target.updated_at} where id = ${id}`
