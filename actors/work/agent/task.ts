/** Tasks: one answer, checked against the form of its type. */
import { checkedOutput } from '#domain/agent/job/tasks/asking'
import { answerByRules } from '#domain/agent/job/tasks/rules'
import { mostAttempts } from '#domain/agent/job/tasks/task'
import type { Thought } from '#port/model/thinker'
import { type At, again, over } from './at.ts'

/** Without a model, in the letter of the claim. */
export const endByRules = (at: At) => {
  const { job } = at.changes
  at.changes.set({ status: 'running', started_at: job.started_at ?? at.gate.now })
  const output = answerByRules(job.task!)
  if (output === undefined)
    return over(at, { kind: 'end', end: { status: 'failed', error: 'model_required' } })
  at.changes.set({ output })
  return over(at, { kind: 'end', end: { status: 'completed', error: null } })
}

/**
 * What is wrong with an answer as the output of the job's task; null: nothing, or it is no task's.
 */
export const faultOf = ({ changes }: At, { text }: Pick<Thought, 'text'>): string | null => {
  const checked = changes.job.task && checkedOutput(changes.job.task, text)
  return checked && 'error' in checked ? checked.error : null
}

export const answeredTask = (at: At, { text }: Pick<Thought, 'text'>) => {
  const { job } = at.changes
  const task = job.task!
  const checked = checkedOutput(task, text)
  if ('output' in checked) {
    at.changes.set({ output: checked.output })
    return over(at, { kind: 'end', end: { status: 'completed', error: null } })
  }
  const invalid_answers = job.invalid_answers + 1
  at.changes.set({ invalid_answers })
  if (invalid_answers < mostAttempts(task)) return again(at, at.gate.now)
  return over(at, {
    kind: 'end',
    end: { status: 'failed', error: `output_invalid: ${checked.error}` },
  })
}
