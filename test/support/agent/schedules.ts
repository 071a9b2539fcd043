/** Schedules of the agent in tests. */

import { newWork } from '#decisions/work'
import type { OnBehalf } from '#domain/agent/job/job'
import { newSchedule, type Schedule } from '#domain/agent/trigger/schedule'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { insertSchedule, saveSchedule, schedulePart } from '#store/agent/schedules'
import { loadNow } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { letterOf } from '../actors/letters.ts'
import type { TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import { eventually } from '../eventually.ts'
import { resultsIn, scriptedModel } from '../model/scripted-model.ts'
import { signedIn } from '../session.ts'
import { overJob, stepsIn, turn } from './agent.ts'
import { newSurface, type Surface } from './surface.ts'

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
  /** By the database's clock. */
  now?: Date
}

/**
 * An hour of the week that is days away from now. A time that a test brings about is caught up on
 * only if no later one has come since.
 */
const daysAway = (now: Date): string => {
  const far = new Date(now.getTime() + 84 * 3_600_000)
  return `0 ${far.getUTCHours()} * * ${far.getUTCDay()}`
}

/** A schedule, weekly by default. */
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

/** Makes a schedule's next time lie this far in the past. */
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

/**
 * A model that makes the calls that the goal lists as JSON, then says what it got. It answers other
 * goals in words.
 */
export const goalModel = (words: string, hear: (messages: string) => void = () => {}) =>
  scriptedModel((asked, answers) => {
    hear(JSON.stringify(asked.messages))
    const said = asked.messages.findLast(({ role }) => role === 'user') as { text: string }
    if (!said.text.startsWith('[')) return { text: words }
    return answers === 0 ? { calls: JSON.parse(said.text) } : { text: resultsIn(asked).join('\n') }
  })

/** Members of workspaces, what they schedule, and what comes of it. */
export const scheduling = (app: TestApp) => {
  const person = async ({ tenantId }: Surface, role: Role = 'owner') => {
    const { sessionId, personId, key } = await signedIn(app, tenantId, role)
    return { by: { kind: 'session', id: sessionId, personId } as const satisfies OnBehalf, key }
  }
  const place = async () => {
    const surface = await newSurface(app)
    return { surface, ...(await person(surface)) }
  }
  return {
    person,
    place,
    async scheduled() {
      const at = await place()
      return { ...at, id: (await makeSchedule(at.surface, { by: at.by })).id }
    },
    /** Runs one tool call in a job of this caller, and returns its step. */
    async called(
      { surface: { tenantId }, by }: { surface: Surface; by: OnBehalf },
      name: string,
      args: object,
      tools: string[] | null = null,
    ) {
      const job = await turn(app, { content: JSON.stringify([[name, args]]), by, tenantId, tools })
      await overJob(app, job)
      return (await stepsIn(app, job)).find((step) => step.name === name)!
    },
    overRuns: (id: string, count: number) =>
      eventually(
        () => runsOf({ app }, id),
        (runs) =>
          runs.length === count &&
          runs.every(({ status }) => !['queued', 'running'].includes(status)),
      ),
  }
}
