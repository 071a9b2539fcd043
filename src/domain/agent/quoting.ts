/** Quotations that answer a free question where no model is set: the places in the workspace's own texts that have the question's words. */
import { beginning } from '#kernel/storable'

/** Around each word of the question in a text that was found: characters of a private use area, which no text needs. */
export const MARKS = ['\uE000', '\uE001'] as const

const WORD = /\uE000([^\uE001]*)\uE001/g
const MARK = /[\uE000\uE001]/g

export interface Quotation {
  /** For people: which playbook and heading, or that it is remembered. */
  source: string
  text: string
  /** How many words of the question it has. */
  words: number
  /** The tool by which the agent reads such texts. */
  tool: string
  /** People outside the workspace may have written some of it. */
  untrusted: boolean
}

/** In characters. */
const LONGEST = 500
export const MOST_QUOTATIONS = 3

const wordsIn = (marked: string): number => new Set([...marked.matchAll(WORD)].map(([, word]) => word!.toLowerCase())).size

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** A long text from its first sentence with a word of the question. */
const excerpt = (marked: string): string => {
  const plain = marked.replace(MARK, '').trim()
  if (plain.length <= LONGEST) return plain
  const first = [...sentences.segment(marked)].find(({ segment }) => segment.includes(MARKS[0]))?.index ?? 0
  const rest = marked.slice(first).replace(MARK, '').trim()
  return `${first > 0 ? '… ' : ''}${rest.length > LONGEST ? `${beginning(rest, LONGEST)}…` : rest}`
}

type Source = Pick<Quotation, 'source' | 'tool' | 'untrusted'>

/** The whole text as one quotation. */
export const quotationOf = (marked: string, from: Source): Quotation => ({ ...from, text: excerpt(marked), words: wordsIn(marked) })

const HEADING = /^#{1,6}[ \t]+(.*)$/

/** The paragraphs of Markdown that have words of the question, themselves or in the heading over them. */
export const quotationsIn = (marked: string, from: Source): Quotation[] => {
  const found: Quotation[] = []
  let [heading, paragraph]: [string, string[]] = ['', []]
  const close = () => {
    const text = paragraph.join('\n')
    paragraph = []
    const words = wordsIn(`${heading}\n${text}`)
    if (text.trim() === '' || words === 0) return
    const under = heading.replace(MARK, '')
    found.push({ ...quotationOf(text, from), words, source: under === '' ? from.source : `${from.source}, ${under}` })
  }
  for (const line of [...marked.split(/\r?\n/), '']) {
    const title = HEADING.exec(line)?.[1]?.trim()
    if (title === undefined && line.trim() !== '') paragraph.push(line)
    else close()
    heading = title ?? heading
  }
  return found
}

/**
 * The best of them. Left out are those with less than a third of the question's words, which say too little of what was asked, and those with
 * less than half of what the best one has. `asked`: how many words the question has, those that say nothing aside.
 */
export const bestOf = <Q extends Quotation>(found: readonly Q[], asked: number): Q[] => {
  const best = found.toSorted((a, b) => b.words - a.words)
  const least = Math.max(asked / 3, (best[0]?.words ?? 0) / 2)
  return best.filter(({ words }) => words >= least).slice(0, MOST_QUOTATIONS)
}
