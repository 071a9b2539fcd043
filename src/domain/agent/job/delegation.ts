/**
 * A job that does a part of another one's: made by a step of its parent, which waits for its
 * answer. Pure.
 */
import { fail } from '#kernel/errors'
import { beginning } from '#kernel/storable'
import { endStep, goOn, type JobChange, setJob } from './change.ts'
import type { Job } from './job.ts'
import { newTurn } from './job.ts'
import type { Step } from './step.ts'

/** The tool that makes one. */
const DELEGATE = 'delegate'

/** Generations below the job that a person has asked for. */
const MOST_DEPTH = 3
/** Jobs below it, whenever they ended. */
const MOST_CHILDREN = 8
/** How long a parent waits. */
export const CHILD_MS = 24 * 3_600_000
/** In characters: what a child's answer may have. */
const LONGEST_ANSWER = 8_000

/** Throws `conflict` if a root has had as many as it may. */
export const requireRoomForChild = (children: number): void => {
  if (children >= MOST_CHILDREN)
    fail(
      'conflict',
      `cannot delegate: ${MOST_CHILDREN} sub-agents were used already, which is the most`,
    )
}

/** Those of the named tools that the parent has. The deepest children have no children. */
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
  /** The step that waits. */
  stepId: string
  goal: string
  tools: readonly string[]
  mostSteps: number | null
  now: Date
}

/** It acts for the same caller, has read what its parent has read, and answers its parent alone. */
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
    ...{
      kind: 'delegate',
      goal,
      parent_id: parent.id,
      parent_step_id: stepId,
      root_id: parent.root_id,
      depth,
    },
    ...{ origin: parent.origin, scheduled: parent.scheduled, most_steps: mostSteps },
  }
}

/** What a job without a conversation said last. */
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
