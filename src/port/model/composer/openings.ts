import type { HookKey } from '#domain/growth/drafting/hooks'
import type { Cue } from '#domain/growth/reading/cues'
import type { GlueSlot } from './glue.ts'

/** What posts of one opening have in common. A form may change it for the material at hand. */
export interface Opening {
  format: string
  /** What the post is whatever stands in it. */
  cues: readonly Cue[]
  /** Which questions may close it. */
  closer?: GlueSlot | undefined
  /** How good the form is by itself; 1 unless given. */
  weight?: number
  /** Its first sentence says nothing of the whole. */
  isMixed?: true
}

export type PostHook = Exclude<HookKey, 'article'>

const story: Opening = { format: 'story', cues: ['story', 'scene'] }
const line: Opening = { format: 'one-liner', cues: ['short'] }

/** All openings of posts. */
export const openings: Readonly<Record<PostHook, Opening>> = {
  'cold-open': story,
  'number-first': story,
  'time-stamp': story,
  admission: story,
  'quote-open': story,
  'back-then': story,
  'opinion-open': story,
  'rule-open': story,
  'turning-point': story,
  excerpt: { format: 'excerpt', cues: ['story'], weight: 0.1 },
  news: { format: 'announcement', cues: ['story', 'scene'] },
  'news-line': { format: 'announcement', cues: ['short'], isMixed: true },
  'ending-first': { format: 'reversal', cues: ['story', 'ending'] },
  'number-ending': { format: 'reversal', cues: ['story', 'ending'] },
  'your-call': { format: 'question', cues: ['question', 'failure'], weight: 0.8 },
  'open-ending': { format: 'question', cues: ['question', 'failure'] },
  'then-now': { format: 'before-after', cues: ['before-after', 'story'], closer: 'close-story', weight: 1.3 },
  'short-version': { format: 'summary', cues: ['story', 'short'] },
  'point-then-story': { format: 'lesson', cues: ['lesson', 'story'], weight: 1.2 },
  'rule-then-why': { format: 'lesson', cues: ['lesson', 'story'], weight: 1.2 },
  'lesson-first': { format: 'lesson', cues: ['lesson', 'story'], weight: 1.2 },
  disagree: { format: 'contrarian', cues: ['contrarian'], weight: 1.1 },
  'flat-claim': { format: 'contrarian', cues: ['contrarian'], closer: 'close-stance', weight: 1.1 },
  'this-not-that': { format: 'contrarian', cues: ['contrarian'], closer: 'close-stance', weight: 1.1 },
  'quote-alone': { format: 'quote', cues: ['quote', 'short'] },
  'proof-alone': line,
  'one-line': line,
  'one-number': line,
  'one-rule': line,
  'one-lesson': line,
  'one-opinion': line,
  'proof-lead': { format: 'proof', cues: ['proof', 'story'], weight: 1.1 },
  'own-phrase': { format: 'maxim', cues: ['story'] },
  'ask-about': { format: 'invitation', cues: ['question', 'story', 'short'], weight: 0.7, isMixed: true },
  'own-question': { format: 'question', cues: ['question'] },
  'in-numbers': { format: 'list', cues: ['list', 'number'], closer: 'close-proof', isMixed: true },
  receipts: { format: 'list', cues: ['list'], closer: 'close-proof', isMixed: true },
  'phrase-over-proof': { format: 'list', cues: ['list'] },
  'list-head': { format: 'list', cues: ['list'], closer: 'close-list', weight: 1.3 },
  'checklist-open': { format: 'checklist', cues: ['list', 'lesson'], closer: 'close-list', weight: 1.1, isMixed: true },
  'side-by-side': { format: 'pairing', cues: [] },
  'two-numbers': { format: 'pairing', cues: [] },
  'product-line': { format: 'product', cues: ['product', 'short'], isMixed: true },
  'story-then-product': { format: 'product', cues: ['product', 'story'] },
  'proof-then-product': { format: 'product', cues: ['product', 'proof'] },
  'audience-call': { format: 'story', cues: ['story', 'audience'], weight: 0.6 },
  'audience-advice': { format: 'advice', cues: ['lesson', 'audience', 'short'], weight: 0.6 },
  'topic-label': { format: 'story', cues: ['story'] },
  'topic-point': { format: 'note', cues: ['short'], closer: 'close-lesson', weight: 0.7 },
  'open-question': { format: 'question', cues: ['question', 'short'] },
  'audience-question': { format: 'question', cues: ['question', 'short'] },
}
