/** What a letter about a job knows, and the decision that an answer makes of it. */
import { type AroundJob, jobEffects } from '#decisions/agent/job-effects'
import type { ToolCaller } from '#decisions/agent/toolbox'
import type { Authors } from '#domain/agent/job/authors'
import type { JobChange, JobFacts } from '#domain/agent/job/change'
import { isOver, type Job } from '#domain/agent/job/job'
import type { StepHead } from '#domain/agent/job/step'
import { type JobAnswer, stepOf } from '#domain/agent/job/transition'
import type { CallerNow } from '#store/agent/callers'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { Decision } from '../../engine/letter.ts'

/** A decision after which nothing runs outside the letter. */
type Decided = { decision: Decision<void> }

export type Head = Omit<StepHead, 'way'>

/** The letter of a claim or an outcome. */
export interface At extends AroundJob {
  sql: Sql
  gate: Gate
  work: Work
  /** As of now: it may have read more than when it was asked for. */
  job: Job
  facts: JobFacts
  caller: ToolCaller
  /** The caller's present rights. */
  callerNow: CallerNow
  /** Nobody asks for the job any more. */
  isGone: boolean
  /** The authors of what the job is given of its conversation. */
  authors: Authors
  /** The state of the job before this letter. */
  heads: readonly Head[]
  /** Whether it waits for another job of its conversation. */
  isBehind: boolean
  /** The job that a person asked for. */
  goal: string
  /** Model calls that the whole tree has made. */
  treeCalls: number
}

/** `effects`: what the letter changes besides. Without a run, the change says why. */
export interface Begun<Run> {
  change: JobChange
  run?: Run
  effects?: Effects
}

/** `more`: what the letter changes besides. */
export const jobDecision = (at: At, change: JobChange, ...more: Effects[]): Decided => {
  const { id, kind } = change.job
  // The caller of a direct call may be waiting.
  const answers =
    isOver(change.job) && kind === 'action' ? [{ refId: id, with: 'late' as const }] : []
  const effects = merge(jobEffects(change, at), ...more)
  return { decision: { reply: undefined, effects, answers } }
}

/** The decision that an answer makes. */
export const answerJob = (at: At, answer: JobAnswer, ...more: Effects[]): Decided =>
  jobDecision(at, stepOf(at.job, answer, at.facts), ...more)
