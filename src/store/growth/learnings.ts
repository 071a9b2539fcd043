import { learningRecord } from '#contract/records/growth/learning'
import type { BriefLearning } from '#domain/growth/drafting/draft'
import type { Learning, LearningStatus } from '#domain/growth/learning/learning'
import type { Query } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(learningRecord)
const { columns, times } = table

/** The newest active learnings. */
export const activeLearnings =
  (limit: number): Query<BriefLearning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where status = 'active' order by id desc
      limit ${limit}`

export const listLearnings =
  ({
    status,
    kind,
    limit,
    after,
  }: Page & {
    status?: LearningStatus | undefined
    kind?: Learning['kind'] | undefined
  }): Query<Learning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where true
      ${status ? sql`and status = ${status}` : sql``}
        ${kind ? sql`and kind = ${kind}` : sql``} ${after ? sql`and id < ${after}` : sql``}
          order by id desc limit ${limit + 1}`

/** The newest active learnings, one more than the limit. */
export const newestActive = (limit: number) =>
  many<Learning>(times, listLearnings({ status: 'active', limit }))

export const activeCount = sure(
  one<{ active: number }>(
    {},
    (sql) => sql`select count(*)::int as active from learning where status = 'active'`,
  ),
)

export const learningById =
  (id: string): Query<Learning> =>
  (sql) =>
    sql`select ${columns(sql)} from learning where id = ${id}`

export const learningPart = (id: string) => one<Learning>(times, learningById(id))

export const { insert: insertLearning, save: saveLearning } = table

export const deleteLearning =
  (id: string): Query =>
  (sql) =>
    sql`delete from learning where id = ${id}`
