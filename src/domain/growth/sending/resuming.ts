/** What becomes of scheduled posts that fell due while automation is paused, once it resumes. */
import { emptyProfile, type OnMissed } from '../drafting/profile.ts'
import { isMissed } from './missed.ts'
import type { SendTimes } from './times.ts'

/** Posts of which the same becomes. */
export interface Overdue {
  at: Date
  /** The rule of the posts, or else of the profile; null if neither says one. */
  policy: OnMissed | null
  /** Sends that provably failed since they were due. */
  tries: number
  /** That of the connected account that would send them; null if there is none. */
  network: string | null
  posts: number
}

/** What a claim goes by. */
interface Resuming {
  now: Date
  times: SendTimes
  /** The plan or a coming deletion of the workspace forbids all posts. */
  isForbidden: boolean
  serves(network: string): boolean
}

/** However it is scheduled, a post that is later than this is missed. */
export const lostAfterMs = ({ retryWindowMs, missedToleranceMs, missedMs }: SendTimes): number =>
  Math.max(retryWindowMs + missedToleranceMs, missedMs)

/** How many go out and how many are skipped. `lost`: how many are later than any rule allows. */
export const onResuming = (
  overdue: readonly Overdue[],
  lost: number,
  { now, times, isForbidden, serves }: Resuming,
): { sent: number; skipped: number } => {
  const count = (are: readonly Overdue[]) => are.reduce((sum, { posts }) => sum + posts, 0)
  const skipped = overdue.filter(
    ({ at, policy, tries, network }) =>
      isForbidden ||
      network === null ||
      !serves(network) ||
      isMissed({ at }, { now, tries, times, policy: policy ?? emptyProfile.on_missed }),
  )
  return { sent: count(overdue) - count(skipped), skipped: count(skipped) + lost }
}
