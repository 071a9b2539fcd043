/** The free slots of a calendar, and what stands before and after each. */
import type { AnswerOf } from '../../api/operations.ts'

export type SlotEntry = AnswerOf<'growth.calendar.get'>['entries'][number]

export interface FreeSlot {
  at: string
  /** First lines of the posts before and after it, and their times. */
  before: Neighbour | undefined
  after: Neighbour | undefined
}

export interface Neighbour {
  at: string
  excerpt: string
}

/** How many are offered. */
export const SLOTS_OFFERED = 6

const neighbourOf = (entry: SlotEntry | undefined): Neighbour | undefined =>
  entry?.item ? { at: entry.at, excerpt: entry.item.title ?? entry.item.excerpt } : undefined

/** A slot, with its neighbours among all entries. */
export const withNeighbours = (at: string, entries: readonly SlotEntry[]): FreeSlot => ({
  at,
  before: neighbourOf(entries.findLast((one) => one.item !== null && one.at <= at)),
  after: neighbourOf(entries.find((one) => one.item !== null && one.at > at)),
})

interface Offering {
  channel: string
  /** A time as text. */
  now: string
  /** Times for which other drafts are just being approved here. */
  asked?: ReadonlySet<string | undefined>
}

/** The next free slots of a channel, soonest first. */
export const slotsOffered = (
  entries: readonly SlotEntry[],
  { channel, now, asked }: Offering,
): FreeSlot[] =>
  entries
    .filter((entry) => entry.item === null && entry.channel === channel && entry.at > now)
    .filter(({ at }) => !asked?.has(at))
    .slice(0, SLOTS_OFFERED)
    .map(({ at }) => withNeighbours(at, entries))
