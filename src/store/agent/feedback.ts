import { feedbackRecord } from '#contract/records/agent/feedback'
import type { Reader } from '#domain/agent/conversation'
import type { Feedback } from '#domain/agent/job/feedback'
import type { Query } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { isMadeShown } from './visibility.ts'

const table = tableOf(feedbackRecord)

/** What a user has said about a message. */
export const feedbackPart = (userId: string, messageId: string) =>
  one<Feedback>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'f')} from agent_feedback f where f.user_id = ${userId}
        and f.message_id = ${messageId}`,
  )

/** The most that a conversation shows of one user. */
const MOST_SHOWN = 1_000

/** What a user has said in a conversation, newest first. */
export const feedbackOf = (userId: string, conversationId: string) =>
  many<Feedback>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'f')} from agent_feedback f where f.user_id = ${userId}
      and f.conversation_id = ${conversationId}
      order by f.id desc limit ${MOST_SHOWN}`,
  )

export interface FeedbackFilter {
  limit: number
  verdict?: Feedback['verdict'] | undefined
  /** Given or changed since then. */
  since?: Date | undefined
  as: Reader
}

export const listFeedback =
  ({ limit, verdict, since, as }: FeedbackFilter): Query<Feedback> =>
  (sql) =>
    sql`select ${table.columns(sql, 'f')} from agent_feedback f
      where ${isMadeShown(sql, sql`f.conversation_id`, as)}
      ${verdict ? sql`and f.verdict = ${verdict}` : sql``}
      ${since ? sql`and f.updated_at >= ${since}` : sql``} order by f.id desc limit ${limit}`

/** Replaces what the user said about the same message. */
export const putFeedback = (feedback: Feedback): Query =>
  table.insert(
    feedback,
    {},
    (sql) => sql`on conflict (tenant_id, user_id, message_id) do update
      set verdict = excluded.verdict, correction = excluded.correction,
        updated_at = excluded.updated_at`,
  )
