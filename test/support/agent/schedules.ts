/** Schedules of the agent in tests. */

import { newWork } from '#decisions/work'
import type { OnBehalf } from '#domain/agent/job/job'
import { newSchedule, type Schedule } from '#domain/agent/trigger/schedule'
import { newId } from '#kernel/ids'
import { insertSchedule, saveSchedule, schedulePart } from '#store/agent/schedules'
import { loadNow } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { letterOf } from '../actors/letters.ts'
import { type Workspace, write } from '../arrange.ts'

type Place = Pick<Workspace, 'app' | 'tenantId'>

const nobody: OnBehalf = { kind: 'key', id: newId(), personId: null }

interface Wish {
  goal?: string
  cron?: string
  at?: Date
  by?: OnBehalf
  taint?: string[]
  tools?: string[] | null
  timeZone?: string
  /** Of the database's clock. */
  now?: Date
}

/**
 * An hour of a week that is days away from now: a time that a test lets come is caught up on only
 * if no other one has come since.
 */
const daysAway = (now: Date): string => {
  const far = new Date(now.getTime() + 84 * 3_600_000)
  return `0 ${far.getUTCHours()} * * ${far.getUTCDay()}`
}

/** A schedule, by default for once a week. */
export const makeSchedule = async (place: Place, wish: Wish = {}) => {
  const {
    goal = 'Draft three posts',
    by = nobody,
    taint = [],
    tools = null,
    now = new Date(),
    timeZone,
    ...when
  } = wish
  const id = newId()
  const times = when.at ? { at: when.at } : { cron: when.cron ?? daysAway(now) }
  const schedule = newSchedule(
    id,
    { goal, timeZone, ...times },
    { on_behalf: by, taint, tools },
    { active: 0, now },
  )
  const work = newWork('agent_schedule', {
    refId: id,
    origin: 'automatic',
    runAt: schedule.next_at!,
  })
  await write(place, { writes: [insertSchedule(schedule)], work: [work] })
  return { id }
}

/** Lets the next time of a schedule come, so long ago. */
export const comeDue = ({ app, tenantId }: Place, id: string, agoMs = 1_000): Promise<void> =>
  app.workplace.runtime.ask(tenantId, {
    ...letterOf(async (sql, gate) => {
      const { schedule, work } = await loadNow(sql, {
        schedule: schedulePart(id),
        work: workFor('agent_schedule', id),
      })
      const next_at = new Date(gate.now.getTime() - agoMs)
      const writes = [saveSchedule({ ...schedule!, next_at })]
      return { reply: undefined, effects: { writes, requeued: [{ id: work!.id, runAt: next_at }] } }
    }),
    exempt: true,
  })

export const scheduleOf = async (
  { app }: Pick<Place, 'app'>,
  id: string,
): Promise<Schedule | undefined> =>
  (await app.owner<Schedule[]>`select * from agent_schedule where id = ${id}`)[0]

/** The jobs of a schedule, oldest first. */
export const runsOf = async (
  { app }: Pick<Place, 'app'>,
  id: string,
): Promise<{ id: string; status: string; error: string | null }[]> =>
  (
    await app.owner<
      { id: string; status: string; error: string | null }[]
    >`select id, status, error from agent_job
    where cause->>'id' = ${id} order by id`
  ).map((row) => ({ ...row }))
