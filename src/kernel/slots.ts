/** Bounds how many of something are open at once, for each party and in all. */
import { fail } from './errors.ts'

export interface SlotLimits {
  /** Named in the error. */
  name: string
  perParty: number
  total: number
  /** In seconds. */
  retryAfter: number
}

export interface Slots {
  /** Returns a function that releases the slot; calling it again does nothing. Throws `rate_limited` if none is free. */
  take(party: string): () => void
}

export const createSlots = ({ name, perParty, total, retryAfter }: SlotLimits): Slots => {
  const taken = new Map<string, number>()
  let all = 0
  const add = (party: string, more: number): void => {
    const count = (taken.get(party) ?? 0) + more
    if (count > 0) taken.set(party, count)
    else taken.delete(party)
    all += more
  }
  return {
    take(party) {
      if ((taken.get(party) ?? 0) >= perParty || all >= total) return fail('rate_limited', name, { retryAfter })
      add(party, 1)
      let isTaken = true
      return () => {
        if (isTaken) add(party, -1)
        isTaken = false
      }
    },
  }
}
