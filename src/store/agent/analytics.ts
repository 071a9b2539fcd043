/**
 * What the agent has done, in numbers. Each part reads only the rows of the window, by an index.
 */
import type { Reader } from '#domain/agent/conversation'
import type { EndedOnDay } from '#domain/agent/job/analytics'
import type { Approval } from '#domain/agent/job/approval'
import { many, one, sure } from '../engine/load.ts'
import { isMadeShown } from './visibility.ts'

/** Jobs that ended since the first of these days began, counted by the number of the day. */
export const endedByDay = (starts: readonly Date[]) =>
  many<EndedOnDay>(
    {},
    (sql) => sql`select width_bucket(ended_at,
      ${starts.map((at) => at.toISOString())}::text[]::timestamptz[]) as day,
        (count(*) filter (where status = 'completed'))::int as completed,
          (count(*) filter (where status = 'failed'))::int as failed,
        (count(*) filter (where status = 'cancelled'))::int as cancelled
      from agent_job where ended_at >= ${starts[0]!} group by 1 order by 1`,
  )

/**
 * What the budgets hold, used or reserved by unsettled calls, for the jobs that ended since `since`
 * and for those that are not over.
 */
export const costSince = (since: Date) =>
  sure(
    one<{ running: number; cost: number; input_tokens: number; output_tokens: number }>(
      {},
      (sql) => sql`select sum(running)::int as running, coalesce(sum(cost), 0) as cost,
        coalesce(sum(input), 0) as input_tokens,
          coalesce(sum(output), 0) as output_tokens
        from (select count(*) as running, sum(cost + reserved_cost) as cost,
          sum(input_tokens::bigint + reserved_tokens) as input, sum(output_tokens) as output
            from agent_job where ended_at is null
          union all select 0, sum(cost + reserved_cost),
            sum(input_tokens::bigint + reserved_tokens), sum(output_tokens) from agent_job
            where ended_at >= ${since}) parts`,
    ),
  )

/** A name that a model made up has no calls, so there are no more names than tools. */
const MOST_TOOLS = 1_000

/**
 * Calls of tools made since `since`, whatever became of them. A refused call never began, so it
 * does not count.
 */
export const actionsSince = (since: Date) =>
  many<{ tool: string; calls: number }>(
    {},
    (sql) => sql`select name as tool, count(*)::int as calls from agent_step
      where kind = 'tool' and started_at >= ${since}
      group by name order by count(*) desc, name limit ${MOST_TOOLS}`,
  )

export const pendingApprovals = sure(
  one<{ count: number }>(
    {},
    (sql) => sql`select count(*)::int as count from agent_approval where status = 'pending'`,
  ),
)

export type PendingApproval = Pick<Approval, 'id' | 'job_id' | 'tool_name' | 'goal' | 'created_at'>

export const newestPending = (most: number, as: Reader) =>
  many<PendingApproval>(
    { created_at: true },
    (sql) =>
      sql`select a.id, a.job_id, a.tool_name, a.goal, a.created_at from agent_approval a
        where a.status = 'pending' and ${isMadeShown(sql, sql`a.conversation_id`, as)}
          order by a.id desc limit ${most}`,
  )
