import type { HookKey } from '#domain/growth/drafting/hooks'
import type { Cue } from './cues.ts'
import type { Focus } from './focus.ts'
import type { GlueSlot } from './glue.ts'
import type { Material, Unit } from './material.ts'
import type { Random } from './random.ts'
import type { Style } from './style.ts'
import { excerpt } from './text.ts'

/** A block of a post; blocks are set apart by an empty line. */
export type Block =
  /** One of the composer's own lines. */
  | { kind: 'glue'; slot: GlueSlot }
  /** One of the composer's own lines that goes on with the person's words: `Ask us about` … */
  | { kind: 'led'; slot: GlueSlot; phrase: string }
  /** Sentences told in a row. */
  | { kind: 'prose'; units: readonly Unit[] }
  | { kind: 'bullets'; entries: readonly string[] }
  /** Sentences on a line each, without an empty line between. */
  | { kind: 'lines'; units: readonly Unit[] }
  /** Where a product is found. */
  | { kind: 'address'; url: string }

/** A post that could be made; it becomes text when it is chosen. */
export interface DraftCandidate {
  hook: HookKey
  format: string
  blocks: readonly Block[]
  /** The person's sentences in it; empty only for questions about the topic. */
  units: readonly Unit[]
  tags: ReadonlySet<Cue>
  /** Which questions may close it. */
  closer: GlueSlot | undefined
  /** How good the form is by itself, around 1. */
  weight: number
  /** What was done with which material, as a sentence. */
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

/** One way to open and shape a post; yields nothing when the material for it is missing. */
export type DraftForm = (scope: DraftScope) => DraftCandidate[]

const EXCERPT = 64

/** How a rationale names material. */
export const cite = (unit: Pick<Unit, 'origin'>): string => `“${excerpt(unit.origin, EXCERPT)}”`

/** Names several pieces of material shortly. */
export const citeAll = (units: readonly Unit[]): string => units.map(({ text }) => `“${excerpt(text, EXCERPT / 2)}”`).join(', ')

/** Names the sentence itself rather than the entry it comes from. */
export const quoteOf = (unit: Unit): string => `“${excerpt(unit.text, EXCERPT)}”`

const roleTags = (lead: Unit): Cue[] => {
  const tags: Cue[] = []
  if (lead.roles.has('number')) tags.push('number')
  if (lead.roles.has('failure')) tags.push('failure')
  if (lead.roles.has('quote')) tags.push('quote')
  if (lead.roles.has('lesson') || lead.roles.has('rule')) tags.push('lesson')
  return tags
}

/** Completes a candidate: `lead` is the sentence it opens with, whose roles become tags. */
export const candidate = (
  parts: Omit<DraftCandidate, 'tags' | 'closer' | 'weight'> & { lead?: Unit; cues: Cue[]; closer?: GlueSlot; weight?: number },
): DraftCandidate => {
  const { lead, cues, closer, weight = 1, ...rest } = parts
  const proof = rest.units.some(({ source }) => source === 'proof') ? (['proof'] as const) : []
  const asks = rest.units.at(-1)?.text.endsWith('?') ? (['question'] as const) : []
  return { ...rest, closer, weight, tags: new Set([...cues, ...(lead ? roleTags(lead) : []), ...proof, ...asks]) }
}
