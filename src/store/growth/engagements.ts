import { engagementRecord } from '#contract/records/growth/engagement'
import type { EngageAction, Engagement, EngagementStatus } from '#domain/growth/drafting/engagement'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, type Part } from '../engine/load.ts'
import type { RecordId } from '../engine/next-due.ts'
import { inPeriod, type Page, type Period } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import {
  authorNames,
  complete,
  namesOfPage,
  type OnPage,
  type PageParts,
  selectPage,
} from './authorship.ts'

const table = tableOf(engagementRecord)
const { times } = table

const sourceName = (sql: Sql): Fragment =>
  sql`case source_kind when 'rule' then (select r.name from rule r where r.id = source_id) end
    as source_name`

const columnsBesideNames = (sql: Sql): Fragment => sql`${table.columns(sql)}, ${sourceName(sql)},
  case when revision > 1 then (select r.body from revision r where r.record_id = engagement.id
    order by r.number limit 1) end as original_body`

const engagementColumns = (sql: Sql): Fragment =>
  sql`${columnsBesideNames(sql)}, ${authorNames(sql)}`

type Shared = Pick<Engagement, 'names'>

/** An engagement of a page, which `engagementPage` completes. */
type PagedEngagement = OnPage<Engagement, Shared>

const pageOfEngagements = <Row>(sql: Sql, page: PageParts): Fragment<Row> =>
  selectPage<Row>(sql, 'engagement', {
    ...page,
    shared: sql`jsonb_build_object('names', ${namesOfPage(sql, 'engagement')})`,
  })

export const engagementPage = <Row extends OnPage<object, Shared>>(rows: Row[]): Row[] =>
  complete(rows, ({ names }: Shared) => ({ names }))

/** What the list of all that waits shows of engagements. */
export const waitingEngagements = (
  sql: Sql,
  { where, columns, join }: Record<'where' | 'columns' | 'join', Fragment>,
): Fragment =>
  pageOfEngagements(sql, {
    rows: sql`select * from engagement where ${where}`,
    columns: sql`id, action, status, network, post_author, post_text, body, source_kind, source_id,
      revision, written_by, created_at, ${sourceName(sql)}, ${columns}`,
    end: join,
  })

export const engagementById =
  (id: RecordId): Query<Engagement> =>
  (sql) =>
    sql`select ${engagementColumns(sql)} from engagement where id = ${id} and status <> 'deleted'`

export const engagementPart = (id: RecordId): Part<Engagement | undefined> =>
  one<Engagement>(times, engagementById(id))

/** A deleted engagement, as it will be when it is restored. */
export const deletedEngagementPart = (id: string): Part<Engagement | undefined> =>
  mapPart(
    one<Engagement & { deleted_status: EngagementStatus }>(
      times,
      (sql) =>
        sql`select ${engagementColumns(sql)}, deleted_status from engagement where id = ${id}
          and status = 'deleted'`,
    ),
    (row) => {
      if (!row) return undefined
      const { deleted_status: status, ...engagement } = row
      return { ...engagement, status }
    },
  )

interface EngagementsPage extends Page, Period {
  statuses?: EngagementStatus[] | undefined
  action?: EngageAction | undefined
  signalId?: string | undefined
  restored?: boolean | undefined
}

/** Newest first; one more than the limit. */
export const listEngagements =
  ({
    statuses,
    action,
    signalId,
    restored,
    limit,
    after,
    ...period
  }: EngagementsPage): Query<PagedEngagement> =>
  (sql) =>
    pageOfEngagements(sql, {
      rows: sql`select * from engagement
        where ${statuses ? sql`status = any(${statuses})` : sql`status <> 'deleted'`}
          ${action ? sql`and action = ${action}` : sql``}
          ${signalId ? sql`and signal_id = ${signalId}` : sql``}
          ${restored ? sql`and restored_as_of is not null` : sql``}
          ${inPeriod(sql, sql`created_at`, period)} ${after ? sql`and id < ${after}` : sql``}
        order by id desc limit ${limit + 1}`,
      columns: columnsBesideNames(sql),
      end: sql`order by id desc`,
    })

export const lockEngagement = async (sql: Sql, id: string): Promise<Engagement> =>
  (
    await sql<Engagement>`select ${engagementColumns(sql)} from engagement where id = ${id}
      and status <> 'deleted' for update`
  )[0] ?? fail('not_found', 'no such engagement')

interface OnPost {
  network: string
  postId: string
  action: EngageAction
}

const isOpen = (sql: Sql): Fragment => sql`e.status not in ('rejected', 'failed', 'deleted')`

type Other = Pick<Engagement, 'id' | 'status'>

/** The open or executed engagement of this action on this post. */
export const engagementOn = ({ network, postId, action }: OnPost) =>
  one<Other>(
    {},
    (sql) => sql`select e.id, e.status from engagement e
      where e.network = ${network} and e.post_id = ${postId} and e.action = ${action}
        and ${isOpen(sql)}`,
  )

/** Another open or executed engagement with the same action on the same post. */
export const otherEngagement = (id: string) =>
  one<Other>(
    {},
    (sql) => sql`select e.id, e.status from engagement own join engagement e
      on e.network = own.network and e.post_id = own.post_id and e.action = own.action
        and e.id <> own.id
      where own.id = ${id} and ${isOpen(sql)}`,
  )

/** The same as `engagementOn`, for the post of a signal. */
export const engagementOnSignal = ({
  signalId,
  action,
}: {
  signalId: string
  action: EngageAction
}) =>
  one<Other>(
    {},
    (sql) => sql`select e.id, e.status from signal s join engagement e on e.network = s.network
      and e.post_id = s.post_id
      where s.id = ${signalId} and e.action = ${action} and ${isOpen(sql)}`,
  )

export const { insert: insertEngagement, save: saveEngagement } = table

/**
 * Deletes an engagement, whose row stays until it is erased. `engagement`: as it will be when it is
 * restored.
 */
export const removeEngagement =
  ({
    id,
    status,
    approved_hash,
    account_external_id,
    reject_reason,
    last_error,
    updated_at,
  }: Engagement): Query =>
  (sql) =>
    sql`update engagement set status = 'deleted', deleted_status = ${status},
      deleted_at = ${updated_at}, approved_hash = ${approved_hash},
      account_external_id = ${account_external_id}, reject_reason = ${reject_reason},
        last_error = ${last_error}, updated_at = ${updated_at}
      where id = ${id}`

export const restoreEngagement =
  ({ id, updated_at }: Engagement): Query =>
  (sql) =>
    sql`update engagement set status = deleted_status, deleted_status = null, deleted_at = null,
      updated_at = ${updated_at} where id = ${id}`
