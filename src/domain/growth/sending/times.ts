/** All durations of the sending machine, in milliseconds. */
export interface SendTimes {
  /** The longest send. */
  deadlineMs: number
  /** How long a claim holds; the send must start early enough to end within it. */
  leaseMs: number
  /** Time left between a send's deadline and the end of its lease. */
  marginMs: number
  /** The wait before the first read of the timeline for a doubtful post. */
  settleMs: number
  /** Clean reads before a person must check, spread over `windowMs`. */
  cleanReads: number
  windowMs: number
  /** How long after the doubt a late hit still settles it. */
  lateHitMs: number
  /** Waits between tries of a scheduled post that provably did not go out. */
  backoffMs: readonly number[]
  /** How long after its due time a scheduled post is retried. */
  retryWindowMs: number
  /** With `on_missed: post`, a post less overdue than this is still sent. */
  missedMs: number
  /** A manual post is sent within this time, or not at all. */
  nowMs: number
  /** How long a clear read of the timeline permits another send. */
  freshMs: number
  /**
   * How long after its first try a send is repeated whose key the network does not have. A post
   * that a person deletes later does not come back.
   */
  resendMs: number
  /** Less overdue than this does not count as missed. */
  missedToleranceMs: number
}

export const sendTimes: SendTimes = {
  deadlineMs: 10_000,
  leaseMs: 20_000,
  marginMs: 2_000,
  settleMs: 5_000,
  cleanReads: 3,
  windowMs: 30_000,
  lateHitMs: 86_400_000,
  backoffMs: [2_000, 8_000, 30_000, 300_000],
  retryWindowMs: 3_600_000,
  missedMs: 3_600_000,
  nowMs: 600_000,
  freshMs: 5_000,
  resendMs: 600_000,
  missedToleranceMs: 60_000,
}
