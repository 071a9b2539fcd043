/**
 * The lane of schedules whose time has come. A run's job and the schedule's next time are one
 * commit.
 */
import { unpaidAnswer } from '#decisions/agent/paying'
import {
  isFull,
  noticeOf,
  type RunFacts,
  runLoad,
  runPrompt,
  runSchedule,
} from '#decisions/agent/schedules'
import { openJobLimits } from '#domain/agent/job/limits'
import {
  cameDue,
  pausedEvent,
  pauseNotice,
  pauseSchedule,
  type Schedule,
} from '#domain/agent/trigger/schedule'
import { callerNow } from '#store/agent/callers'
import { lastWords, saveSchedule, schedulePart } from '#store/agent/schedules'
import type { Sql } from '#store/engine/db'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow, when } from '#store/engine/load'
import type { Claiming, Lane } from '../../engine/lane.ts'
import { decidedAtOnce } from '../at-once.ts'
import type { AgentDeps } from './deps.ts'

export const scheduleLane = (
  deps: Pick<AgentDeps, 'models' | 'desk' | 'failpoints'>,
): Lane<never, never> =>
  decidedAtOnce('agent_schedule', async (claiming) => {
    const effects = await fire(deps, claiming)
    await deps.failpoints('agent.schedule.firing')
    return { reply: undefined, effects }
  })

const fire = async (
  deps: Pick<AgentDeps, 'models' | 'desk'>,
  { sql, gate, work }: Claiming,
): Promise<Effects> => {
  const { schedule } = await loadNow(sql, { schedule: schedulePart(work.ref_id) })
  if (!schedule?.next_at) return { settled: [work.id] }
  if (schedule.next_at > gate.now) return { requeued: [{ id: work.id, runAt: schedule.next_at }] }
  const { caller, ...facts } = await loadNow(sql, {
    caller: callerNow(schedule.on_behalf),
    ...runLoad(schedule),
  })
  if (!caller) {
    const stopped = pauseSchedule(schedule, 'caller_gone', gate.now)
    const notice = noticeOf(stopped, pauseNotice(stopped), { ...facts, now: gate.now })
    return merge(notice, { settled: [work.id], events: [pausedEvent(stopped)] })
  }
  const { schedule: moved, ...times } = cameDue(schedule, gate.now)
  const next: Effects = moved.next_at
    ? { requeued: [{ id: work.id, runAt: moved.next_at }] }
    : { settled: [work.id] }
  const fired = { moved, ...times, ...facts, now: gate.now, isDeleted: gate.deletesAt !== null }
  const why = await unpaidAnswer(deps.desk, gate.plan, runPrompt(deps.models(), moved))
  return merge(
    next,
    why === undefined || !fired.run ? outcomeOf(deps, fired) : await unpaidRun(sql, fired, why),
  )
}

interface Fired extends RunFacts {
  moved: Schedule
  run: Date | undefined
  missed: Date | undefined
  now: Date
  /** The workspace is about to be deleted. */
  isDeleted: boolean
}

const outcomeOf = (
  deps: Pick<AgentDeps, 'models'>,
  { moved, run, missed, isDeleted, ...facts }: Fired,
): Effects => {
  if (isDeleted) return { writes: [saveSchedule(moved)] }
  if (missed)
    return noticeOf(
      moved,
      `The run of ${missed.toISOString()} was skipped: it was more than an hour late.`,
      facts,
    )
  if (isFull(facts.facts, openJobLimits.ofOthers))
    return noticeOf(
      skipped(moved),
      `The run of ${run!.toISOString()} was skipped: too many jobs are not over yet.`,
      facts,
    )
  return runSchedule(deps.models(), moved, facts).effects
}

const skipped = (schedule: Schedule): Schedule => ({ ...schedule, missed: schedule.missed + 1 })

/**
 * No model may be called. The conversation says so once, however often the schedule's time comes
 * before it runs again.
 */
const unpaidRun = async (
  sql: Sql,
  { moved, run, isDeleted, ...facts }: Fired,
  why: string,
): Promise<Effects> => {
  const schedule = isDeleted ? moved : skipped(moved)
  const id = moved.conversation_id
  const { last } = await loadNow(sql, { last: when(id !== null, lastWords(id ?? '')) })
  if (isDeleted || last?.content.includes(why)) return { writes: [saveSchedule(schedule)] }
  const words = `The run of ${run!.toISOString()} was skipped: ${why}. Later runs are skipped, too, until the workspace's billing is in order.`
  return noticeOf(schedule, words, facts)
}
