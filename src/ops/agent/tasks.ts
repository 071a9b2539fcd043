import { Type as T } from '@sinclair/typebox'
import type { tasks } from '#contract/agent/tasks'
import { isTaskType, type TaskTypeName, taskTypes } from '#contract/task-types'
import { onBehalfOf } from '#decisions/agent/caller'
import { cancelledJob, startEffects } from '#decisions/agent/job-effects'
import type { Job } from '#domain/agent/job/job'
import { chooseModel, NO_MODEL } from '#domain/agent/job/model-choice'
import type { Task } from '#domain/agent/job/tasks/forms'
import { cancellable, newTask, requireDistinct } from '#domain/agent/job/tasks/task'
import { taskView } from '#domain/agent/job/views'
import { requireBilling } from '#domain/app/plan'
import { fail, found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { listTasks, openTreeOf, taskPart } from '#store/agent/jobs'
import { merge } from '#store/engine/letter'
import { loadBy } from '#store/engine/load'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { validate } from '../engine/validate.ts'
import { requireJobRoom, type TurnParts, turnFactsFor } from './job/turns.ts'

const requireTask = (job: Job | undefined): Job => found(job, 'no such task')

const requireType = (type: string): TaskTypeName => {
  if (isTaskType(type)) return type
  const message = `must be one of ${Object.keys(taskTypes).join(', ')}`
  return fail('invalid_input', `taskType ${message}`, { details: [{ path: 'taskType', message }] })
}

const taskOf = (taskType: string, input: unknown, max_attempts: number | null): Task => {
  const type = requireType(taskType)
  validate(T.Object({ input: taskTypes[type] }), { input })
  const task = { type, input, max_attempts } as Task
  requireDistinct(task)
  return task
}

/** The model tier of both types. */
const TIER = 'fast'

export const taskHandlers = ({ models }: Pick<TurnParts, 'models'>): Handlers<typeof tasks> => ({
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listTasks({ ...page, status })), page.limit)
    return { tasks: rows.map(taskView), nextCursor: next_cursor }
  },

  create: loading(
    (_, { principal }) => ({ facts: turnFactsFor(null, principal) }),
    (
      { taskType, input, tier = TIER, model, maxAttempts = null },
      { gate: { now, plan }, principal },
      { facts },
    ) => {
      const task = taskOf(taskType, input, maxAttempts)
      if (models !== NO_MODEL) requireBilling(plan)
      requireJobRoom(facts)
      const choice = { ...chooseModel(model ?? tier, models, tier), asked_model: model ?? null }
      const job = newTask(newId(), { ...choice, task, on_behalf: onBehalfOf(principal), now })
      return {
        reply: { task: taskView(job) },
        effects: startEffects(job, now),
        refId: job.id,
        auditDetail: { task_type: task.type },
      }
    },
  ),

  async get({ id }, { read }) {
    return { task: taskView(requireTask((await loadBy(read, { job: taskPart(id) })).job)) }
  },

  cancel: loading(
    ({ id }) => ({ job: taskPart(id), tree: openTreeOf(id) }),
    (_, { gate: { now } }, { job, tree: [open] }) => {
      if (!cancellable(requireTask(job)) || !open)
        return { reply: { task: taskView(requireTask(job)) }, unchanged: true }
      const cancelled = cancelledJob(open, now)
      return {
        reply: { task: taskView(cancelled.job) },
        effects: merge({ settled: open.work ? [open.work] : [] }, cancelled.effects),
      }
    },
  ),
})
