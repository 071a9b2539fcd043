import type { EngageAction, Engagement, EngagementStatus } from '#domain/growth/drafting/engagement'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, type Part } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import type { RecordId } from '../engine/work.ts'

const columns = (
  sql: Sql,
): Fragment => sql`id, status, action, review, network, post_id, post_url, post_author, post_text, addresses_us, instruction, body, rationale,
  signal_id, error, model, usage, approved_hash, account_external_id, reject_reason, external_id, url, executed_at, last_error, created_at, updated_at`

export const engagementById =
  (id: RecordId): Query<Engagement> =>
  (sql) =>
    sql`select ${columns(sql)} from engagement where id = ${id}`

export const engagementPart = (id: RecordId): Part<Engagement | undefined> =>
  one<Engagement>({ executed_at: true, created_at: true, updated_at: true }, engagementById(id))

/** Newest first; one more than the limit. */
export const listEngagements =
  ({ status, limit, after }: Page & { status?: EngagementStatus | undefined }): Query<Engagement> =>
  (sql) =>
    sql`select ${columns(sql)} from engagement where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

export const lockEngagement = async (sql: Sql, id: string): Promise<Engagement> =>
  (await sql<Engagement>`select ${columns(sql)} from engagement where id = ${id} for update`)[0] ?? fail('not_found', 'no such engagement')

interface OnPost {
  network: string
  postId: string
  action: EngageAction
}

const isOpen = (sql: Sql): Fragment => sql`e.status not in ('rejected', 'failed')`

type Other = Pick<Engagement, 'id' | 'status'>

/** The open or executed engagement of this action on this post. */
export const engagementOn = ({ network, postId, action }: OnPost) =>
  one<Other>(
    {},
    (sql) => sql`select e.id, e.status from engagement e
      where e.network = ${network} and e.post_id = ${postId} and e.action = ${action} and ${isOpen(sql)}`,
  )

/** The same, on the post of a signal. */
export const engagementOnSignal = ({ signalId, action }: { signalId: string; action: EngageAction }) =>
  one<Other>(
    {},
    (sql) => sql`select e.id, e.status from signal s join engagement e on e.network = s.network and e.post_id = s.post_id
      where s.id = ${signalId} and e.action = ${action} and ${isOpen(sql)}`,
  )

export const insertEngagement =
  (engagement: Engagement): Query =>
  (sql) =>
    sql`insert into engagement ${sql({ ...engagement, usage: null })}`

/** Saves everything that can change after creation. */
export const saveEngagement =
  ({ id, ...engagement }: Engagement): Query =>
  (sql) =>
    sql`update engagement set status = ${engagement.status}, review = ${engagement.review}, body = ${engagement.body},
      rationale = ${engagement.rationale}, error = ${engagement.error}, model = ${engagement.model},
      usage = ${engagement.usage ? sql.json(engagement.usage) : null}, approved_hash = ${engagement.approved_hash},
      account_external_id = ${engagement.account_external_id}, reject_reason = ${engagement.reject_reason},
      external_id = ${engagement.external_id}, url = ${engagement.url}, executed_at = ${engagement.executed_at},
      last_error = ${engagement.last_error}, updated_at = ${engagement.updated_at} where id = ${id}`
