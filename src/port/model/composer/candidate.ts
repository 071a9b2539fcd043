import type { HookKey } from '#domain/growth/drafting/hooks'
import type { Cue } from '#domain/growth/reading/cues'
import type { Focus } from '#domain/growth/reading/focus'
import type { Style } from '#domain/growth/reading/style'
import { excerpt } from '#domain/growth/reading/words'
import type { Random } from '#kernel/random'
import type { GlueSlot } from './glue.ts'
import type { Material, Unit } from './material.ts'
import { type Opening, openings, type PostHook } from './openings.ts'

/**
 * A block of a post; an empty line separates blocks. A slot is one of the composer's own lines, an
 * array is consecutive sentences.
 */
export type Paragraph =
  | GlueSlot
  | readonly Unit[]
  /** One of the composer's own lines, continued in the person's words: `Ask us about` … */
  | { kind: 'led'; slot: GlueSlot; units: readonly [Unit] }
  | { kind: 'bullets'; units: readonly Unit[] }
  /** The head and the entries of a sentence that enumerates. */
  | { kind: 'list'; units: readonly [Unit] }
  /** One sentence per line, without empty lines. */
  | { kind: 'lines'; units: readonly Unit[] }
  /** Where a product is found. */
  | { kind: 'address'; url: string; units: readonly [] }

/** A possible post; it becomes text when it is chosen. */
export interface DraftCandidate {
  hook: HookKey
  format: string
  blocks: readonly Paragraph[]
  /** The person's sentences in it; none only for questions about the topic. */
  units: readonly Unit[]
  tags: ReadonlySet<Cue>
  /** Which questions may close it. */
  closer: GlueSlot | undefined
  /** How good the form is, around 1. */
  weight: number
  /** For the rationale: what was done with which material. */
  why: string
}

/** What a form builds its candidates from. */
export interface DraftScope {
  material: Material
  focus: Focus
  style: Style
  random: Random
  /** True when the sentences fit into one post, with `spare` characters left. */
  fits(units: readonly Unit[], spare: number): boolean
}

/** One way to open and shape a post; returns none if the profile lacks the material. */
export type DraftForm = (scope: DraftScope) => DraftCandidate[]

const EXCERPT = 64

/** How a rationale names material. */
export const cite = ({ origin }: Pick<Unit, 'origin'>): string => `“${excerpt(origin, EXCERPT)}”`

/** Names several pieces of material in short. */
export const citeAll = (units: readonly Unit[]): string =>
  units.map(({ text }) => `“${excerpt(text, EXCERPT / 2)}”`).join(', ')

/** Names the sentence itself rather than the entry it comes from. */
export const quoteOf = ({ text }: Unit): string => `“${excerpt(text, EXCERPT)}”`

/** Roles of the first sentence that make the post of a kind. */
const ROLE_TAGS = {
  number: 'number',
  failure: 'failure',
  quote: 'quote',
  lesson: 'lesson',
  rule: 'lesson',
} as const

const roleTags = ({ roles }: Unit): Cue[] =>
  Object.entries(ROLE_TAGS).flatMap(([role, cue]) =>
    roles.has(role as keyof typeof ROLE_TAGS) ? [cue] : [],
  )

const unitsIn = (block: Paragraph): readonly Unit[] => {
  if (typeof block === 'string') return []
  return 'kind' in block ? block.units : block
}

/**
 * A candidate with the properties of its opening, except those in `changed`. Empty blocks are left
 * out.
 */
export const candidate = (
  hook: PostHook,
  blocks: readonly Paragraph[],
  why: string,
  changed: Partial<Opening> = {},
): DraftCandidate => {
  const { format, cues, closer, weight = 1, isMixed = false } = { ...openings[hook], ...changed }
  const units = blocks.flatMap(unitsIn)
  const tags = new Set<Cue>(cues)
  if (units[0] && !isMixed) for (const tag of roleTags(units[0])) tags.add(tag)
  if (units.some(({ source }) => source === 'proof')) tags.add('proof')
  if (units.at(-1)?.text.endsWith('?')) tags.add('question')
  return {
    hook,
    format,
    blocks: blocks.filter((block) => !Array.isArray(block) || block.length > 0),
    units,
    tags,
    closer,
    weight,
    why,
  }
}
