/**
 * Who sees what of the agent. What was made in a private conversation is seen only by those who see
 * the conversation.
 */
import type { Reader, Visibility } from '#domain/agent/conversation'
import type { Fragment, Query, Sql } from '../engine/db.ts'
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

/** The conversation in which something was made, with all nulls if it was outside of any. */
export interface MadeIn {
  /** The place of the record among those asked for. */
  nth: number
  visibility: Visibility | null
  person_id: string | null
  people: string[] | null
  /** Of an approval: the tool of the call. */
  tool_name: string | null
}

/** A record, or the approvals that a job has asked for. */
interface Made {
  kind: string
  id: string | null
  job?: string
}

/**
 * Where records were made, of the kinds that may belong to private conversations. Deleted
 * conversations count. Records that are no longer there are left out.
 */
export const whereMade =
  (records: readonly Made[]): Query<MadeIn> =>
  (sql) => {
    // Approvals of a job go by its id.
    const kinds = records.map(({ kind, job }) => (job === undefined ? kind : `${kind}s of a job`))
    const ids = records.map(({ id, job }) => job ?? id!)
    return sql`select r.nth::int as nth, c.visibility, c.person_id, c.people, m.tool_name
      from unnest(${kinds}::text[], ${ids}::uuid[]) with ordinality as r(kind, id, nth)
      cross join lateral (
        select r.id as conversation_id, null as tool_name where r.kind = 'conversation'
        union all select case when j.parent_id is null then j.conversation_id
          else (select root.conversation_id from agent_job root where root.id = j.root_id) end, null
          from agent_job j where r.kind = 'job' and j.id = r.id
        union all select a.conversation_id, a.tool_name from agent_approval a
          where (r.kind = 'approval' and a.id = r.id)
            or (r.kind = 'approvals of a job' and a.job_id = r.id)
        union all select f.conversation_id, null from agent_feedback f
          where r.kind = 'feedback' and f.id = r.id) m
      left join agent_conversation c on c.id = m.conversation_id`
  }
