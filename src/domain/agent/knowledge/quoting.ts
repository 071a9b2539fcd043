/**
 * Quotations that answer a free question where no model is configured: the places in the
 * workspace's own texts that contain words of the question.
 */

import { MARKS } from '#kernel/spacing'
import { beginning } from '#kernel/storable'
import { sectionsOf } from './sections.ts'

const WORD = /\uE000([^\uE001]*)\uE001/g
const MARK = /[\uE000\uE001]/g

export interface QuotedPassage {
  /** For people: the file or playbook and its heading, or that it is a memory. */
  source: string
  text: string
  /** How many words of the question it contains. */
  words: number
  /** The tool by which the agent reads such texts. */
  tool: string
  /** Whether outsiders may have written some of it. */
  untrusted: boolean
}

/** In characters. */
const LONGEST = 500
export const MOST_QUOTATIONS = 3

const wordsIn = (marked: string): number =>
  new Set([...marked.matchAll(WORD)].map(([, word]) => word!.toLowerCase())).size

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** An excerpt of a long text, from its first sentence with a word of the question. */
const excerpt = (marked: string): string => {
  const plain = marked.replace(MARK, '').trim()
  if (plain.length <= LONGEST) return plain
  const first =
    [...sentences.segment(marked)].find(({ segment }) => segment.includes(MARKS[0]))?.index ?? 0
  const rest = marked.slice(first).replace(MARK, '').trim()
  return `${first > 0 ? '… ' : ''}${rest.length > LONGEST ? `${beginning(rest, LONGEST)}…` : rest}`
}

type Source = Pick<QuotedPassage, 'source' | 'tool' | 'untrusted'>

/** Quotes the whole text. */
export const quotationOf = (marked: string, from: Source): QuotedPassage => ({
  ...from,
  text: excerpt(marked),
  words: wordsIn(marked),
})

/** The name of a text, and the headings above a part of it. */
export const sourceOf = (name: string, path: readonly string[]): string =>
  [name, path.join(' › ')].filter((part) => part !== '').join(', ')

/** The Markdown paragraphs that contain words of the question, or whose heading does. */
export const quotationsIn = (marked: string, from: Source): QuotedPassage[] =>
  [...sectionsOf(marked, true)].flatMap((section) => {
    if (!section) return []
    const path = section.path.map((heading) => heading.replace(MARK, ''))
    const paragraphs = marked.slice(section.body, section.end).split(/\n[ \t\r]*\n/)
    return paragraphs.flatMap((text) => {
      const words = wordsIn(`${section.path.at(-1) ?? ''}\n${text}`)
      return text.trim() === '' || words === 0
        ? []
        : { ...quotationOf(text, from), words, source: sourceOf(from.source, path) }
    })
  })

/**
 * The best quotations. It drops those with less than a third of the question's words, which say too
 * little about the question, and those with less than half as many as the best one. `asked`: how
 * many words the question has, not counting words that carry no meaning.
 */
export const bestOf = <Q extends QuotedPassage>(found: readonly Q[], asked: number): Q[] => {
  const best = found.toSorted((a, b) => b.words - a.words)
  const least = Math.max(asked / 3, (best[0]?.words ?? 0) / 2)
  return best.filter(({ words }) => words >= least).slice(0, MOST_QUOTATIONS)
}
