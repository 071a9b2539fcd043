/** How far a limit goes that a request was held against: told to whoever sent it, so that nobody must run into one to know it. */
export interface Allowance {
  /** As in the refusal: `create_batch`. */
  name: string
  limit: number
  /** Seconds for which the limit is given. */
  window: number
  left: number
  /** Seconds until it begins anew. */
  resetsIn: number
}
