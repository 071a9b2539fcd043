/**
 * A kind of post that people name in a pattern or in a learning. Candidates have the same tags, so
 * "start with a number" and "question posts flopped" find the posts they mean.
 */
export type Cue =
  | 'number'
  | 'question'
  | 'before-after'
  | 'contrarian'
  | 'list'
  | 'story'
  | 'scene'
  | 'lesson'
  | 'ending'
  | 'failure'
  | 'quote'
  | 'short'
  | 'long'
  | 'proof'
  | 'audience'
  | 'product'

const cueWords: readonly (readonly [Cue, RegExp])[] = [
  ['number', /\b(?:numbers?|stats?|statistics?|figures?|metrics?|data points?|digits?)\b/gi],
  ['question', /\b(?:questions?|ask|asks|asking)\b|\?/gi],
  [
    'before-after',
    /\bused to\b|\bbefore\b.{0,40}\bafter\b|\bthen\b.{0,20}\bnow\b|\bnow (?:I|we)\b|\btransformations?\b/gi,
  ],
  [
    'contrarian',
    /\b(?:contrast|contrarian|versus|vs|myths?|unpopular|most (?:people|teams)|everyone|disagree|hot takes?|opinions?)\b/gi,
  ],
  ['list', /\b(?:lists?|listicles?|bullets?|bullet points|checklists?|steps)\b/gi],
  ['story', /\b(?:story|stories|anecdotes?|behind[- ]the[- ]scenes)\b/gi],
  ['scene', /\b(?:moments?|scenes?|in the middle|in medias res)\b/gi],
  [
    'lesson',
    /\b(?:lessons?|learn(?:ed|t|ing|ings)?|takeaways?|moral|advice|tips?|rules?|how-to)\b/gi,
  ],
  ['ending', /\b(?:results?|outcomes?|endings?|backwards?|payoffs?|punch ?lines?)\b/gi],
  [
    'failure',
    /\b(?:mistakes?|fail(?:ed|ure|ures|ing)?|confess(?:ion|ions)?|admit|admissions?|vulnerab\w+|went wrong|what it cost|losses|incidents?|post-?mortems?|outages?)\b/gi,
  ],
  ['quote', /\b(?:quotes?|quotations?|testimonials?|said|in their words)\b/gi],
  ['short', /\b(?:one-?liners?|short|brief|single sentence|punchy|concise)\b/gi],
  ['long', /\b(?:long|longer|detailed|threads?)\b/gi],
  ['proof', /\b(?:proof|evidence|case stud(?:y|ies)|receipts|credib\w+)\b/gi],
  [
    'product',
    /\b(?:products? (?:posts?|pitch(?:es)?|mentions?|plugs?|links?)|pitch(?:es|ing)?|promos?|promotion(?:s|al)?|self-promotion|plugs|sales posts?)\b/gi,
  ],
  ['audience', /\b(?:audience|address|addressing|call out|calling out)\b/gi],
]

/** `without questions` means the opposite of questions. */
const NEGATED =
  /\b(?:without|no|fewer|less|not|never|avoid|instead of|skip(?:ped)?)\s+(?:\w+\s+)?$/i

export interface FoundCue {
  cue: Cue
  negated: boolean
}

/** How much of a pattern or a note is read, in characters. */
export const LONGEST_READ = 400

/** The cues that a text names, each once. */
export const cuesOf = (text: string): FoundCue[] =>
  cueWords.flatMap(([cue, words]) => {
    const [first] = text.matchAll(words)
    return first ? [{ cue, negated: NEGATED.test(text.slice(0, first.index)) }] : []
  })

/** A text without its cue words, which leaves its subject. */
export const withoutCues = (text: string): string =>
  cueWords.reduce((rest, [, words]) => rest.replace(words, ' '), text)
