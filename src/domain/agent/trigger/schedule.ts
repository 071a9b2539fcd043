/**
 * A goal that the agent works on by itself, once or by a cron pattern. active ⇄ paused; active or
 * paused → cancelled; active → done after its last time. A person can activate any of them again.
 */
import { scheduleRecord } from '#contract/records/agent/schedule'
import type { RowOf } from '#contract/records/record'
import { CATCH_UP_MS, cronDue, nextTime, patternFault } from '#kernel/cron'
import { fail } from '#kernel/errors'
import type { JobStatus, OnBehalf } from '../job/job.ts'
import { isOthers, takenOver } from './goal.ts'

export type Schedule = RowOf<typeof scheduleRecord>
export type ScheduleStatus = Schedule['status']
export type PausedBy = NonNullable<Schedule['paused_by']>

export const scheduleLimits = {
  active: 50,
  /** Inactive schedules that are kept for people to read. */
  past: 200,
  /** Failed runs in a row that pause a schedule. */
  failures: 3,
} as const
/** Messages that the conversation of a schedule keeps. */
export const KEPT_MESSAGES = 200
const SHOWN_TIMES = 3
/**
 * Tools that a run and its children may not use: what runs by itself must not create more of the
 * kind.
 */
export const RUN_MAKERS: readonly string[] = ['schedule_task', 'create_webhook_rule']

/** When it runs: once at a time, or by a pattern. */
interface TimesInput {
  at?: string | Date | undefined
  cron?: string | undefined
  timeZone?: string | undefined
}

const refuse = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

type Times = Pick<Schedule, 'at' | 'pattern' | 'time_zone'>

/** Throws `invalid_input`, naming the field. */
const timesOf = ({ at, cron, timeZone = 'UTC' }: TimesInput, now: Date): Times => {
  if (at !== undefined && cron !== undefined) refuse('cron', 'cannot be given together with at')
  if (cron !== undefined) {
    const pattern = cron.trim()
    const fault = patternFault(pattern, timeZone, now)
    return fault ? refuse('cron', fault) : { at: null, pattern, time_zone: timeZone }
  }
  if (at === undefined) return refuse('at', 'or cron is required')
  const time = new Date(at)
  return time <= now
    ? refuse('at', `is in the past: it is now ${now.toISOString()}`)
    : { at: time, pattern: null, time_zone: timeZone }
}

/** Up to three times after `after`. */
export const nextTimes = ({ at, pattern, time_zone }: Times, after: Date): Date[] => {
  if (pattern === null) return at && at > after ? [at] : []
  const times: Date[] = []
  for (
    let next = nextTime(pattern, time_zone, after);
    next;
    next = nextTime(pattern, time_zone, next)
  )
    if (times.push(next) === SHOWN_TIMES) break
  return times
}

const activateSchedule = (schedule: Schedule, now: Date): Schedule => {
  const [next_at] = nextTimes(schedule, now)
  if (!next_at)
    return refuse(
      schedule.pattern === null ? 'at' : 'cron',
      'has no time that is to come; give another',
    )
  return { ...schedule, status: 'active', paused_by: null, failures: 0, next_at }
}

export type ScheduleInput = TimesInput & { goal: string; tools?: string[] | undefined }

/** What a schedule inherits from the job that creates it. */
export type ScheduleOrigin = Pick<Schedule, 'on_behalf' | 'taint' | 'tools'>

interface Beside {
  /** Active schedules of the workspace. */
  active: number
  now: Date
}

const requireRoom = ({ active }: Beside): void => {
  if (active >= scheduleLimits.active)
    fail('conflict', `cannot add: the workspace has ${active} active schedules; cancel one first`, {
      reason: 'limit_reached',
    })
}

/** Throws `invalid_input` or `conflict`. */
export const newSchedule = (
  id: string,
  { goal, ...times }: ScheduleInput,
  from: ScheduleOrigin,
  beside: Beside,
): Schedule => {
  const { now } = beside
  const checked = timesOf(times, now)
  requireRoom(beside)
  const schedule: Schedule = {
    ...scheduleRecord.blank,
    id,
    goal: goal.trim(),
    ...checked,
    missed: 0,
    failures: 0,
    ...from,
    status: 'active',
    created_at: now,
    updated_at: now,
  }
  return activateSchedule(schedule, now)
}

export interface SchedulePatch extends TimesInput {
  goal?: string | undefined
  tools?: string[] | undefined
  status?: 'active' | 'paused' | undefined
}

const patchedTimes = (
  before: Schedule,
  { at, cron, timeZone = before.time_zone }: SchedulePatch,
  now: Date,
): Times => {
  if (at !== undefined || cron !== undefined) return timesOf({ at, cron, timeZone }, now)
  if (timeZone === before.time_zone || before.pattern === null)
    return { at: before.at, pattern: before.pattern, time_zone: timeZone }
  return timesOf({ cron: before.pattern, timeZone }, now)
}

/**
 * Changes what the schedule says and may do. It then runs in the name of the person who changed it,
 * or who activated it after its maker had left. A goal by a new author begins a new conversation,
 * in which earlier authors have said nothing.
 */
