/** The end of a job, and what people read of one that failed. Pure. */
import { cancelledText, endText } from '../channel/answer.ts'
import { pauseNotice, ranOut } from '../trigger/schedule.ts'
import { type JobChange, say, setJob } from './change.ts'
import { concludeJob } from './job.ts'
import type { JobEnd } from './loop.ts'

const notices: Record<string, string> = {
  approval_expired:
    'Nobody decided within 24 hours, so this was not done. Ask again if you still want it.',
  caller_gone: 'Whoever asked for this no longer has access to the workspace.',
  deadline: 'This took longer than 15 minutes of work and was stopped.',
  enqueue_failed: 'This was interrupted three times and given up.',
  max_steps: 'This needed more steps than the plan allows.',
  model_invalid: 'The model gave no usable answer three times in a row.',
  model_required: 'No language model is set.',
  unknown_command: 'The goal is not a command that exists.',
}

const noticeOf = (error: string): string => {
  if (error.startsWith('plan_invalid'))
    return `The workspace's billing was not in order for a week (${error}), so this was given up.`
  if (error.startsWith('budget_exhausted'))
    return `The budget of the agent is used up (${error.slice('budget_exhausted:'.length)}).`
  return notices[error] ?? `This failed: ${error}`
}

/**
 * Ends the job. A run counts for its schedule, which may be paused. `notice`: what people read of
 * the failure, in the place of words that are the same for all.
 */
export const endJob = (
  change: JobChange,
  end: JobEnd,
  notice: string = noticeOf(end.error ?? 'failed'),
): JobChange => {
  const { schedule, now } = change.facts
  const after = schedule && ranOut(schedule, end, now)
  const said = [
    ...(end.status === 'failed' ? [notice] : []),
    ...(after && after.status !== schedule.status ? [pauseNotice(after)] : []),
  ].reduce((to, content) => say(to, { role: 'notice', content }), change)
  const over = setJob(said, concludeJob(said.job, end, now))
  return {
    ...over,
    ...(after !== schedule && { schedule: after }),
    ...(over.job.parent_id === null && { tells: lastWords(over) }),
  }
}

const lastWords = ({ job, messages }: JobChange): string =>
  job.status === 'cancelled' ? cancelledText(job) : endText(job, messages)

export const endAsFailed = (change: JobChange, error: string, notice?: string): JobChange =>
  endJob(change, { status: 'failed', error }, notice)

export const completeJob = (change: JobChange): JobChange =>
  endJob(change, { status: 'completed', error: null })
