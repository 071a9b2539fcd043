import type { Learning, LearningStatus } from '#domain/growth/learning/learning'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

const columns = (sql: Sql): Fragment => sql`id, kind, note, status, audit_id, evidence, created_at, updated_at`

/** The newest active learnings. */
export const activeLearnings =
  (limit: number): Query =>
  (sql) =>
    sql`select ${columns(sql)} from learning where status = 'active' order by id desc limit ${limit}`

/** The newest active learnings, one more than the limit, each with the total count. */
export const activeLearningsOfAll =
  (limit: number): Query =>
  (sql) =>
    sql`select ${columns(sql)}, (select count(*)::int from learning where status = 'active') as total
      from learning where status = 'active' order by id desc limit ${limit + 1}`

export const listLearnings =
  ({ status, kind, limit, after }: Page & { status?: LearningStatus | undefined; kind?: Learning['kind'] | undefined }): Query =>
  (sql) =>
    sql`select ${columns(sql)} from learning where true ${status ? sql`and status = ${status}` : sql``}
        ${kind ? sql`and kind = ${kind}` : sql``} ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

export const countActiveLearnings = async (sql: Sql): Promise<number> =>
  ((await sql`select count(*)::int as active from learning where status = 'active'`)[0] as { active: number }).active

export const lockLearning = async (sql: Sql, id: string): Promise<Learning> =>
  ((await sql`select ${columns(sql)} from learning where id = ${id} for update`)[0] as Learning | undefined) ??
  fail('not_found', 'no such learning')

export const insertLearning =
  (learning: Learning): Query =>
  (sql) =>
    sql`insert into learning ${sql({ ...learning, evidence: sql.json(learning.evidence) } as never)}`

export const saveLearning =
  ({ id, status, updated_at }: Learning): Query =>
  (sql) =>
    sql`update learning set status = ${status}, updated_at = ${updated_at} where id = ${id}`
