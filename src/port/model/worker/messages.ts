/**
 * What the server's thread and the worker send each other. Functions cannot be sent, so a network's
 * measure goes by its name.
 */
import { measures } from '#port/network/measures'
import type { DraftComputations } from './computations.ts'

export interface Request {
  name: keyof DraftComputations
  /** Its brief lacks `measure`. */
  input: { brief: object }
  measure: keyof typeof measures
}

/** `hint` is that of a `GenerationError`; `fault` is any other error with its stack. */
export type WorkerAnswer = { result: unknown } | { hint: string } | { fault: string }

const nameOf = (measure: (text: string) => number): keyof typeof measures => {
  const found = Object.entries(measures).find(([, known]) => known === measure)
  if (!found) throw new Error('the measure of the brief is not in the table of measures')
  return found[0] as keyof typeof measures
}

/** Throws if the brief has a measure that is not in the table. */
export const computeRequest = <N extends keyof DraftComputations>(
  name: N,
  { brief, ...rest }: Parameters<DraftComputations[N]>[0],
): Request => {
  const { measure, ...sent } = brief
  return { name, input: { ...rest, brief: sent }, measure: nameOf(measure) }
}
