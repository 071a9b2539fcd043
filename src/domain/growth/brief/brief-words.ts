/** What several rules of the brief share: phrases and advice about records. */
import type { BriefAdvice, BriefFacts, BriefRow, FoundRows } from './brief.ts'

/** A rule: an action and its reason, or undefined if there is nothing to do. */
export type BriefRule = (facts: BriefFacts) => BriefAdvice | undefined

const DAY_MS = 86_400_000

/** `1 post`, `2 posts`. */
export const pluralise = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
/** The verb's form for this number. */
export const wait = (count: number): string => (count === 1 ? 'waits' : 'wait')
/** The argument that names the first record. */
export const idOf = ([first]: readonly BriefRow[]): Record<string, unknown> =>
  first?.id ? { id: first.id } : {}

/** Whole days. */
export const daysSince = (at: Date, now: Date): number =>
  Math.floor((now.getTime() - at.getTime()) / DAY_MS)

/** How long the first one has waited, as the end of a sentence; empty below a day. */
export const ageOf = ([first]: readonly BriefRow[], now: Date): string => {
  const days = first?.at ? daysSince(first.at, now) : 0
  return days > 0 ? `, the oldest for ${pluralise(days, 'day')}` : ''
}

/** Posts that can still be drafted this month. */
export const leftOf = ({ used, limit }: BriefFacts['quota']): number => Math.max(0, limit - used)

/** Advice about the records that were found; none if there are none. */
export const onFound = (
  { count, rows }: FoundRows,
  advice: Omit<BriefAdvice, 'count' | 'rows'>,
): BriefAdvice | undefined => (count === 0 ? undefined : { count, rows, ...advice })
