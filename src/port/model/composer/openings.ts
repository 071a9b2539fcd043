import type { HookKey } from '#domain/growth/drafting/hooks'
import type { Cue } from '#domain/growth/reading/cues'
import type { GlueSlot } from './glue.ts'

/** What posts of one opening have in common. A form may change it for the material at hand. */
export interface Opening {
  format: string
  /** The kinds of post that it always is. */
  cues: readonly Cue[]
  /** Which questions may close it. */
  closer?: GlueSlot | undefined
  /** How good the form is by itself; 1 unless given. */
  weight?: number
  /** Whether its first sentence does not determine the kind of the post. */
  isMixed?: true
}

export type PostHook = Exclude<HookKey, 'article'>

const alike = <H extends PostHook>(opening: Opening, ...hooks: readonly H[]) =>
  Object.fromEntries(hooks.map((hook) => [hook, opening])) as Record<H, Opening>

/** All openings of posts. */
export const openings: Readonly<Record<PostHook, Opening>> = {
  ...alike(
    { format: 'story', cues: ['story', 'scene'] },
    'cold-open',
    'number-first',
    'time-stamp',
    'admission',
    'quote-open',
  ),
  ...alike(
    { format: 'story', cues: ['story', 'scene'] },
    'back-then',
    'opinion-open',
    'rule-open',
    'turning-point',
  ),
  news: { format: 'announcement', cues: ['story', 'scene'] },
  'news-line': { format: 'announcement', cues: ['short'], isMixed: true },
  excerpt: { format: 'excerpt', cues: ['story'], weight: 0.1 },
  ...alike({ format: 'reversal', cues: ['story', 'ending'] }, 'ending-first', 'number-ending'),
  'your-call': { format: 'question', cues: ['question', 'failure'], weight: 0.8 },
  'open-ending': { format: 'question', cues: ['question', 'failure'] },
  'then-now': {
    format: 'before-after',
    cues: ['before-after', 'story'],
    closer: 'close-story',
    weight: 1.3,
  },
  'short-version': { format: 'summary', cues: ['story', 'short'] },
  ...alike(
    { format: 'lesson', cues: ['lesson', 'story'], weight: 1.2 },
    'point-then-story',
    'rule-then-why',
    'lesson-first',
  ),
  disagree: { format: 'contrarian', cues: ['contrarian'], weight: 1.1 },
  ...alike(
    { format: 'contrarian', cues: ['contrarian'], closer: 'close-stance', weight: 1.1 },
    'flat-claim',
    'this-not-that',
  ),
  'quote-alone': { format: 'quote', cues: ['quote', 'short'] },
  ...alike(
    { format: 'one-liner', cues: ['short'] },
    'proof-alone',
    'one-line',
    'one-number',
    'one-rule',
    'one-lesson',
    'one-opinion',
  ),
  'proof-lead': { format: 'proof', cues: ['proof', 'story'], weight: 1.1 },
  'own-phrase': { format: 'maxim', cues: ['story'] },
  'ask-about': {
    format: 'invitation',
    cues: ['question', 'story', 'short'],
    weight: 0.7,
    isMixed: true,
  },
  'own-question': { format: 'question', cues: ['question'] },
  'in-numbers': { format: 'list', cues: ['list', 'number'], closer: 'close-proof', isMixed: true },
  receipts: { format: 'list', cues: ['list'], closer: 'close-proof', isMixed: true },
  'phrase-over-proof': { format: 'list', cues: ['list'] },
  'list-head': { format: 'list', cues: ['list'], closer: 'close-list', weight: 1.3 },
  'checklist-open': {
    format: 'checklist',
    cues: ['list', 'lesson'],
    closer: 'close-list',
    weight: 1.1,
    isMixed: true,
  },
  ...alike({ format: 'pairing', cues: [] }, 'side-by-side', 'two-numbers'),
  'product-line': { format: 'product', cues: ['product', 'short'], isMixed: true },
  'story-then-product': { format: 'product', cues: ['product', 'story'] },
  'proof-then-product': { format: 'product', cues: ['product', 'proof'] },
  'audience-call': { format: 'story', cues: ['story', 'audience'], weight: 0.6 },
  'audience-advice': { format: 'advice', cues: ['lesson', 'audience', 'short'], weight: 0.6 },
  'topic-label': { format: 'story', cues: ['story'] },
  'topic-point': { format: 'note', cues: ['short'], closer: 'close-lesson', weight: 0.7 },
  ...alike(
    { format: 'question', cues: ['question', 'short'] },
    'open-question',
    'audience-question',
  ),
}
