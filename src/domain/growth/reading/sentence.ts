import {
  inlineListOf,
  looksComplete,
  type SentenceRole,
  sentenceRoles,
  stripLabel,
} from './roles.ts'
import { capitalise, withFullStop } from './sentences.ts'
import { termsOf, wordLine, wordsOf } from './words.ts'

/** A sentence with its uses in a post. */
export interface Sentence {
  text: string
  /** The text without a label such as `The lesson:`; undefined if it has none. */
  bare: string | undefined
  roles: ReadonlySet<SentenceRole>
  /** Whether it has a subject and a verb, as far as its form shows. */
  complete: boolean
  terms: ReadonlySet<string>
  /** The words without punctuation, to find the sentence in earlier posts. */
  line: string
  words: number
  /** Head and entries, if the sentence lists things. */
  list: { head: string; entries: string[] } | undefined
}

export const readSentence = (sentence: string): Sentence => {
  const bare = stripLabel(sentence)
  return {
    text: capitalise(withFullStop(sentence)),
    bare: bare === undefined ? undefined : capitalise(withFullStop(bare)),
    roles: sentenceRoles(sentence),
    complete: looksComplete(sentence),
    terms: termsOf(sentence),
    line: wordLine(bare ?? sentence),
    words: wordsOf(sentence).length,
    list: inlineListOf(sentence),
  }
}

/**
 * A phrase that ends like a sentence is one. Others need a verb: `boring is a feature`, but not
 * `teams that ship`.
 */
export const isMaxim = ({ words, complete, roles }: Sentence, phrase: string): boolean => {
  if (words < 2 || words > 14) return false
  if (/[.!?]["”’']?$/.test(phrase.trim())) return true
  return (
    words >= 3 &&
    (complete || roles.has('rule')) &&
    !/^\S+\s+(?:that|who|which|whose)\b/i.test(phrase)
  )
}
