/** Where untrusted words that a job has read came from, as its taint names them. Pure. */

/** A message of its conversation. */
export const CONVERSATION = 'conversation'

/** With these as well; the same array if all of them are in it. */
export const tainted = (taint: string[], sources: readonly string[]): string[] => {
  const all = [...new Set([...taint, ...sources])]
  return all.length === taint.length ? taint : all
}
