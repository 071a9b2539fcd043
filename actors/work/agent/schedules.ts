/** The lane of schedules whose time has come. A run's job, and the time after it, are one commit. */
import { isFull, noticeOf, pausedEvent, pauseNotice, type RunFacts, runLoad, runSchedule } from '#decisions/agent/schedules'
import { cameDue, paused, type Schedule } from '#domain/agent/schedule'
import { callerNow } from '#store/agent/callers'
import { saveSchedule, schedulePart } from '#store/agent/schedules'
import { type Effects, merge } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { Claiming, Lane } from '../../engine/lane.ts'
import { decidedAtOnce } from '../at-once.ts'
import type { AgentDeps } from './deps.ts'

export const scheduleLane = (deps: Pick<AgentDeps, 'models' | 'failpoints'>): Lane<never, never> =>
  decidedAtOnce('agent_schedule', async (claiming) => {
    const effects = await fire(deps, claiming)
    await deps.failpoints('agent.schedule.firing')
    return { reply: undefined, effects }
  })

const fire = async (deps: Pick<AgentDeps, 'models'>, { sql, gate, work }: Claiming): Promise<Effects> => {
  const { schedule } = await loadNow(sql, { schedule: schedulePart(work.ref_id) })
  if (!schedule?.next_at) return { settled: [work.id] }
  if (schedule.next_at > gate.now) return { requeued: [{ id: work.id, runAt: schedule.next_at }] }
  const { caller, ...facts } = await loadNow(sql, { caller: callerNow(schedule.on_behalf), ...runLoad(schedule) })
  if (!caller) {
    const stopped = paused(schedule, 'caller_gone', gate.now)
    const notice = noticeOf(stopped, pauseNotice(stopped), { ...facts, now: gate.now })
    return merge(notice, { settled: [work.id], events: [pausedEvent(stopped)] })
  }
  const { schedule: moved, ...times } = cameDue(schedule, gate.now)
  const next: Effects = moved.next_at ? { requeued: [{ id: work.id, runAt: moved.next_at }] } : { settled: [work.id] }
  return merge(next, outcomeOf(deps, { moved, ...times, ...facts, now: gate.now, isDeleted: gate.deletesAt !== null }))
}

interface Fired extends RunFacts {
  moved: Schedule
  run: Date | undefined
  missed: Date | undefined
  now: Date
  /** The workspace awaits its deletion. */
  isDeleted: boolean
}

const outcomeOf = (deps: Pick<AgentDeps, 'models'>, { moved, run, missed, isDeleted, ...facts }: Fired): Effects => {
  if (isDeleted) return { writes: [saveSchedule(moved)] }
  if (missed) return noticeOf(moved, `The run of ${missed.toISOString()} was skipped: it was more than an hour late.`, facts)
  if (isFull(facts.facts)) {
    const skipped = { ...moved, missed: moved.missed + 1 }
    return noticeOf(skipped, `The run of ${run!.toISOString()} was skipped: too many jobs are not over yet.`, facts)
  }
  return runSchedule(deps.models(), moved, facts).effects
}
