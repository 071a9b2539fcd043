/**
 * A task: a job of one shot, without tools, that turns JSON of a known type into JSON that its type
 * checks.
 *
 * queued → running → completed, failed or cancelled. Only a queued one can be cancelled.
 */
import { fail } from '#kernel/errors'
import { beginning } from '#kernel/storable'
import { isOver, type Job, type NewTurn, newTurn } from '../job.ts'
import { labelsOf, type Task } from './forms.ts'

const DEFAULT_ATTEMPTS = 2

export const mostAttempts = ({ max_attempts }: Task): number => max_attempts ?? DEFAULT_ATTEMPTS

type NewTask = Pick<NewTurn, 'on_behalf' | 'tier' | 'asked_model' | 'model' | 'now'> & {
  task: Task
}

const GOAL_LENGTH = 200

export const newTask = (id: string, { task, ...rest }: NewTask): Job => ({
  ...newTurn(id, {
    ...rest,
    conversation_id: null,
    message_id: null,
    tools: [],
    taint: [],
    content: `${task.type}: ${beginning(task.input.text.trim().replace(/\s+/g, ' '), GOAL_LENGTH)}`,
  }),
  kind: 'task',
  task,
})

/** Throws `invalid_input` if two labels have the same name. */
export const requireDistinct = (task: Task): void => {
  const names = labelsOf(task).map(({ name }) => name.trim().toLowerCase())
  const at = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (at === -1) return
  const message = `is the name of two labels: ${names[at]}`
  fail('invalid_input', `input.labels.${at} ${message}`, {
    details: [{ path: `input.labels.${at}`, message }],
  })
}

/** Whether there is anything left to cancel. Throws `conflict` for a running task. */
export const cancellable = (job: Job): boolean => {
  if (isOver(job)) return false
  if (job.status !== 'queued')
    fail('conflict', 'cannot cancel: the task is already running; it ends by itself', {
      reason: 'wrong_state',
    })
  return true
}

/** How many answers a model has given for it, or the one from the rules. */
export const attemptsOf = ({ invalid_answers, status }: Job): number =>
  invalid_answers + (status === 'completed' ? 1 : 0)
