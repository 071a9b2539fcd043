/**
 * Prints of a text, by which an index finds nearly equal texts: MinHash over groups of five
 * characters, in bands of two (Broder 1997; Leskovec, Rajaraman and Ullman, "Mining of Massive
 * Datasets", chapter 3). The probability that two texts share a band is the square of the share of
 * groups that they have in common, so the number of shared bands measures how similar they are.
 */
import { foldText } from './phrase.ts'

/** How many prints a text has. */
export const PRINTS = 12
/**
 * Texts with this many common prints are nearly equal: about seven tenths of their groups are the
 * same.
 */
export const ALIKE = 6
/**
 * How many of its first prints a text is found by. Two texts with `ALIKE` common prints share at
 * least one of any so many.
 */
export const FOUND_BY = PRINTS - ALIKE + 1

const HASHES = 2 * PRINTS
const GROUP = 5

/** Spreads the bits of a number (the finaliser of MurmurHash3). */
const mixBits = (value: number): number => {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

const seeds = Uint32Array.from({ length: HASHES }, (_, index) => mixBits(index + 1))

/**
 * Texts that differ only in punctuation, case or spacing are equal; a text of punctuation alone is
 * compared as it is.
 */
const essenceOf = (text: string): string => {
  const folded = foldText(text)
  const words = folded.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim()
  return words === '' ? folded : words
}

const leastHashes = (essence: string): Uint32Array => {
  const least = new Uint32Array(HASHES).fill(0xffff_ffff)
  const last = Math.max(essence.length - GROUP, 0)
  for (let at = 0; at <= last; at += 1) {
    // FNV-1a over the group.
    let hash = 0x811c9dc5
    for (let index = at; index < Math.min(at + GROUP, essence.length); index += 1)
      hash = Math.imul(hash ^ essence.charCodeAt(index), 0x01000193)
    for (let one = 0; one < HASHES; one += 1) {
      const value = mixBits(hash ^ seeds[one]!)
      if (value < least[one]!) least[one] = value
    }
  }
  return least
}

/** The prints of a text, as 32-bit integers. Equal texts have equal prints. Takes linear time. */
export const printsOf = (text: string): number[] => {
  const least = leastHashes(essenceOf(text))
  return Array.from(
    { length: PRINTS },
    (_, band) => mixBits(mixBits(least[2 * band]! ^ seeds[band]!) ^ least[2 * band + 1]!) | 0,
  )
}
