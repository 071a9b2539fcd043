/**
 * Attempts to execute engagements, as the posting machine knows attempts: what it calls the item is the engagement here. Their doubts
 * never end by themselves.
 */
import type { EngageAction } from '#domain/growth/drafting/engagement'
import type { Attempt } from '#domain/growth/sending/publish'
import type { Fragment, Query, Sql } from '../engine/db.ts'

const columns = (
  sql: Sql,
): Fragment => sql`t.id, t.engagement_id as item_id, t.number, t.connection_id, t.body_sha, t.sent_text, t.origin, t.state, t.intent_at, t.lease_until,
  t.doubt_at, t.doubt_cause, null::timestamptz as returns_from, t.clean_reads, 0 as proof_reads, t.external_id, t.error, t.ended_at`

/** The attempt whose fate is open, or undefined. At most one exists. */
export const openExecution = async (sql: Sql, engagementId: string): Promise<Attempt | undefined> =>
  (
    await sql`select ${columns(sql)} from engagement_attempt t where t.engagement_id = ${engagementId} and t.state in ('open', 'doubt', 'review')`
  )[0] as Attempt | undefined

export const executionCount = async (sql: Sql, engagementId: string): Promise<number> =>
  (
    await sql<
      { count: number }[]
    >`select coalesce(max(number), 0)::int as count from engagement_attempt where engagement_id = ${engagementId}`
  )[0]!.count

interface Answered {
  connectionId: string
  network: string
  postId: string
  action: EngageAction
}

/**
 * Attempts of an account at the same post that may own an answer nobody has named: those whose fate is open, and those that a
 * person has settled within a day.
 */
export const unnamedExecutions =
  ({ connectionId, network, postId, action }: Answered): Query =>
  (sql) =>
    sql`select ${columns(sql)} from engagement_attempt t join engagement e on e.id = t.engagement_id
        where t.connection_id = ${connectionId} and e.network = ${network} and e.post_id = ${postId} and e.action = ${action}
          and (t.state in ('open', 'doubt', 'review')
            or (t.state in ('posted', 'superseded') and t.external_id is null and t.ended_at > now() - interval '1 day'))`

/** Which of these posts belong to engagements already. */
export const takenAnswers =
  (connectionId: string, externalIds: string[]): Query =>
  (sql) =>
    sql`select external_id from engagement_attempt where connection_id = ${connectionId} and external_id = any(${externalIds})`

export const insertExecution =
  ({ item_id, returns_from: _, proof_reads: __, ...attempt }: Attempt): Query =>
  (sql) =>
    sql`insert into engagement_attempt ${sql({ ...attempt, engagement_id: item_id } as never)}`

export const saveExecution =
  ({ id, ...attempt }: Attempt): Query =>
  (sql) =>
    sql`update engagement_attempt set state = ${attempt.state}, doubt_at = ${attempt.doubt_at}, doubt_cause = ${attempt.doubt_cause}, clean_reads = ${attempt.clean_reads},
      external_id = ${attempt.external_id}, error = ${attempt.error}, ended_at = ${attempt.ended_at} where id = ${id}`
