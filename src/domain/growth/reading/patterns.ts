import { type Cue, cuesOf, LONGEST_READ } from './cues.ts'
import { excerpt } from './words.ts'

/** A pattern for posts in the person's words, such as `Start with a number, then what it cost`. */
export interface Pattern {
  /** Its name in a rationale. */
  excerpt: string
  /** The kinds of opening it asks for. */
  lead: Cue[]
  /** Whether it asks for a question at the end. */
  endsOnQuestion: boolean
}

const EXCERPT = 60

/** The part before "then" or "end with", which is about the opening. */
const headOf = (pattern: string): string =>
  pattern.split(
    /,?\s+\bthen\b(?!.{0,20}\bnow\b)|[,;]\s+|\b(?:end|close|finish)(?:s|ing)?\s+(?:with|on)\b/i,
  )[0] ?? ''

const askedIn = (text: string): Cue[] =>
  cuesOf(text).flatMap(({ cue, negated }) => (negated ? [] : [cue]))

export const readPattern = (pattern: string): Pattern => {
  const text = pattern.slice(0, LONGEST_READ)
  const shape = askedIn(text).find((cue) => cue === 'before-after' || cue === 'contrarian')
  const endsOnQuestion =
    /\b(?:end|close|finish)(?:s|ing)?\s+(?:with|on)\b[^.]*(?:question|\bask)/i.test(text)
  return {
    excerpt: excerpt(pattern, EXCERPT),
    lead: shape ? [shape] : askedIn(headOf(text)),
    endsOnQuestion,
  }
}
