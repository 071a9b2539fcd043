import { scheduleRecord } from '#contract/records/agent/schedule'
import { type Schedule, scheduleLimits } from '#domain/agent/trigger/schedule'
import type { Query } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(scheduleRecord)

export const schedulePart = (id: string) =>
  one<Schedule>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 's')} from agent_schedule s where s.id = ${id}`,
  )

/** How many schedules are active. */
export const activeSchedules = sure(
  one<{ active: number }>(
    {},
    (sql) => sql`select count(*)::int as active from agent_schedule where status = 'active'`,
  ),
)

/** The time by which schedules without a next time are sorted. */
export const NO_TIME = new Date('5000-01-01T00:00:00Z')

interface SchedulePage {
  limit: number
  after?: { at: Date; id: string } | undefined
  status?: Schedule['status'] | undefined
}

/**
 * Active schedules first, by their next time. Of those with the same time, the newest come first.
 */
export const listSchedules =
  ({ limit, after, status }: SchedulePage): Query<Schedule> =>
  (sql) =>
    sql`select ${table.columns(sql, 's')} from agent_schedule s where true ${
      status
        ? sql`and
      s.status = ${status}`
        : sql``
    }
      ${
        after
          ? sql`and (coalesce(s.next_at, ${NO_TIME}::timestamptz), ${after.id}::uuid) >
        (${after.at}::timestamptz, s.id)`
          : sql``
      }
      order by s.next_at, s.id desc limit ${limit + 1}`

/** Whether any schedule reports in this conversation. */
export const hasSchedules = (conversationId: string) =>
  sure(
    one<{ any: boolean }>(
      {},
      (sql) =>
        sql`select exists (select from agent_schedule where conversation_id = ${conversationId}) as
          any`,
    ),
  )

/**
 * Moves the schedules of a conversation to another one. Null: to one that their next run begins.
 */
export const moveSchedules =
  (from: string, to: string | null): Query =>
  (sql) =>
    sql`update agent_schedule set conversation_id = ${to} where conversation_id = ${from}`

export const insertSchedule = (schedule: Schedule): Query => table.insert(schedule)

export const saveSchedule = (schedule: Schedule): Query => table.save(schedule)

export const deleteSchedule =
  (id: string): Query =>
  (sql) =>
    sql`delete from agent_schedule where id = ${id}`

/**
 * Makes room among schedules that are over or paused, by deleting those that changed longest ago.
 */
export const forgetPastSchedules: Query = (sql) =>
  sql`delete from agent_schedule where id in (select id from agent_schedule where status <> 'active'
    order by updated_at desc, id desc offset ${scheduleLimits.past})`

/**
 * Deletes the oldest messages of a conversation, except those of jobs that are not over. `newest`:
 * the number of the last message.
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
