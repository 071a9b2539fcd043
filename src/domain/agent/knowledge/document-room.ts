/** The space that a workspace's documents take in the database, including passages and words. */
import { fail } from '#kernel/errors'
import { type DocumentRoom, MB, UNIT_BYTES } from '../../app/room.ts'

/**
 * Bytes that a document of prose takes for each byte of its text. A text that never repeats a word
 * takes up to 45.
 */
const USUAL_TIMES = 12

const inMb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`

/**
 * `pending`: bytes of texts that are still to be read. Throws `conflict` unless another document of
 * `byteSize` fits.
 */
export const requireDocumentRoom = (
  { used, limit }: Pick<DocumentRoom, 'used' | 'limit'>,
  pending: number,
  byteSize: number,
): void => {
  const [needed, taken] = [byteSize * USUAL_TIMES, used + pending * USUAL_TIMES]
  if (taken + needed <= limit) return
  const sizes = `they take about ${inMb(taken)}, and this one about ${inMb(needed)}`
  fail(
    'conflict',
    `the plan's limit of ${inMb(limit)} for documents and their search index is reached: ${sizes}; delete one first`,
    { reason: 'limit_reached' },
  )
}

/** What the database keeps of a passage. */
interface KeptPassage {
  path: readonly string[]
  text: string
  spaced: string | null
  /** The text by which it is found. */
  searched: string
}

const octets = (text: string): number => Buffer.byteLength(text)
const LONGEST_WORD = 100
const wordBytes = (word: string): number =>
  165 + 3 * Math.min(LONGEST_WORD, octets(word)) + UNIT_BYTES
const passageBytes = ({ path, text, spaced }: KeptPassage): number =>
  120 + (octets(text) + octets(spaced ?? '') + 2 * octets(path.join('    ')) + 8) * 1.2 + UNIT_BYTES

/**
 * Addresses and compounds are found whole, by their parts, and by what comes first and last in
 * them.
 */
const WHOLES_OF_COMPOUND = 3

/** The most that a block of passages can take. */
export const mostOfBlock = (passages: readonly KeptPassage[]): number => {
  const [words, compounds] = [new Set<string>(), new Set<string>()]
  for (const chunk of passages.flatMap(({ searched }) => searched.toLowerCase().split(/\s+/u))) {
    const parts = chunk.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
    for (const part of parts) words.add(part)
    if (parts.length > 1) compounds.add(chunk)
  }
  let sum = 0
  for (const passage of passages) sum += passageBytes(passage)
  for (const word of words) sum += wordBytes(word)
  for (const compound of compounds) sum += WHOLES_OF_COMPOUND * wordBytes(compound)
  return Math.ceil(sum)
}

/** Why a block was not stored. */
export const noRoom = ({ limit }: DocumentRoom): string =>
  `no_room: with its search index it does not fit into the plan's ${inMb(limit)} for documents; delete others, then retry it`
