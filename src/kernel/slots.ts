/**
 * Bounds how many of something are open at once: for each party, for each workspace, and in all.
 */
import { fail } from './errors.ts'

export interface SlotLimits {
  /** Named in the error. */
  name: string
  perParty: number
  /** The limit for all parties of one workspace. Default: `total`. */
  perWorkspace?: number
  total: number
  /** In seconds. */
  retryAfter: number
}

export interface Holder {
  party: string
  /** Default: the party itself. */
  workspace?: string
  /**
   * Ends whatever holds the slot; the slot is free by then. A holder with this function can lose
   * its slot to a workspace that has fewer. One without it keeps the slot until it is released.
   */
  giveUp?: () => void
}

export interface Slots {
  /**
   * Returns a function that releases the slot; calling it again does nothing. Throws `rate_limited`
   * if none is free.
   */
  take(holder: Holder): () => void
}

interface Held {
  free(): void
  giveUp: (() => void) | undefined
}

class OpenSlots implements Slots {
  readonly #ofParty = new Map<string, number>()
  /** In the order in which they were taken. */
  readonly #ofWorkspace = new Map<string, Set<Held>>()
  #all = 0

  constructor(private readonly limits: SlotLimits) {}

  take({ party, workspace = party, giveUp }: Holder): () => void {
    const { name, perParty, perWorkspace = Number.POSITIVE_INFINITY, retryAfter } = this.limits
    const [own, ofWorkspace] = [
      this.#ofParty.get(party) ?? 0,
      this.#ofWorkspace.get(workspace)?.size ?? 0,
    ]
    if (own >= perParty || ofWorkspace >= perWorkspace || !this.#hasRoom(ofWorkspace))
      return fail('rate_limited', name, { retryAfter })
    return this.#hold(party, workspace, giveUp)
  }

  /**
   * Whether there is a free slot. If need be, the workspace with the most slots gives up the last
   * one that it took.
   */
  #hasRoom(ofWorkspace: number): boolean {
    if (this.#all < this.limits.total) return true
    const largest = [...this.#ofWorkspace.values()].reduce((most, held) =>
      held.size > most.size ? held : most,
    )
    if (largest.size <= ofWorkspace + 1) return false
    const last = [...largest].findLast(({ giveUp }) => giveUp !== undefined)
    if (!last) return false
    last.free()
    last.giveUp!()
    return true
  }

  #hold(party: string, workspace: string, giveUp: (() => void) | undefined): () => void {
    const holders = this.#ofWorkspace.getOrInsertComputed(workspace, () => new Set())
    const held: Held = { giveUp, free: () => {} }
    held.free = () => {
      if (!holders.delete(held)) return
      if (holders.size === 0) this.#ofWorkspace.delete(workspace)
      this.#count(party, -1)
    }
    holders.add(held)
    this.#count(party, 1)
    return held.free
  }

  #count(party: string, change: number): void {
    const count = (this.#ofParty.get(party) ?? 0) + change
    if (count > 0) this.#ofParty.set(party, count)
    else this.#ofParty.delete(party)
    this.#all += change
  }
}

export const createSlots = (limits: SlotLimits): Slots => new OpenSlots(limits)
