/** Which rule counts the length of a text, by what the limits of an account say of it. */
import { GRAPHEME_COUNTING, graphemeLength } from './grapheme-length.ts'
import { WEIGHTED_COUNTING, weightedLength } from './weighted-length.ts'

/** The length of a text, in the network's characters. */
export type TextMeasure = (text: string) => number

/** By `counting` of the limits. Another network adds a row. */
const MEASURES: Record<string, TextMeasure> = {
  [WEIGHTED_COUNTING]: weightedLength,
  [GRAPHEME_COUNTING]: graphemeLength,
}

/** Undefined for a rule that this version does not know: then the server's count alone holds. */
export const measureOf = (counting: string): TextMeasure | undefined => MEASURES[counting]
