/**
 * An amount that is added to a counter under a key, in a period such as `2026-11`. A negative
 * amount gives back.
 */
export interface Spend {
  key: string
  period: string
  amount: number
}
