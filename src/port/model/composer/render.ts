import { containsPhrase } from '../check-draft.ts'
import type { Block, Candidate } from './candidate.ts'
import { filled, type GlueSlot, glue, type Phrases } from './glue.ts'
import type { Unit } from './material.ts'
import { pick, type Random } from './random.ts'
import type { Style } from './style.ts'

/** Chooses the composer's own lines so that none comes twice in a batch, and those of earlier posts only when others are out. */
export interface GlueChoice {
  choose(slot: GlueSlot): string | undefined
  /** Lines chosen since `begin`; they count as used once the draft is kept. */
  chosen: string[]
}

interface GlueRules {
  style: Style
  phrases: Phrases
  avoid: readonly string[]
  /** Lines used in this batch. */
  used: ReadonlySet<string>
  /** Folded text of earlier posts. */
  earlier: readonly string[]
  random: Random
}

const permitted = (line: string, { style, avoid }: GlueRules): boolean =>
  !(style.noQuestions && line.includes('?')) &&
  !(style.noContractions && /\p{L}['’]\p{L}/u.test(line)) &&
  !avoid.some((phrase) => containsPhrase(line, phrase))

/** Slots whose lines are a whole post by themselves: one that was posted before is a repeat. */
const WHOLE_POST: readonly GlueSlot[] = ['topic-question']

/** A chooser for one draft. */
export const createGlueChoice = (rules: GlueRules): GlueChoice => {
  const chosen: string[] = []
  return {
    chosen,
    choose(slot) {
      const lines = glue[slot]
        .flatMap((line) => filled(line, rules.phrases) ?? [])
        .filter((line) => permitted(line, rules) && !rules.used.has(line) && !chosen.includes(line))
      const fresh = lines.filter((line) => !rules.earlier.some((body) => body.includes(line.toLowerCase())))
      const line = pick(rules.random, fresh.length > 0 || WHOLE_POST.includes(slot) ? fresh : lines)
      if (line !== undefined) chosen.push(line)
      return line
    },
  }
}

const PARAGRAPH = '\n\n'
const spoken = (units: readonly Unit[]): string => units.map(({ text }) => text).join(' ')
const CLIPPED = 44

/** Sentences in a row as paragraphs: a line each, or the opening or the ending set apart. */
const proseOf = (units: readonly Unit[], random: Random): string => {
  const [first] = units
  if (!first || units.length === 1) return spoken(units)
  if (units.length === 2)
    return units.every(({ text }) => text.length < CLIPPED) ? spoken(units) : units.map(({ text }) => text).join(PARAGRAPH)
  const stacked = units.map(({ text }) => text).join(PARAGRAPH)
  const opened = [first.text, spoken(units.slice(1))].join(PARAGRAPH)
  const closed = [spoken(units.slice(0, -1)), spoken(units.slice(-1))].join(PARAGRAPH)
  const framed = [first.text, spoken(units.slice(1, -1)), spoken(units.slice(-1))].join(PARAGRAPH)
  return pick(random, units.length === 3 ? [stacked, opened, closed] : [framed, framed, opened, closed]) ?? stacked
}

const ORDINARY_START = /^(?:The|That|How|Why|When|What|Our|My)\b/

const blockText = (block: Block, choice: GlueChoice, random: Random): string | undefined => {
  switch (block.kind) {
    case 'glue':
      return choice.choose(block.slot)
    case 'led': {
      const line = choice.choose(block.slot)
      const phrase = block.phrase.replace(ORDINARY_START, (word) => word.toLowerCase())
      return line === undefined ? undefined : `${line} ${phrase}`
    }
    case 'prose':
      return proseOf(block.units, random)
    case 'bullets':
      return block.entries.map((entry) => `- ${entry}`).join('\n')
    case 'lines':
      return block.units.map(({ text }) => text).join('\n')
  }
}

/** Lower case throughout, except in addresses, where it would lead elsewhere. */
const lowerCased = (text: string): string => text.replace(/\S+/g, (word) => (/:\/\/|^www\.|^@/.test(word) ? word : word.toLowerCase()))

/** The text of a candidate with `ending` as its last paragraph; undefined when a line of glue it needs is used up. */
export const render = (
  candidate: Candidate,
  { choice, random, style, ending }: { choice: GlueChoice; random: Random; style: Style; ending?: string },
): string | undefined => {
  const parts: string[] = []
  for (const block of candidate.blocks) {
    const text = blockText(block, choice, random)
    if (text === undefined) return undefined
    parts.push(text)
  }
  const joined = [...parts, ...(ending === undefined ? [] : [ending])].join(PARAGRAPH)
  return style.lowercase ? lowerCased(joined) : joined
}
