/**
 * Who sees what of the agent: what is made of a private conversation is seen by those alone who see
 * the conversation.
 */
import type { Reader } from '#domain/agent/conversation'
import type { Fragment, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

/** Of a conversation `c`. One that was deleted is shown to nobody. */
export const isShown = (sql: Sql, { personId }: Reader): Fragment => {
  if (personId === null) return sql`(c.deleted_at is null and c.visibility = 'workspace')`
  // Of somebody who has left there is no id to compare with, and the negation of what is not known
  // would show all.
  return sql`(c.deleted_at is null and (c.visibility = 'workspace'
    or coalesce(c.person_id = ${personId}, false)
    or c.people @> ${sql.json([personId])}::jsonb))`
}

/** Of what has been made of a conversation, by its id; what is made of none is everybody's. */
export const isMadeShown = (sql: Sql, conversationId: Fragment, as: Reader): Fragment =>
  sql`not exists (select from agent_conversation c where c.id = ${conversationId}
    and not ${isShown(sql, as)})`

/** Of what has been made of a conversation: whether that was deleted. */
export const isMadeGone = (sql: Sql, conversationId: Fragment): Fragment =>
  sql`exists (select from agent_conversation c where c.id = ${conversationId}
    and c.deleted_at is not null)`

/** Of a job `j`. A child follows its root. */
export const isJobShown = (sql: Sql, as: Reader): Fragment =>
  isMadeShown(
    sql,
    sql`(case when j.parent_id is null then j.conversation_id
      else (select r.conversation_id from agent_job r where r.id = j.root_id) end)`,
    as,
  )

/**
 * Whether an approval is asked in a conversation that the reader does not see, or in one that was
 * deleted.
 */
export const visibilityOfApproval = (id: string, as: Reader) =>
  sure(
    one<{ hidden: boolean; gone: boolean }>(
      {},
      (
        sql,
      ) => sql`select coalesce(bool_or(not ${isMadeShown(sql, sql`a.conversation_id`, as)}), false)
        as hidden,
          coalesce(bool_or(${isMadeGone(sql, sql`a.conversation_id`)}), false) as gone
        from agent_approval a where a.id = ${id}`,
    ),
  )
