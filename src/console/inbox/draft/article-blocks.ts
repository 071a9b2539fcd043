/**
 * An article as readers see it. Networks show its text as it is, so the marks of headings and lists
 * stay: the blocks together are the text.
 */

export interface ArticleBlock {
  kind: 'title' | 'heading' | 'paragraph' | 'item' | 'quote'
  /** What begins it: `## `, `- `, `> `; empty for none. */
  mark: string
  /** After the mark, with its line breaks. */
  text: string
  /** Of an item: how far it is indented, from 0. */
  depth: number
}

const MARKS: readonly [ArticleBlock['kind'], RegExp][] = [
  ['heading', /^\s{0,3}#{1,6}\s+(?=\S)/],
  ['item', /^\s{0,12}(?:[-*+•–—]|\d{1,3}[.)])\s+(?=\S)/],
  ['quote', /^\s{0,3}>\s?/],
]

const DEEPEST = 3
const indentOf = (line: string): number => line.length - line.trimStart().length

const blockOf = (line: string): ArticleBlock => {
  for (const [kind, pattern] of MARKS) {
    const mark = pattern.exec(line)?.[0]
    if (mark === undefined) continue
    const depth = kind === 'item' ? Math.min(Math.floor(indentOf(line) / 2), DEEPEST) : 0
    return { kind, mark: mark.trimStart(), text: line.slice(mark.length), depth }
  }
  return { kind: 'paragraph', mark: '', text: line, depth: 0 }
}

/** Lines of a quotation belong together, and to an item those that are indented below it. */
const continues = (before: ArticleBlock, block: ArticleBlock, line: string): boolean =>
  before.kind === 'item'
    ? block.kind === 'paragraph' && indentOf(line) > 0
    : before.kind === block.kind && block.kind !== 'heading'

/** The runs of lines between blank ones. */
const groupsIn = (body: string): string[][] => {
  const groups: string[][] = [[]]
  for (const line of body.split('\n'))
    if (line.trim() !== '') groups.at(-1)!.push(line)
    else if (groups.at(-1)!.length > 0) groups.push([])
  return groups.filter(({ length }) => length > 0)
}

const blocksIn = (lines: readonly string[]): ArticleBlock[] => {
  const blocks: ArticleBlock[] = []
  for (const line of lines) {
    const [block, before] = [blockOf(line), blocks.at(-1)]
    if (before && continues(before, block, line)) before.text += `\n${block.mark}${block.text}`
    else blocks.push(block)
  }
  return blocks
}

const LONGEST_HEADING = 100
/** What ends a sentence, or stands in markup, addresses and hashtags. */
const NO_HEADING = /[.!…:;,、。！]$|[.!?…]\s|[#<>[\]{}@]|:\/\//u

/** A short line alone that is no sentence, as drafters write headings. */
const isHeading = ({ kind, text }: ArticleBlock): boolean =>
  kind === 'paragraph' &&
  text.length <= LONGEST_HEADING &&
  /\p{L}/u.test(text) &&
  !text.includes('\n') &&
  !NO_HEADING.test(text.trimEnd())

/** `title`: the first line, if it is one. */
export const articleBlocks = (body: string, title: string | null): ArticleBlock[] => {
  const groups = groupsIn(body)
  const [first, ...others] = groups[0] ?? []
  const isTitled = first !== undefined && first.trim() === title
  const rest = isTitled ? [...(others.length > 0 ? [others] : []), ...groups.slice(1)] : groups
  const blocks = rest.flatMap((lines, at): ArticleBlock[] => {
    const own = blocksIn(lines)
    return own.length === 1 && at < rest.length - 1 && isHeading(own[0]!)
      ? [{ ...own[0]!, kind: 'heading' }]
      : own
  })
  return isTitled ? [{ kind: 'title', mark: '', text: first, depth: 0 }, ...blocks] : blocks
}

/** What is shown together: items that follow each other are one list. */
export const listsIn = (blocks: readonly ArticleBlock[]): ArticleBlock[][] => {
  const runs: ArticleBlock[][] = []
  for (const block of blocks) {
    const last = runs.at(-1)
    if (block.kind === 'item' && last?.[0]?.kind === 'item') last.push(block)
    else runs.push([block])
  }
  return runs
}

/** What people read in a minute. */
const WORDS_A_MINUTE = 230

export const readingFacts = (text: string): { words: number; minutes: number } => {
  let words = 0
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text))
    if (isWordLike) words++
  return { words, minutes: Math.max(1, Math.round(words / WORDS_A_MINUTE)) }
}
