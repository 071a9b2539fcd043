import { targetRecord } from '#contract/records/growth/target'
import type { Target, TargetStatus } from '#domain/growth/learning/target'
import { fail } from '#kernel/errors'
import { type PlanRow, planOfWorkspace } from '../app/workspace.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { isWorkOf } from '../engine/work.ts'
import { defaultConnection } from './connections.ts'

const table = tableOf(targetRecord)
const { columns } = table

/** A target, with what decides when it is read: its due time and the state of the workspace. */
export interface WatchedTarget extends Target, PlanRow {
  due_at: Date | null
  paused: boolean
  /** The network of the default account. */
  network: string | null
}

/**
 * The rest of a select of these targets, newest first, which adds what decides when they are read.
 */
const watchedTargets = (sql: Sql, targets: Fragment): Fragment =>
  sql`t.*, (select w.run_at from work w where ${isWorkOf(sql, 'watch', sql`t.id`)}) as due_at, p.*,
        (select paused from actor) as paused, (select network
          from (${defaultConnection(sql)}) c) as network
      from (${targets}) t cross join (${planOfWorkspace(sql)}) p order by t.id desc`

/** Newest first; one more than the limit. */
export const listTargets =
  ({ status, limit, after }: Page & { status?: TargetStatus | undefined }): Query<WatchedTarget> =>
  (sql) => {
    const targets = sql`select ${columns(sql)} from target
      where true ${status ? sql`and status = ${status}` : sql``}
      ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`
    return sql`select ${watchedTargets(sql, targets)}`
  }

export const targetById =
  (id: string): Query<WatchedTarget> =>
  (sql) =>
    sql`select ${watchedTargets(sql, sql`select ${columns(sql)} from target where id = ${id}`)}`

/**
 * The error of a read without an account. `disconnected` means that the network stopped accepting
 * the account.
 */
export const NOT_CONNECTED = 'x_not_connected'
const FOR_WANT_OF_ACCOUNT = [NOT_CONNECTED, 'disconnected']

/** Queued work of targets whose last read had no account. */
export const watchesWithoutAccount = async (sql: Sql): Promise<{ id: string }[]> =>
  await sql<{
    id: string
  }>`select w.id from (select id from target where status = 'active'
    and last_error = any(${FOR_WANT_OF_ACCOUNT})) t
    join work w on ${isWorkOf(sql, 'watch', sql`t.id`)} and w.state = 'queued'`

/** How many targets there are, and whether one has this handle. */
export const otherTargets = (handle: string) =>
  sure(
    one<{ total: number; taken: boolean }>(
      {},
      (sql) =>
        sql`select count(*)::int as total, coalesce(bool_or(handle = ${handle}), false) as taken
          from target`,
    ),
  )

/** The active target with this handle, and the work of its next read. */
export const watchOf = (handle: string) =>
  one<{ id: string; work_id: string; state: string }>(
    {},
    (sql) => sql`select t.id, w.id as work_id, w.state from target t
      join work w on ${isWorkOf(sql, 'watch', sql`t.id`)}
      where t.handle = ${handle} and t.status = 'active'`,
  )

const byId =
  (id: string): Query<Target> =>
  (sql) =>
    sql`select ${columns(sql)} from target where id = ${id}`

export const targetPart = (id: string) => one<Target>(table.times, byId(id))

export const lockTarget = async (sql: Sql, id: string): Promise<Target> =>
  (await sql<Target>`select ${columns(sql)} from target where id = ${id} for update`)[0] ??
  fail('not_found', 'no such target')

export const { insert: insertTarget, save: saveTarget } = table

export const deleteTarget =
  (id: string): Query =>
  (sql) =>
    sql`delete from target where id = ${id}`
