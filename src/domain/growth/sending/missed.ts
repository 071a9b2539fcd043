/** Whether a record's time has passed for good. Pure. */
import type { SendTimes } from './times.ts'

/**
 * Whether a scheduled record is too late to be sent. `tries` are sends that provably failed since
 * it was due: a record tried in time is missed only if its next try is held up past the retry
 * window.
 */
export const isMissed = (
  schedule: { at: Date } | null,
  {
    now,
    tries,
    times,
    policy,
  }: { now: Date; tries: number; times: SendTimes; policy: 'post' | 'skip' },
): boolean => {
  if (!schedule) return false
  const late = now.getTime() - schedule.at.getTime()
  if (tries > 0) return late > times.retryWindowMs + times.missedToleranceMs
  return policy === 'skip' ? late > times.missedToleranceMs : late >= times.missedMs
}
