import { lineBreaksIn } from '#domain/growth/drafting/format-rules'
import { occursAny, type Phrase } from '#domain/growth/drafting/phrase'
import type { Style } from '#domain/growth/reading/style'
import { pick, type Random } from '#kernel/random'
import type { DraftCandidate, Paragraph } from './candidate.ts'
import { fillPhrases, type GlueSlot, glue, type Phrases } from './glue.ts'
import type { Unit } from './material.ts'

interface GlueRules {
  style: Style
  phrases: Phrases
  avoid: readonly Phrase[]
  /** Folded text of earlier posts. */
  earlier: readonly string[]
}

/**
 * The composer's own lines permitted in this batch, and those of them that no earlier post
 * contains.
 */
export type GlueStock = Readonly<
  Record<GlueSlot, { permitted: readonly string[]; fresh: ReadonlySet<string> }>
>

const isPermitted = (line: string, { style, avoid }: GlueRules): boolean => {
  if (style.noQuestions && line.includes('?')) return false
  if (style.noContractions && /\p{L}['’]\p{L}/u.test(line)) return false
  return !occursAny(avoid, line)
}

export const createGlueStock = (rules: GlueRules): GlueStock => {
  const isFresh = (line: string) => !rules.earlier.some((body) => body.includes(line.toLowerCase()))
  const stock = Object.entries(glue).map(([slot, lines]) => {
    const permitted = lines
      .flatMap((line) => fillPhrases(line, rules.phrases) ?? [])
      .filter((line) => isPermitted(line, rules))
    return [slot, { permitted, fresh: new Set(permitted.filter(isFresh)) }]
  })
  return Object.fromEntries(stock)
}

/** Slots whose lines make a whole post: one that was posted before is a repeat. */
const WHOLE_POST: readonly GlueSlot[] = ['topic-question']

/**
 * Chooses lines for one draft: none twice in a batch, and those of earlier posts only if no other
 * is left.
 */
export interface GlueChoice {
  choose(slot: GlueSlot): string | undefined
  /** The lines chosen so far. */
  chosen: string[]
}

/** `used`: the lines already in the batch. */
export const createGlueChoice = ({
  stock,
  random,
  used,
}: {
  stock: GlueStock
  random: Random
  used: readonly string[]
}): GlueChoice => {
  const chosen: string[] = []
  return {
    chosen,
    choose(slot) {
      const { permitted, fresh } = stock[slot]
      const lines = permitted.filter((line) => !used.includes(line) && !chosen.includes(line))
      const unposted = lines.filter((line) => fresh.has(line))
      const line = pick(random, unposted.length > 0 || WHOLE_POST.includes(slot) ? unposted : lines)
      if (line !== undefined) chosen.push(line)
      return line
    },
  }
}

const PARAGRAPH = '\n\n'
/** Consecutive sentences in one paragraph. */
export const joinSentences = (units: readonly Unit[]): string =>
  units.map(({ text }) => text).join(' ')
const CLIPPED = 44

/** Consecutive sentences as paragraphs: one each, or with the opening or the ending set apart. */
const proseOf = (units: readonly Unit[], random: Random): string => {
  const [first] = units
  if (!first || units.length === 1) return joinSentences(units)
  if (units.length === 2)
    return units.every(({ text }) => text.length < CLIPPED)
      ? joinSentences(units)
      : units.map(({ text }) => text).join(PARAGRAPH)
  const set = (...paragraphs: (readonly Unit[])[]) => paragraphs.map(joinSentences).join(PARAGRAPH)
  const stacked = set(...units.map((unit) => [unit]))
  const opened = set([first], units.slice(1))
  const closed = set(units.slice(0, -1), units.slice(-1))
  const framed = set([first], units.slice(1, -1), units.slice(-1))
  return (
    pick(
      random,
      units.length === 3 ? [stacked, opened, closed] : [framed, framed, opened, closed],
    ) ?? stacked
  )
}

const ORDINARY_START = /^(?:The|That|How|Why|When|What|Our|My)\b/

const bulletList = (entries: readonly string[]): string =>
  entries.map((entry) => `- ${entry}`).join('\n')
/** A bullet of one sentence has no full stop. */
const bulletOf = ({ text }: Unit): string => (/[.!?]\s/.test(text) ? text : text.replace(/\.$/, ''))

const blockText = (block: Paragraph, choice: GlueChoice, random: Random): string | undefined => {
  if (typeof block === 'string') return choice.choose(block)
  if (!('kind' in block)) return proseOf(block, random)
  switch (block.kind) {
    case 'led': {
      const line = choice.choose(block.slot)
      const phrase = block.units[0].text.replace(ORDINARY_START, (word) => word.toLowerCase())
      return line === undefined ? undefined : `${line} ${phrase}`
    }
    case 'list':
      return block.units
        .flatMap(({ list }) => (list ? [list.head, bulletList(list.entries)] : []))
        .join(PARAGRAPH)
    case 'bullets':
      return bulletList(block.units.map(bulletOf))
    case 'address':
      return block.url
    case 'lines':
      return block.units.map(({ text }) => text).join('\n')
  }
}

/** Lower case throughout, except in addresses, which it would break. */
export const lowerCased = (text: string): string =>
  text.replace(/\S+/g, (word) => (/:\/\/|^www\.|^@/.test(word) ? word : word.toLowerCase()))

/**
 * At most `most` line breaks. First leaves out empty lines. If that is not enough, puts the text on
 * one line, unless it has a list.
 */
export const withinBreaks = (text: string, most: number | null): string => {
  if (most === null || lineBreaksIn(text) <= most) return text
  const close = text.replace(/\n{2,}/g, '\n')
  if (lineBreaksIn(close) <= most || /^- /m.test(close)) return close
  return close.replace(/\n/g, ' ')
}

/**
 * The text of a candidate with `ending` as its last paragraph; undefined if a slot it needs has no
 * line left.
 */
export const render = (
  { blocks }: DraftCandidate,
  {
    choice,
    random,
    style,
    ending,
  }: { choice: GlueChoice; random: Random; style: Style; ending: string | undefined },
): string | undefined => {
  const parts: string[] = []
  for (const block of blocks) {
    const text = blockText(block, choice, random)
    if (text === undefined) return undefined
    parts.push(text)
  }
  const joined = [...parts, ...(ending === undefined ? [] : [ending])].join(PARAGRAPH)
  return style.lowercase ? lowerCased(joined) : joined
}
