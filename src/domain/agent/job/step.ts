/** A step of a job: one model call, or one tool call. */

import { stepRecord } from '#contract/records/agent/step'
import type { RowOf } from '#contract/records/record'
import { beginning } from '#kernel/storable'
import type { GivenPlaybook } from '../knowledge/playbook.ts'
import type { Refused } from './answer.ts'
import { GENERATION_WAIT_MS } from './limits.ts'

type Row = RowOf<typeof stepRecord>

/** What a tool may do without asking: the table in verdict.ts. */
export type ToolClass = NonNullable<Row['class']>

export const isReading = ({ class: of }: { class: ToolClass | null }): boolean =>
  of === 'read' || of === 'outside_read'

/**
 * How a tool runs. `read`: beside the mailbox, and may repeat. `command`: in the letter of its
 * claim. `reach`: asks a network first, then decides in the letter that settles it. `urgent`: in a
 * letter of its own. `outside`: it may change what is not ours, so it begins at most once.
 */
export type ToolWay = 'read' | 'command' | 'reach' | 'urgent' | 'outside'

export type Step = Row & { result: StepResult | null; answer: StepAnswer | null }

interface StepAnswer {
  text: string
  calls: number
  reasoning?: string | undefined
  /** Calls of the answer that are not made, if there are any. */
  refused?: Refused
  /** Those that the model was given with the request. */
  playbooks?: GivenPlaybook[]
}

interface StepResult {
  text: string
  /** Those whose text it holds. */
  playbooks?: GivenPlaybook[]
  /** The record that a command created or changed. */
  ref?: string
  /** The whole answer, for a direct call. */
  value?: unknown
}

/**
 * What the loop needs to know about a step. Letters read nothing else, because arguments and
 * results can be large.
 */
export type StepHead = Pick<
  Step,
  | 'id'
  | 'number'
  | 'kind'
  | 'name'
  | 'state'
  | 'class'
  | 'args_hash'
  | 'awaits_kind'
  | 'awaits'
  | 'of_step'
  | 'attempt'
  | 'not_before'
  | 'started_at'
> & {
  /** Hash of its result; equal for equal results. */
  result_hash: string | null
  way: ToolWay | null
  /** Of the step's approval. */
  expires_at: Date | null
}

export const isFinished = ({ state }: Pick<Step, 'state'>): boolean =>
  state !== 'ready' && state !== 'asked' && state !== 'running' && state !== 'waiting'

/** In characters; the record itself has the rest. */
const LONGEST_RESULT = 48_000

/** What is kept of an answer. `more`: kept besides its text. */
export const keptResult = (
  text: string,
  more: Omit<StepResult, 'text'> = {},
): Pick<Step, 'result' | 'result_cut'> => ({
  result: { text: beginning(text, LONGEST_RESULT), ...more },
  result_cut: text.length > LONGEST_RESULT,
})

/**
 * Counts towards the job's time limit. The clock may have stepped meanwhile, so it is never longer
 * than a step may wait.
 */
export const timeOf = ({ started_at, ended_at }: Record<'started_at' | 'ended_at', Date>): number =>
  Math.min(GENERATION_WAIT_MS, Math.max(0, ended_at.getTime() - started_at.getTime()))

/** A step is given up after this many tries. */
export const STEP_RUNS = 3

export type NewStep = Pick<Step, 'id' | 'job_id' | 'number' | 'kind' | 'name' | 'state'> &
  Partial<Step>

export const newStep = (step: NewStep, now: Date): Step => ({
  ...stepRecord.blank,
  why: [],
  result_cut: false,
  reserved_tokens: 0,
  reserved_cost: 0,
  attempt: 0,
  tries: [],
  ...step,
  created_at: now,
  updated_at: now,
})

/** The step before its next try, after this one came to nothing. */
export const anew = (step: Step, error: string, now: Date): Step => {
  const started_at = ((step.state === 'running' && step.started_at) || now).toISOString()
  const state = step.state === 'running' ? 'ready' : step.state
  return {
    ...step,
    state,
    attempt: step.attempt + 1,
    tries: [...step.tries, { started_at, ended_at: now.toISOString(), error }],
  }
}
