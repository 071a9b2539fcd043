/**
 * Which failures of a run may be retried once, to distinguish a busy machine from a fault: only
 * time-outs, and only a few. A wrong answer is wrong however often it is right.
 */
import type { Failure } from './totals.ts'

/** More than these are no accident. */
const MOST = 3
/** What holds under faults must also hold on a busy machine. */
const NEVER = /(^|\/)(crash|faults|sim)\//

/**
 * The files to run once more, each alone, if the run failed only in ways that a busy machine can
 * cause; otherwise none.
 */
export const filesToRunAgain = (failures: readonly Failure[], failed: number): string[] => {
  const complete = failures.length === failed && failures.length <= MOST
  const excusable = ({ type, file }: Failure) => type === 'TimeoutError' && !NEVER.test(file)
  if (!complete || !failures.every(excusable)) return []
  return [...new Set(failures.map(({ file }) => file))]
}
