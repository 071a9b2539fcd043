/**
 * What one answer does to a job: of the model, of a tool, of a person, or of time. Pure. Where it
 * goes on then, `loop.ts` says.
 */
import type { Approval } from './approval.ts'
import { beginJob } from './beginning.ts'
import { goOn, type JobChange, type JobFacts, setJob, unchanged } from './change.ts'
import { answerDecision, type CallDecision } from './decision.ts'
import { answerChild } from './delegation.ts'
import { completeJob, endAsFailed } from './ending.ts'
import { type Interruption, interrupt } from './interruption.ts'
import type { Job } from './job.ts'
import { type AnsweredThought, answerThought } from './model-answer.ts'
import { failThought, type ModelFailure } from './model-failure.ts'
import type { Step } from './step.ts'
import { type AnsweredSummary, answerSummary, failSummary } from './summary.ts'
import { answerByRules } from './tasks/rules.ts'
import {
  afterWaiting,
  type Carried,
  carryOut,
  endMootCall,
  failCall,
  finishCall,
  type Given,
  refuseCall,
  settleCall,
  type ToolForms,
} from './tool-answer.ts'

type OfModel =
  | ({ kind: 'thought' } & AnsweredThought)
  | ({ kind: 'no thought'; step: Step } & ModelFailure)
  | ({ kind: 'summary' } & AnsweredSummary)
  | ({ kind: 'no summary'; step: Step } & ModelFailure)

/**
 * `given`: by tools beside the mailbox. `carried out`: a command. `refused`: it was made, and must
 * not be. `not made`: why it must not. `moot`: it was allowed, and somebody has made it needless.
 * `settled`: the record that a step has waited for.
 */
type OfTool =
  | { kind: 'given'; forms: ToolForms; all: readonly { step: Step; given: Given }[] }
  | { kind: 'carried out'; step: Step; forms: ToolForms; carried: Carried }
  | { kind: 'refused'; step: Step; error: string }
  | { kind: 'not made'; step: Step; error: string; stale?: Approval | undefined }
  | { kind: 'moot'; step: Step; approval: Approval; text: string }
  | { kind: 'settled'; step: Step; forms: ToolForms; answer: unknown }

/**
 * `overtaken`: calls that somebody has made needless. `rules`: those for tasks have taken the place
 * of a model. `child`: a job below it is over.
 */
type OfOthers =
  | ({ kind: 'decision' } & CallDecision)
  | { kind: 'overtaken'; all: readonly CallDecision[] }
  | { kind: 'child'; step: Step; child: Job }
  | { kind: 'rules' }

export type JobAnswer = OfModel | OfTool | OfOthers | Interruption

export const stepOf = (before: Job, answer: JobAnswer, facts: JobFacts): JobChange => {
  const job = unchanged(before, facts)
  switch (answer.kind) {
    case 'thought':
      return answerThought(job, answer)
    case 'no thought':
      return failThought(job, answer)
    case 'summary':
      return answerSummary(job, answer)
    case 'no summary':
      return failSummary(job, answer)
    case 'given':
      return goOn(answer.all.reduce((to, one) => settleCall(to, one, answer.forms), job))
    case 'carried out':
      return goOn(carryOut(beginJob(job), answer))
    case 'refused':
      return goOn(failCall(beginJob(job), answer.step, answer.error))
    case 'not made':
      return goOn(refuseCall(beginJob(job), answer))
    case 'moot':
      return goOn(endMootCall(beginJob(job), answer))
    case 'settled':
      return goOn(afterWaiting(job, finishCall(job, answer.step, answer)))
    case 'decision':
      return answerDecision(job, answer)
    case 'overtaken':
      return answer.all.reduce(answerDecision, job)
    case 'child':
      return answerChild(job, answer)
    case 'rules':
      return answerTaskByRules(beginJob(job))
    default:
      return interrupt(job, answer)
  }
}

const answerTaskByRules = (job: JobChange): JobChange => {
  const output = answerByRules(job.job.task!)
  return output === undefined
    ? endAsFailed(job, 'model_required')
    : completeJob(setJob(job, { output }))
}
