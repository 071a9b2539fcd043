/** All durations of the sending machine, in milliseconds; source: DESIGN §6. */
export interface SendTimes {
  /** How long a send may take. */
  deadlineMs: number
  /** How long a claim holds; the send must start early enough to end inside it. */
  leaseMs: number
  /** Kept free between the deadline of a send and the end of its lease. */
  marginMs: number
  /** Wait before the timeline of a doubtful post is read first. */
  settleMs: number
  /** Clean reads before a person must look, spread over `windowMs`. */
  cleanReads: number
  windowMs: number
  /** How long after the doubt a late hit still settles it. */
  lateHitMs: number
  /** Waits between the tries of a scheduled post that provably did not go out. */
  backoffMs: readonly number[]
  /** A scheduled post is tried no longer than this after it was due. */
  retryWindowMs: number
  /** Overdue by less than this, `on_missed: post` still posts. */
  missedMs: number
  /** A post that a person asked for now goes out within this, or not at all. */
  nowMs: number
  /** A timeline that does not show a doubtful post allows it to be sent again for so long. */
  freshMs: number
  /** Overdue by more than this counts as missed at all. */
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
  missedToleranceMs: 60_000,
}
