import { MOST_PAST_SCHEDULES, type Schedule } from '#domain/agent/trigger/schedule'
import { assignments } from '../engine/assign.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

const columns = (
  sql: Sql,
): Fragment => sql`s.id, s.goal, s.tools, s.conversation_id, s.at, s.pattern, s.time_zone, s.status,
  s.paused_by,
  s.next_at, s.last_at, s.last_job_id, s.missed, s.failures, s.taint, s.on_behalf, s.goal_by,
    s.created_at, s.updated_at`

const times = {
  at: true,
  next_at: true,
  last_at: true,
  created_at: true,
  updated_at: true,
} as const

export const schedulePart = (id: string) =>
  one<Schedule>(
    times,
    (sql) => sql`select ${columns(sql)} from agent_schedule s where s.id = ${id}`,
  )

/** How many are active. */
export const activeSchedules = sure(
  one<{ active: number }>(
    {},
    (sql) => sql`select count(*)::int as active from agent_schedule where status = 'active'`,
  ),
)

/** Where schedules without a next time stand in the list. */
export const NO_TIME = new Date('5000-01-01T00:00:00Z')

interface SchedulePage {
  limit: number
  after?: { at: Date; id: string } | undefined
  status?: Schedule['status'] | undefined
}

/** Active ones first, by their next time; the newest first of those with the same. */
export const listSchedules =
  ({ limit, after, status }: SchedulePage): Query<Schedule> =>
  (sql) =>
    sql`select ${columns(sql)} from agent_schedule s where true ${
      status
        ? sql`and s.status =
      ${status}`
        : sql``
    }
      ${
        after
          ? sql`and (coalesce(s.next_at, ${NO_TIME}::timestamptz), ${after.id}::uuid) >
        (${after.at}::timestamptz, s.id)`
          : sql``
      }
      order by s.next_at, s.id desc limit ${limit + 1}`

/** Whether schedules say in this conversation what they do. */
export const hasSchedules = (conversationId: string) =>
  sure(
    one<{ any: boolean }>(
      {},
      (sql) =>
        sql`select exists (select from agent_schedule where conversation_id = ${conversationId}) as
          any`,
    ),
  )

/** Schedules of a conversation go on in another one; null: in one that their next run begins. */
export const moveSchedules =
  (from: string, to: string | null): Query =>
  (sql) =>
    sql`update agent_schedule set conversation_id = ${to} where conversation_id = ${from}`

const json = (sql: Sql, { tools, taint, on_behalf, goal_by }: Schedule) => ({
  tools: tools === null ? null : sql.json(tools),
  taint: sql.json(taint),
  on_behalf: sql.json(on_behalf as never),
  goal_by: goal_by === null ? null : sql.json(goal_by as never),
})

export const insertSchedule =
  (schedule: Schedule): Query =>
  (sql) =>
    sql`insert into agent_schedule ${sql({ ...schedule, ...json(sql, schedule) })}`

export const saveSchedule =
  (schedule: Schedule): Query =>
  (sql) => {
    const { id, created_at: _, ...rest } = schedule
    return sql`update agent_schedule set ${assignments(sql, { ...rest, ...json(sql, schedule) })}
      where id = ${id}`
  }

export const deleteSchedule =
  (id: string): Query =>
  (sql) =>
    sql`delete from agent_schedule where id = ${id}`

/** Makes room among those that are over or paused: the ones that changed longest ago go. */
export const forgetPastSchedules: Query = (sql) =>
  sql`delete from agent_schedule where id in (select id from agent_schedule where status <> 'active'
    order by updated_at desc, id desc offset ${MOST_PAST_SCHEDULES})`

/**
 * Deletes the oldest messages of a conversation, except those that a job still answers. `newest` is
 * the number of the last one.
 */
export const trimMessages =
  (conversationId: string, newest: number, kept: number): Query =>
  (sql) =>
    sql`delete from agent_message m where m.conversation_id = ${conversationId}
      and m.seq <= ${newest - kept}
      and not exists (select from agent_job j where j.id = m.job_id and j.ended_at is null)`

/** What was said last in a conversation. */
export const lastWords = (conversationId: string) =>
  one<{ content: string }>(
    {},
    (sql) =>
      sql`select content from agent_message where conversation_id = ${conversationId}
        order by seq desc limit 1`,
  )
