/**
 * A job that does part of another job: a step of the parent makes it, and waits for its answer.
 * Pure.
 */
import { fail } from '#kernel/errors'
import { beginning } from '#kernel/storable'
import { endStep, goOn, type JobChange, setJob } from './change.ts'
import type { Job } from './job.ts'
import { newTurn } from './job.ts'
import type { Step } from './step.ts'

/** The tool that makes a child. */
const DELEGATE = 'delegate'

/** How many generations can be below the job that a person asked for. */
const MOST_DEPTH = 3
/** How many jobs can be below it in all, including those that have ended. */
const MOST_CHILDREN = 8
/** How long a parent waits for a child. */
export const CHILD_MS = 24 * 3_600_000
/** The most characters of a child's answer. */
const LONGEST_ANSWER = 8_000

/** Throws `conflict` if a root already has the most children. */
export const requireRoomForChild = (children: number): void => {
  if (children >= MOST_CHILDREN)
    fail(
      'conflict',
      `cannot delegate: ${MOST_CHILDREN} sub-agents were used already, which is the most`,
      { reason: 'limit_reached' },
    )
}

/** The named tools that the parent has too. Children of the deepest level cannot delegate. */
const childTools = (
  asked: readonly string[],
  parent: readonly string[] | null,
  depth: number,
): string[] =>
  [...new Set(asked)].filter(
    (name) =>
      (parent === null || parent.includes(name)) && (name !== DELEGATE || depth < MOST_DEPTH),
  )

export interface Delegated {
  /** The step that waits for the child. */
  stepId: string
  goal: string
  tools: readonly string[]
  mostSteps: number | null
  now: Date
}

/** The child acts for the same caller, inherits the parent's taint, and answers only its parent. */
export const newChild = (
  id: string,
  parent: Job,
  { stepId, goal, tools, mostSteps, now }: Delegated,
): Job => {
  const depth = parent.depth + 1
  const { on_behalf, tier, asked_model, model, taint } = parent
  const same = {
    on_behalf,
    tier,
    asked_model,
    model,
    taint,
    conversation_id: null,
    message_id: null,
  }
  return {
    ...newTurn(id, { ...same, tools: childTools(tools, parent.tools, depth), content: '', now }),
    kind: 'delegate',
    goal,
    parent_id: parent.id,
    parent_step_id: stepId,
    root_id: parent.root_id,
    depth,
    origin: parent.origin,
    scheduled: parent.scheduled,
    most_steps: mostSteps,
  }
}

/** The last words of a job without a conversation. */
const answerOf = ({ output }: Pick<Job, 'output'>): string =>
  typeof output?.text === 'string' ? output.text : ''

const resultOf = (child: Job): Pick<Step, 'state' | 'result' | 'result_cut' | 'error'> => {
  if (child.status !== 'completed') {
    const error = `the sub-agent ${child.status === 'cancelled' ? 'was cancelled' : `failed: ${child.error}`}`
    return { state: 'failed', result: { text: error }, result_cut: false, error }
  }
  const text = answerOf(child)
  return {
    state: 'done',
    result: { text: beginning(text, LONGEST_ANSWER) },
    result_cut: text.length > LONGEST_ANSWER,
    error: null,
  }
}

/**
 * The parent goes on once the child is over, for which its step waits. What the child has read from
 * outside, the parent has read with its answer.
 */
export const answerChild = (
  before: JobChange,
  { step, child }: { step: Step; child: Job },
): JobChange => {
  const { taint, tool_calls } = before.job
  const change = endStep(before, {
    ...step,
    ...resultOf(child),
    untrusted: child.taint.length > 0 ? child.taint.join(', ') : null,
  })
  return goOn(
    setJob(change, {
      status: 'running',
      tool_calls: tool_calls + 1,
      taint: [...new Set([...taint, ...child.taint])],
    }),
  )
}
