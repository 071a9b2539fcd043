import type { BriefLearning } from '#domain/growth/drafting/draft'
import type { Learning, LearningStatus } from '#domain/growth/learning/learning'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

const columns = (sql: Sql): Fragment => sql`id, kind, note, untrusted, status, audit_id, evidence, created_at, updated_at`

/** The newest active learnings. */
export const activeLearnings =
  (limit: number): Query<BriefLearning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where status = 'active' order by id desc limit ${limit}`

export const listLearnings =
  ({ status, kind, limit, after }: Page & { status?: LearningStatus | undefined; kind?: Learning['kind'] | undefined }): Query<Learning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where true ${status ? sql`and status = ${status}` : sql``}
        ${kind ? sql`and kind = ${kind}` : sql``} ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

const times = { created_at: true, updated_at: true } as const

/** The newest active learnings, one more than the limit. */
export const newestActive = (limit: number) => many<Learning>(times, listLearnings({ status: 'active', limit }))

export const activeCount = sure(
  one<{ active: number }>({}, (sql) => sql`select count(*)::int as active from learning where status = 'active'`),
)

export const learningById =
  (id: string): Query<Learning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where id = ${id}`

export const learningPart = (id: string) => one<Learning>(times, learningById(id))

export const insertLearning =
  (learning: Learning): Query =>
  (sql) =>
    sql`insert into learning ${sql({ ...learning, evidence: sql.json(learning.evidence) })}`

export const saveLearning =
  ({ id, status, updated_at }: Learning): Query =>
  (sql) =>
    sql`update learning set status = ${status}, updated_at = ${updated_at} where id = ${id}`

export const deleteLearning =
  (id: string): Query =>
  (sql) =>
    sql`delete from learning where id = ${id}`