const rewriteGoal = (
  before: Schedule,
  { goal, tools, status }: SchedulePatch,
  editor: OnBehalf,
): Partial<Schedule> => ({
  ...(goal === undefined
    ? {}
    : {
        goal: goal.trim(),
        taint: [],
        ...(isOthers(before, editor) ? { conversation_id: null } : {}),
      }),
  ...(tools === undefined ? {} : { tools }),
  ...(goal !== undefined ||
  tools !== undefined ||
  (status === 'active' && before.paused_by === 'caller_gone')
    ? takenOver(before, editor, goal !== undefined)
    : {}),
})

/** Absent fields stay. Throws `invalid_input` or `conflict`. */
export const updateSchedule = (
  before: Schedule,
  patch: SchedulePatch,
  editor: OnBehalf,
  beside: Beside,
): Schedule => {
  const { now } = beside
  const times = patchedTimes(before, patch, now)
  const schedule = { ...before, ...rewriteGoal(before, patch, editor), ...times, updated_at: now }
  const { status = before.status } = patch
  if (status === 'paused')
    return before.status === 'paused' ? schedule : pauseSchedule(schedule, 'person', now)
  if (status !== 'active') return schedule
  if (before.status !== 'active') requireRoom(beside)
  const isMoved =
    times.at !== before.at ||
    times.pattern !== before.pattern ||
    times.time_zone !== before.time_zone
  return before.status === 'active' && !isMoved ? schedule : activateSchedule(schedule, now)
}

/** Throws `conflict` unless it is active. */
export const pauseSchedule = (schedule: Schedule, paused_by: PausedBy, now: Date): Schedule => {
  if (schedule.status !== 'active')
    fail('conflict', `cannot pause: the schedule is ${schedule.status}`, { reason: 'wrong_state' })
  return { ...schedule, status: 'paused', paused_by, next_at: null, updated_at: now }
}

/** A schedule that is over stays as it is. */
export const cancelSchedule = (schedule: Schedule, now: Date): Schedule =>
  schedule.status === 'cancelled' || schedule.status === 'done'
    ? schedule
    : { ...schedule, status: 'cancelled', paused_by: null, next_at: null, updated_at: now }

/**
 * A schedule's time has come. `run`: the time to run for. `missed`: whether a time passed without a
 * run.
 */
export const cameDue = (
  schedule: Schedule,
  now: Date,
): { schedule: Schedule; run: Date | undefined; missed: Date | undefined } => {
  const due = schedule.next_at!
  const { pattern, time_zone } = schedule
  const isLate = now.getTime() - due.getTime() >= CATCH_UP_MS
  const once = { run: isLate ? undefined : due, missed: isLate ? due : undefined, next: undefined }
  const { run, missed, next } = pattern === null ? once : cronDue({ pattern, time_zone }, due, now)
  const counted = {
    ...schedule,
    missed: schedule.missed + (run ? 0 : 1),
    next_at: next ?? null,
    updated_at: now,
  }
  return {
    schedule: next ? counted : { ...counted, status: 'done' },
    run,
    missed: run ? undefined : missed,
  }
}

/** A run has begun. */
export const recordRun = (
  schedule: Schedule,
  { job, conversation, now }: { job: string; conversation: string; now: Date },
): Schedule => ({
  ...schedule,
  last_job_id: job,
  last_at: now,
  conversation_id: conversation,
  updated_at: now,
})

/**
 * A run has ended. The third failure in a row pauses the schedule; if its caller is gone, one
 * failure does.
 */
export const ranOut = (
  schedule: Schedule,
  { status, error }: { status: JobStatus; error: string | null },
  now: Date,
): Schedule => {
  if (status === 'completed') return { ...schedule, failures: 0, updated_at: now }
  if (status !== 'failed') return schedule
  const failed = { ...schedule, failures: schedule.failures + 1, updated_at: now }
  if (failed.status !== 'active') return failed
  if (error === 'caller_gone') return pauseSchedule(failed, 'caller_gone', now)
  return failed.failures >= scheduleLimits.failures
    ? pauseSchedule(failed, 'failures', now)
    : failed
}

const reasons: Record<Exclude<PausedBy, 'person'>, string> = {
  failures:
    'Paused: three runs in a row have failed. Activate the schedule once the cause is mended.',
  caller_gone:
    'Paused: the person who made this schedule no longer has access to the workspace. Activate it to run it in your name. Its goal stays their words, so its runs ask before they change anything; send the goal, too, to make the words yours.',
}

/** What people read of a schedule that nobody has paused. */
export const pauseNotice = ({ paused_by }: Schedule): string =>
  reasons[paused_by as keyof typeof reasons]

/** For the webhook: nobody has paused it. */
export const pausedEvent = ({ id, goal, paused_by, last_job_id }: Schedule) => ({
  type: 'agent.schedule.paused',
  data: { schedule_id: id, goal, reason: paused_by, last_job_id },
  subject: id,
})
