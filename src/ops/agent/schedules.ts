import type { scheduleCapabilities, schedules } from '#contract/agent/schedules'
import { onBehalfOf } from '#decisions/agent/caller'
import { requirePaid, type Takes } from '#decisions/agent/paying'
import { isFull, runLoad, runPrompt, runSchedule } from '#decisions/agent/schedules'
import type { ToolBox } from '#decisions/agent/toolbox'
import { newWork } from '#decisions/work'
import { isCommand } from '#domain/agent/job/command'
import { type Models, NO_MODEL } from '#domain/agent/job/model-choice'
import { jobView } from '#domain/agent/job/views'
import {
  cancelSchedule,
  newSchedule,
  nextTimes,
  type Schedule,
  updateSchedule,
} from '#domain/agent/trigger/schedule'
import { scheduledTaskView, scheduleView } from '#domain/agent/trigger/schedule-views'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  activeSchedules,
  deleteSchedule,
  forgetPastSchedules,
  insertSchedule,
  listSchedules,
  NO_TIME,
  saveSchedule,
  schedulePart,
} from '#store/agent/schedules'
import type { Effects } from '#store/engine/letter'
import { loadBy, loadNow } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { timedPageOf, timedResult } from '../engine/paging.ts'
import { allowedTools, madeBy, RETRY_AFTER, requireKnown } from './job/turns.ts'

const requireSchedule = (schedule: Schedule | undefined): Schedule =>
  found(schedule, 'no such schedule')

const timeOf = ({ next_at }: Schedule): Date => next_at ?? NO_TIME

/** The row of work for the next time. It exists while the schedule is active. */
const workOf = ({ id, next_at }: Schedule, work?: Work): Effects => {
  if (!next_at) return work ? { settled: [work.id] } : {}
  if (!work)
    return { work: [newWork('agent_schedule', { refId: id, origin: 'automatic', runAt: next_at })] }
  return work.run_at.getTime() === next_at.getTime()
    ? {}
    : { requeued: [{ id: work.id, runAt: next_at }] }
}

const loadSchedule = ({ id }: { id: string }) => ({
  before: schedulePart(id),
  work: workFor('agent_schedule', id),
})

export interface ScheduleParts {
  models: Models | typeof NO_MODEL
  desk: Takes
  tools(): ToolBox
}

type All = Handlers<typeof schedules>

const list: All['list'] = async ({ status, ...input }, { read }) => {
  const page = timedPageOf(input)
  const { rows, next_cursor } = timedResult(
    await read(listSchedules({ ...page, status })),
    page.limit,
    timeOf,
  )
  return { schedules: rows.map(scheduleView), nextCursor: next_cursor }
}

const get: All['get'] = async ({ id }, { read }) => {
  const { schedule } = await loadBy(read, { schedule: schedulePart(id) })
  return { schedule: scheduleView(requireSchedule(schedule)) }
}

const remove: All['remove'] = loading(loadSchedule, ({ id }, _, { before, work }) => {
  const reply = { schedule: scheduleView(requireSchedule(before)) }
  return { reply, effects: { writes: [deleteSchedule(id)], settled: work ? [work.id] : [] } }
})

const update = ({ tools }: Pick<ScheduleParts, 'tools'>): All['update'] =>
  loading(
    ({ id }) => ({ ...loadSchedule({ id }), active: activeSchedules }),
    async ({ id: _, ...patch }, { gate: { now }, principal, sql }, { before, work, active }) => {
      await requireKnown(tools(), { names: patch.tools ?? [], field: 'tools' }, { sql })
      const schedule = updateSchedule(requireSchedule(before), patch, onBehalfOf(principal), {
        ...active,
        now,
      })
      const writes = [saveSchedule(schedule)]
      return {
        reply: { schedule: scheduleView(schedule) },
        effects: { writes, ...workOf(schedule, work) },
      }
    },
  )

const run = ({ models, desk }: Pick<ScheduleParts, 'models' | 'desk'>): All['run'] =>
  loading(
    ({ id }) => ({ before: schedulePart(id) }),
    async (_, { sql, gate }, loaded) => {
      const before = requireSchedule(loaded.before)
      if (gate.paused)
        fail('conflict', 'cannot run: automation is paused', { reason: 'automation_paused' })
      await requirePaid(desk, gate.plan, runPrompt(models, before))
      const { facts, conversation } = await loadNow(sql, runLoad(before))
      if (isFull(facts)) fail('rate_limited', 'agent_jobs', { retryAfter: RETRY_AFTER })
      const { schedule, job, effects } = runSchedule(models, before, {
        facts,
        conversation,
        now: gate.now,
      })
      return {
        reply: { schedule: scheduleView(schedule), job: jobView(job) },
        effects,
        auditDetail: { job_id: job.id },
      }
    },
  )

export const scheduleHandlers = (parts: ScheduleParts): All => ({
  list,
  get,
  update: update(parts),
  remove,
  run: run(parts),
})

const NO_MODEL_WARNING =
  'No language model is set (OPENAI_API_KEY), and the goal is not a command: its runs will fail with model_required.'

export const scheduleCapabilityHandlers = ({
  models,
  tools,
}: Omit<ScheduleParts, 'desk'>): Handlers<typeof scheduleCapabilities> => ({
  schedule_task: loading(
    () => ({ active: activeSchedules }),
    async (input, { gate: { now }, principal, job, sql }, { active }) => {
      await requireKnown(tools(), { names: input.tools, field: 'tools' }, { sql })
      const from = { ...madeBy(principal, job), tools: allowedTools(input.tools, job) }
      const schedule = newSchedule(newId(), input, from, { ...active, now })
      const warning = models === NO_MODEL && !isCommand(schedule.goal) ? NO_MODEL_WARNING : null
      const effects = {
        writes: [insertSchedule(schedule), forgetPastSchedules],
        ...workOf(schedule),
      }
      return {
        reply: { id: schedule.id, nextRuns: nextTimes(schedule, now), warning },
        effects,
        refId: schedule.id,
      }
    },
  ),

  async list_scheduled_tasks(input, { read }) {
    const page = timedPageOf(input)
    const { rows, next_cursor } = timedResult(await read(listSchedules(page)), page.limit, timeOf)
    return { tasks: rows.map(scheduledTaskView), nextCursor: next_cursor }
  },

  cancel_scheduled_task: loading(loadSchedule, ({ id }, { gate }, { before, work }) => {
    const schedule = cancelSchedule(requireSchedule(before), gate.now)
    const reply = { id, status: schedule.status }
    if (schedule === before) return { reply, unchanged: true }
    return { reply, effects: { writes: [saveSchedule(schedule)], ...workOf(schedule, work) } }
  }),
})
