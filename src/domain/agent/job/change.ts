/**
 * What one letter changes of a job, as data: `transition.ts` decides it, and
 * src/decisions/agent/job-effects.ts makes rows of it. Each function here gives the change with one
 * thing more. Pure.
 */
import type { Spend } from '#kernel/spend'
import type { Message } from '../conversation.ts'
import type { Schedule } from '../trigger/schedule.ts'
import type { Approval } from './approval.ts'
import type { BudgetWarning } from './budget.ts'
import type { MessageSpan } from './compaction.ts'
import type { Handles } from './handles.ts'
import type { Job } from './job.ts'
import { type News, statusNews } from './news.ts'
import { type NewStep, newStep, type Step, timeOf } from './step.ts'
import { tainted } from './taint.ts'

/** A conversation as its jobs see it: where the next message goes, and the names of its records. */
export interface ConversationThread {
  id: string
  next_seq: number
  handles: Handles
}

/** A call of a tool outside that has left the workspace. */
export interface OutsideCall {
  server: string
  tool: string
  step: number
  outcome: 'done' | 'failed' | 'unknown'
}

/** What is known around a job. */
export interface JobFacts {
  now: Date
  newId(): string
  /** Its conversation; of a child, that of its root. */
  thread?: ConversationThread | undefined
  /** Whose run it is. */
  schedule?: Schedule | undefined
}

export interface JobChange {
  facts: JobFacts
  job: Job
  /** The job did not exist. */
  isNew?: boolean
  /** Steps that existed, and change. */
  steps: readonly Step[]
  /** New ones. */
  added: readonly Step[]
  thread: ConversationThread | undefined
  messages: readonly Message[]
  news: readonly News[]
  spend: readonly Spend[]
  warnings: readonly BudgetWarning[]
  /** Calls that people are asked about from now on. */
  asked: readonly Approval[]
  /** Those that were decided, or are not valid any more. */
  decided: readonly Approval[]
  outside: readonly OutsideCall[]
  /** Memories that the model was given. */
  memoryIds?: readonly string[]
  /** Of messages of the conversation. */
  summary?: { span: MessageSpan; text: string; untrusted: boolean }
  /** Of a run, if it changes. */
  schedule?: Schedule
  /** What is said where the job came from, if that is a channel. */
  tells?: string
  /** The jobs below it are called off, as they are when it is over. */
  callsOffBelow?: boolean
  /** The conversation's next jobs may begin, as they may when it is over. */
  givesWay?: boolean
  /** When its row of work is due again; undefined: the row stays as it is, or the job is over. */
  due?: Date | undefined
}

const none = {
  steps: [],
  added: [],
  messages: [],
  news: [],
  spend: [],
  warnings: [],
  asked: [],
  decided: [],
  outside: [],
}

export const unchanged = (job: Job, facts: JobFacts): JobChange => ({
  ...none,
  facts,
  job,
  thread: facts.thread,
})

/** A job that begins. `due`: when its work is. */
export const newJob = (job: Job, facts: JobFacts, due: Date): JobChange => ({
  ...tell(unchanged(job, facts), statusNews(job)),
  isNew: true,
  due,
})

export const tell = (change: JobChange, ...news: News[]): JobChange => ({
  ...change,
  news: [...change.news, ...news],
})

export const setJob = (change: JobChange, patch: Partial<Job>): JobChange => {
  const job = { ...change.job, ...patch, updated_at: change.facts.now }
  const set = { ...change, job }
  return job.status === change.job.status ? set : tell(set, statusNews(job))
}

/** Records that the job has read untrusted words from this source. */
export const taintJob = (change: JobChange, sources: readonly string[]): JobChange => {
  const taint = tainted(change.job.taint, sources)
  return taint === change.job.taint ? change : setJob(change, { taint })
}

export const putStep = (change: JobChange, step: Step): JobChange => {
  if (change.steps.some(({ id }) => id === step.id))
    throw new Error(`step ${step.number} is written twice`)
  return { ...change, steps: [...change.steps, { ...step, updated_at: change.facts.now }] }
}

/** Adds a new step, which takes the job's next number. */
export const addStep = (
  change: JobChange,
  made: Omit<NewStep, 'id' | 'job_id' | 'number'>,
): JobChange => {
  const { now, newId } = change.facts
  const { id: job_id, next_step: number } = change.job
  return {
    ...change,
    job: { ...change.job, next_step: number + 1 },
    added: [...change.added, newStep({ ...made, id: newId(), job_id, number }, now)],
  }
}

export const tellStarted = (
  change: JobChange,
  { number, kind, name }: Step,
  summary: string,
): JobChange => tell(change, { type: 'step.started', data: { number, kind, name, summary } })

export const tellEnded = (change: JobChange, step: Step): JobChange => {
  const { number, kind, name, state, started_at, ended_at } = step
  const ms = started_at && ended_at ? ended_at.getTime() - started_at.getTime() : 0
  return tell(change, { type: 'step.ended', data: { number, kind, name, state, ms } })
}

/** A step that is over now. */
export const endStep = (change: JobChange, step: Step): JobChange => {
  const over = { ...step, ended_at: change.facts.now }
  return tellEnded(putStep(change, over), over)
}

/** A call that was made is over now: it counts, and so does its time. */
export const endCall = (change: JobChange, step: Step): JobChange => {
  const { now } = change.facts
  const times = { started_at: step.started_at ?? now, ended_at: now }
  const { tool_calls, active_ms } = change.job
  const counted = { tool_calls: tool_calls + 1, active_ms: active_ms + timeOf(times) }
  return endStep(setJob(change, counted), { ...step, ...times })
}

/** Adds handles for records that are shown for the first time. */
export const nameRecords = (change: JobChange, added: Handles): JobChange => {
  const { thread } = change
  if (!thread || Object.keys(added).length === 0) return change
  const handles = { ...thread.handles, ...added }
  return { ...change, thread: { ...thread, handles } }
}

type Said = Pick<Message, 'role' | 'content'> & Partial<Pick<Message, 'model' | 'tools_used'>>

/**
 * A message in the conversation. A child has its root's for the names of records alone: its parent
 * hears its answer.
 */
export const say = (change: JobChange, said: Said): JobChange => {
  const { thread, job } = change
  const { now, newId } = change.facts
  if (!thread || job.conversation_id === null) return change
  const message: Message = {
    id: newId(),
    conversation_id: thread.id,
    seq: thread.next_seq,
    job_id: job.id,
    reply_to: job.message_id,
    author: { kind: 'agent', id: job.id },
    untrusted: job.taint.length > 0,
    model: null,
    tools_used: [],
    ...said,
    created_at: now,
    updated_at: now,
  }
  const { id, seq, role, content, model, tools_used, untrusted } = message
  return tell(
    {
      ...change,
      messages: [...change.messages, message],
      thread: { ...thread, next_seq: thread.next_seq + 1 },
    },
    { type: 'message', data: { id, seq, role, content, model, tools_used, untrusted } },
  )
}

export const decideApproval = (change: JobChange, approval: Approval): JobChange => ({
  ...change,
  decided: [...change.decided, approval],
})

/** Its row of work is due again, at once or then. */
export const goOn = (change: JobChange, due: Date = change.facts.now): JobChange => ({
  ...change,
  due,
})
