/**
 * A job of the agent: what one turn of a conversation starts. It works in steps, each a row;
 * `loop.ts` says what comes next.
 *
 * queued → running → completed, failed or cancelled; while it waits for a person, waiting_approval.
 */
import { jobRecord } from '#contract/records/agent/job'
import type { Caller } from '#contract/records/agent/on-behalf'
import type { RowOf } from '#contract/records/record'
import { fail } from '#kernel/errors'
import type { Task } from './tasks/forms.ts'

/** Who asked for the job. This caller's rights are looked up again at each step. */
export type OnBehalf = Caller

/**
 * The kind of caller: a person by any of their credentials, or a key. A linked sender is distinct
 * from the member, because senders can be forged.
 */
export const askerOf = ({ kind, id, personId }: OnBehalf): string =>
  kind === 'channel' ? id : (personId ?? id)

/** `task`: null for all other kinds of job. */
export type Job = RowOf<typeof jobRecord> & { task: Task | null }
export type JobStatus = Job['status']
export type JobKind = Job['kind']
export type JobCause = NonNullable<Job['cause']>

/** What a tool is told about the job that calls it. */
export interface CallingJob {
  id: string
  /** `action`: a person or a program called the tool directly. */
  kind: JobKind
  rootId: string
  depth: number
  origin: Job['origin']
  /**
   * Who asked for the job. An approved call runs in the name of the approver, but records that name
   * a person name this one.
   */
  onBehalf: OnBehalf
  conversationId: string | null
  /** The message that the job answers. */
  messageId: string | null
  /** Null: the caller's tools, as for every direct call. */
  tools: string[] | null
  taint: string[]
  scheduled: boolean
  /** The number of the calling step. */
  step: number
  stepId: string
  /** The person who allowed the call, if it had to be asked. */
  allowedBy?: string | undefined
}

export const callingJob = (
  job: Job,
  { id: stepId, number }: { id: string; number: number },
): CallingJob => ({
  id: job.id,
  kind: job.kind,
  rootId: job.root_id,
  depth: job.depth,
  origin: job.origin,
  onBehalf: job.on_behalf,
  conversationId: job.conversation_id,
  messageId: job.message_id,
  tools: job.kind === 'action' ? null : job.tools,
  taint: job.taint,
  scheduled: job.scheduled,
  step: number,
  stepId,
})

export const isOver = ({ status }: Pick<Job, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** The most characters of a goal that a job shows; the message has the rest. */
const GOAL_LENGTH = 500

export type NewTurn = Pick<
  Job,
  | 'conversation_id'
  | 'message_id'
  | 'on_behalf'
  | 'tools'
  | 'tier'
  | 'asked_model'
  | 'model'
  | 'taint'
> & {
  content: string
  now: Date
}

/** A job that has not started yet. */
const unbegun = (id: string, goal: string, now: Date) => ({
  ...jobRecord.blank,
  id,
  status: 'queued' as const,
  goal: [...goal].slice(0, GOAL_LENGTH).join(''),
  root_id: id,
  depth: 0,
  origin: 'manual' as const,
  shown: [],
  scheduled: false,
  typed: false,
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  reserved_tokens: 0,
  reserved_cost: 0,
  cost_estimated: false,
  active_ms: 0,
  invalid_answers: 0,
  next_step: 1,
  next_event: 1,
  created_at: now,
  updated_at: now,
})

/** The job that answers a message. */
export const newTurn = (id: string, { content, now, ...rest }: NewTurn): Job => ({
  ...unbegun(id, content, now),
  ...rest,
  kind: 'turn',
})

/** A job that begins by itself. */
export const newUnattended = (
  id: string,
  { kind, cause, ...turn }: NewTurn & { kind: 'scheduled' | 'webhook'; cause: JobCause },
): Job => ({
  ...newTurn(id, turn),
  kind,
  cause,
  origin: 'automatic',
  scheduled: kind === 'scheduled',
})

type NewAction = Pick<Job, 'goal' | 'on_behalf' | 'model'> & { tool: string; now: Date }

/** The job of one direct call: a single step that calls the tool, without a model. */
export const newAction = (id: string, { goal, tool, on_behalf, model, now }: NewAction): Job => ({
  ...unbegun(id, goal, now),
  kind: 'action',
  on_behalf,
  tools: [tool],
  taint: [],
  tier: 'fast',
  model,
  next_step: 2,
})

/** Ends a job that is not over. */
export const concludeJob = (
  job: Job,
  end: { status: 'completed' | 'failed' | 'cancelled'; error: string | null },
  now: Date,
): Job => {
  if (isOver(job)) fail('conflict', `the job is already ${job.status}`, { reason: 'wrong_state' })
  return { ...job, ...end, held_since: null, ended_at: now, updated_at: now }
}
