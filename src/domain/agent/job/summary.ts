/**
 * What becomes of the summary that a job makes of its conversation. Kept or not, the job thinks
 * next. Pure.
 */
import { book, unbook } from './booking.ts'
import { endStep, goOn, type JobChange } from './change.ts'
import { keptSummary, type MessageSpan } from './compaction.ts'
import type { AnsweredThought } from './model-answer.ts'
import type { ModelFailure } from './model-failure.ts'
import type { Step } from './step.ts'
import { CONVERSATION } from './taint.ts'

export interface AnsweredSummary
  extends Pick<AnsweredThought, 'step' | 'thought' | 'byDesk' | 'ms' | 'priceOf' | 'usage'> {
  span: MessageSpan
  /** Up to where the conversation is summarised by now; undefined: it is gone. */
  summarisedTo: number | undefined
  /** Whether somebody outside the workspace may have written some of it. */
  untrusted: boolean
  /** Bytes that a model is given of a conversation. */
  room: number
}

export const answerSummary = (before: JobChange, answer: AnsweredSummary): JobChange => {
  const { thought, span, summarisedTo, untrusted, room } = answer
  const { change, step } = book(before, answer.step, answer)
  const text = keptSummary(thought.text, room)
  if (text === '' || thought.ending === 'refused')
    return goOn(endStep(change, { ...step, state: 'failed', error: 'model_invalid' }))
  const kept = { result: { text }, untrusted: untrusted ? CONVERSATION : null }
  const done = goOn(endStep(change, { ...step, ...kept }))
  // Another job of the conversation may meanwhile have summarised it.
  return summarisedTo === span.from ? { ...done, summary: { span, text, untrusted } } : done
}

export const failSummary = (
  before: JobChange,
  { step, ...failed }: ModelFailure & { step: Step },
): JobChange =>
  goOn(endStep(unbook(before, step, failed), { ...step, state: 'failed', error: failed.failure }))
