/**
 * A job of the agent: what one turn of a conversation starts. It works in steps, each a row;
 * `loop.ts` says what comes next.
 *
 * queued → running → completed, failed or cancelled; while it waits for a person, waiting_approval.
 */
import type { Caller } from '#contract/records/agent/on-behalf'
import { fail } from '#kernel/errors'
import type { Task } from './tasks/forms.ts'

export type JobStatus =
  | 'queued'
  | 'running'
  | 'waiting_approval'
  | 'waiting_child'
  | 'completed'
  | 'failed'
  | 'cancelled'

export type JobKind = 'turn' | 'task' | 'action' | 'scheduled' | 'webhook' | 'channel' | 'delegate'

/** Who asked for the job. What this caller may do is looked up again at each step. */
export type OnBehalf = Caller

/**
 * Who asks: a person by any of their credentials, or a key. A linked sender is not the member, for
 * a sender can be forged.
 */
export const askerOf = ({ kind, id, personId }: OnBehalf): string =>
  kind === 'channel' ? id : (personId ?? id)

/**
 * `schedule`: a schedule's time has come. `webhook_rule`: a post came in. `channel`: a message of a
 * channel, by its id.
 */
export interface JobCause {
  kind: 'schedule' | 'webhook_rule' | 'channel'
  id: string
}

export interface Job {
  id: string
  kind: JobKind
  status: JobStatus
  /** Why it failed; of a job that is held, what it waits for. */
  error: string | null
  goal: string
  conversation_id: string | null
  message_id: string | null
  parent_id: string | null
  /** The step of the parent that waits for this job. */
  parent_step_id: string | null
  root_id: string
  depth: number
  origin: 'manual' | 'automatic'
  on_behalf: OnBehalf
  /** The tools that it may use; null: those of its caller. */
  tools: string[] | null
  /** Tools beyond the core whose definitions it has asked for. */
  shown: string[]
  tier: 'fast' | 'reasoning'
  asked_model: string | null
  model: string
  /** Where untrusted text that it has read came from. Never shrinks. */
  taint: string[]
  scheduled: boolean
  /** A command in the words of the command line, which a person has typed: no model answers it. */
  typed: boolean
  /** What began it, if nobody did at that moment. */
  cause: JobCause | null
  /** Calls of the model that it may make itself; null: those that are left to its tree. */
  most_steps: number | null
  /** What is asked of a task; null of all other kinds. */
  task: Task | null
  /** What a job without a conversation gave. */
  output: Record<string, unknown> | null
  model_calls: number
  tool_calls: number
  input_tokens: number
  output_tokens: number
  /** Hundredths of a US cent. */
  cost: number
  /**
   * Tokens and money set aside for calls of the model that are not settled: on the wire, or kept
   * for those that died.
   */
  reserved_tokens: number
  reserved_cost: number
  cost_estimated: boolean
  active_ms: number
  invalid_answers: number
  /** Since when it has waited for billing to be in order; null if it does not. */
  held_since: Date | null
  next_step: number
  next_event: number
  started_at: Date | null
  ended_at: Date | null
  created_at: Date
  updated_at: Date
}

/** What a tool is told of the job that calls it. */
export interface CallingJob {
  id: string
  /** `action`: a person or a program has called the tool directly. */
  kind: JobKind
  rootId: string
  depth: number
  origin: Job['origin']
  /**
   * Who asked for the job. An approved call runs in the name of whoever approved it; records that
   * keep a person keep this one.
   */
  onBehalf: OnBehalf
  conversationId: string | null
  /** The message that the job answers. */
  messageId: string | null
  /** null: those of its caller, as for every direct call. */
  tools: string[] | null
  taint: string[]
  scheduled: boolean
  /** The number of the step that calls. */
  step: number
  stepId: string
}

export const callingJob = (
  job: Job,
  { id: stepId, number }: { id: string; number: number },
): CallingJob => ({
  ...{
    id: job.id,
    kind: job.kind,
    rootId: job.root_id,
    depth: job.depth,
    origin: job.origin,
    onBehalf: job.on_behalf,
  },
  ...{
    conversationId: job.conversation_id,
    messageId: job.message_id,
    tools: job.kind === 'action' ? null : job.tools,
    taint: job.taint,
    scheduled: job.scheduled,
    ...{ step: number, stepId },
  },
})

export const isOver = ({ status }: Pick<Job, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** The longest goal that a job shows, in characters; the message has the rest. */
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

/** A job that nobody has begun to work on. */
const unbegun = (id: string, goal: string, now: Date) => ({
  ...{ id, status: 'queued' as const, error: null, goal: [...goal].slice(0, GOAL_LENGTH).join('') },
  ...{
    parent_id: null,
    parent_step_id: null,
    root_id: id,
    depth: 0,
    origin: 'manual' as const,
    shown: [],
    scheduled: false,
    typed: false,
    cause: null,
  },
  ...{ most_steps: null, task: null, output: null },
  ...{
    model_calls: 0,
    tool_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost: 0,
    reserved_tokens: 0,
    reserved_cost: 0,
    cost_estimated: false,
  },
  ...{ active_ms: 0, invalid_answers: 0, held_since: null, next_step: 1, next_event: 1 },
  ...{ started_at: null, ended_at: null, created_at: now, updated_at: now },
})

/** The job that answers a message. */
export const newTurn = (id: string, { content, now, ...rest }: NewTurn): Job => ({
  ...rest,
  ...unbegun(id, content, now),
  kind: 'turn',
})

/** A job that begins by itself. */
export const newUnattended = (
  id: string,
  { kind, cause, ...turn }: NewTurn & { kind: 'scheduled' | 'webhook'; cause: JobCause },
): Job => ({
  ...newTurn(id, turn),
  ...{ kind, cause, origin: 'automatic', scheduled: kind === 'scheduled' },
})

type NewAction = Pick<Job, 'goal' | 'on_behalf' | 'model'> & { tool: string; now: Date }

/** The job of one direct call: a single step of its tool, and no model. */
export const newAction = (id: string, { goal, tool, on_behalf, model, now }: NewAction): Job => ({
  ...unbegun(id, goal, now),
  ...{
    kind: 'action',
    conversation_id: null,
    message_id: null,
    on_behalf,
    tools: [tool],
    taint: [],
  },
  ...{ tier: 'fast', asked_model: null, model, next_step: 2 },
})

/** The end of a job that is not over. */
export const ended = (
  job: Job,
  end: { status: 'completed' | 'failed' | 'cancelled'; error: string | null },
  now: Date,
): Job => {
  if (isOver(job)) fail('conflict', `the job is already ${job.status}`)
  return { ...job, ...end, held_since: null, ended_at: now, updated_at: now }
}
