/**
 * Who sees what of the agent. What was made in a private conversation is seen only by those who see
 * the conversation.
 */
import type { Reader } from '#domain/agent/conversation'
import type { Fragment, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

/** Whether conversation `c` is shown. A deleted one is shown to nobody. */
export const isShown = (sql: Sql, { personId }: Reader): Fragment => {
  if (personId === null) return sql`(c.deleted_at is null and c.visibility = 'workspace')`
  // Without `coalesce`, the comparison would be null if the person who began the conversation has
  // left, and its negation would show everything.
  return sql`(c.deleted_at is null and (c.visibility = 'workspace'
    or coalesce(c.person_id = ${personId}, false)
    or c.people @> ${sql.json([personId])}::jsonb))`
}

/**
 * Whether something is shown that was made in a conversation, given by its id. What was made
 * outside of any is shown to everybody.
 */
export const isMadeShown = (sql: Sql, conversationId: Fragment, as: Reader): Fragment =>
  sql`not exists (select from agent_conversation c where c.id = ${conversationId}
    and not ${isShown(sql, as)})`

/** Whether the conversation in which something was made has been deleted. */
export const isMadeGone = (sql: Sql, conversationId: Fragment): Fragment =>
  sql`exists (select from agent_conversation c where c.id = ${conversationId}
    and c.deleted_at is not null)`

/** Whether job `j` is shown. A child follows its root. */
export const isJobShown = (sql: Sql, as: Reader): Fragment =>
  isMadeShown(
    sql,
    sql`(case when j.parent_id is null then j.conversation_id
      else (select r.conversation_id from agent_job r where r.id = j.root_id) end)`,
    as,
  )

/**
 * Whether an approval was asked for in a conversation that the reader does not see, or in one that
 * was deleted.
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
