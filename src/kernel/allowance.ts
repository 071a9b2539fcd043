/**
 * How much of a limit is left after a request. Answers carry it, so that callers can slow down
 * before they are refused.
 */
export interface Allowance {
  /** The limit's name, as a refusal gives it: `create_batch`. */
  name: string
  limit: number
  /** The length of the limit's period, in seconds. */
  window: number
  left: number
  /** Seconds until the next period. */
  resetsIn: number
}
