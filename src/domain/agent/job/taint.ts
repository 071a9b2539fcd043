/** The sources of untrusted words that a job has read, as its taint names them. Pure. */

/** A message of its conversation. */
export const CONVERSATION = 'conversation'

/** Adds these sources; returns the same array if all of them are in it. */
export const tainted = (taint: string[], sources: readonly string[]): string[] => {
  const all = [...new Set([...taint, ...sources])]
  return all.length === taint.length ? taint : all
}
