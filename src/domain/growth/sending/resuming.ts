/** What becomes of scheduled posts that fell due while automation is paused, once it resumes. */
import { emptyProfile, type OnMissed } from '../drafting/profile.ts'
import { isMissed } from './send.ts'
import type { SendTimes } from './times.ts'

/** Posts of which the same becomes. */
export interface Overdue {
  at: Date
  /** The rule of the posts, or else of the profile; null if neither says one. */
  policy: OnMissed | null
  /** Sends that provably failed since they were due. */
  tries: number
  posts: number
}

/** However it is scheduled, a post that is later than this is missed. */
export const lostAfterMs = ({ retryWindowMs, missedToleranceMs, missedMs }: SendTimes): number =>
  Math.max(retryWindowMs + missedToleranceMs, missedMs)

/** How many go out and how many are skipped. `lost`: how many are later than any rule allows. */
export const onResuming = (
  overdue: readonly Overdue[],
  lost: number,
  { now, times }: { now: Date; times: SendTimes },
): { sent: number; skipped: number } => {
  const count = (are: readonly Overdue[]) => are.reduce((sum, { posts }) => sum + posts, 0)
  const missed = overdue.filter(({ at, policy, tries }) =>
    isMissed({ at }, { now, tries, times, policy: policy ?? emptyProfile.on_missed }),
  )
  const skipped = count(missed)
  return { sent: count(overdue) - skipped, skipped: skipped + lost }
}
