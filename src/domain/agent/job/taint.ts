/** What the taint of a job names: mostly sources of untrusted words that it has read. Pure. */

/** A message of its conversation. */
export const CONVERSATION = 'conversation'

/**
 * The job began before this deployment was copied, so the other one may be doing the same: what
 * leaves the workspace is asked for, as after untrusted words.
 */
export const COPIED = 'copied deployment'

/** Adds these sources; returns the same array if all of them are in it. */
export const tainted = (taint: string[], sources: readonly string[]): string[] => {
  const all = [...new Set([...taint, ...sources])]
  return all.length === taint.length ? taint : all
}
