/**
 * What of a failed run may be tried once more, to tell a busy machine from a fault: time-outs only,
 * and few of them. A wrong answer is wrong however often it is right.
 */
import type { Failure } from './totals.ts'

/** More than these are no accident. */
const MOST = 3
/** What holds under faults must hold on a busy machine, too. */
const NEVER = /(^|\/)(crash|faults|sim)\//

/**
 * The files to run once more, each alone, if the failures of a run are all that went wrong and all
 * of a kind that may pass so; none otherwise.
 */
export const filesToRunAgain = (failures: readonly Failure[], failed: number): string[] => {
  const complete = failures.length === failed && failures.length <= MOST
  const excusable = ({ type, file }: Failure) => type === 'TimeoutError' && !NEVER.test(file)
  if (!complete || !failures.every(excusable)) return []
  return [...new Set(failures.map(({ file }) => file))]
}
