import { measures } from '#port/network/measures'
import { GenerationError } from '../drafter.ts'
import { draftComputations } from './computations.ts'
import type { Request, WorkerAnswer } from './messages.ts'

/** Answers a request, inside the worker. */
export const answerRequest = ({ name, input, measure }: Request): WorkerAnswer => {
  try {
    const compute = draftComputations[name] as (input: object) => unknown
    return { result: compute({ ...input, brief: { ...input.brief, measure: measures[measure] } }) }
  } catch (cause) {
    if (cause instanceof GenerationError) return { hint: cause.hint }
    return { fault: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}
