import { postOf } from '#domain/growth/drafting/article-text'
import { MOST_POSTS } from '#domain/growth/drafting/batch'
import type { ArticleBrief, ArticleDraft, Draft, DraftBrief, Revise } from '#domain/growth/drafting/draft'
import { wordSet } from '../checks/draft.ts'
import { GenerationError } from '../drafter.ts'
import { composeArticle } from './article.ts'
import { composeDrafts } from './drafts.ts'

/** What a hint says of the length, where it does. Other hints say what the text is to be about. */
const lengthWanted = ({ hint }: Revise): 'shorter' | 'longer' | undefined => {
  if (/\b(short|shorter|brief|briefer|concise|tighter|trim|cut|less)\b/i.test(hint)) return 'shorter'
  return /\b(long|longer|expand|elaborate|detail|details|more)\b/i.test(hint) ? 'longer' : undefined
}

/** Longer words carry the subject; short ones are mostly grammar. */
const SHORTEST_TERM = 4

const termsIn = (text: string): Set<string> => new Set([...wordSet(text)].filter((word) => word.length >= SHORTEST_TERM))

interface Rated {
  draft: Draft
  /** Whether its length is as wanted. */
  fits: boolean
  hinted: number
  kept: number
}

const better = (one: Rated, other: Rated): number =>
  Number(other.fits) - Number(one.fits) || other.hinted - one.hinted || other.kept - one.kept

const rated = (draft: Draft, revise: Revise, { measure }: DraftBrief): Rated => {
  const [terms, wanted] = [termsIn(draft.body), lengthWanted(revise)]
  const [length, before] = [measure(draft.body), measure(revise.body)]
  return {
    draft,
    fits: wanted === undefined || (wanted === 'shorter' ? length < before : length > before),
    hinted: terms.intersection(termsIn(revise.hint)).size,
    kept: terms.intersection(termsIn(revise.body)).size,
  }
}

/**
 * Another post of the person's own sentences: of the length that the hint asks for, then nearest to what it names, then to the subject of the
 * present one. The composer cannot edit a sentence, so a hint about wording has no effect.
 */
export const composeRedraft = ({ revise, ...brief }: DraftBrief & { revise: Revise }): Draft[] => {
  const recent = [{ body: revise.body, hook: revise.hook }, ...brief.recent]
  const drafts = composeDrafts({ ...brief, count: MOST_POSTS, focus: revise.hint, recent })
  const [best] = drafts.map((draft) => rated(draft, revise, brief)).toSorted(better)
  const { draft, fits } = best!
  const missed = fits ? '' : ` No ${lengthWanted(revise)} one could be made of your sentences.`
  return [{ ...draft, rationale: `Written again for “${revise.hint.slice(0, 80)}”.${missed} ${draft.rationale}`.slice(0, 600) }]
}

/** In characters. */
const LONGEST_TOPIC = 2_000
const FACTORS = { shorter: 0.6, longer: 1.5 } as const

/** The same article of another length, or with what the hint names. Throws `GenerationError` if that changes nothing. */
export const composeArticleAgain = ({ revise, ...brief }: ArticleBrief & { revise: Revise }): ArticleDraft => {
  const wanted = lengthWanted(revise)
  const words = Math.round(brief.words * (wanted ? FACTORS[wanted] : 1))
  // A hint about the length names no subject.
  const topic = wanted ? brief.topic : `${brief.topic}\n${revise.hint}`.slice(0, LONGEST_TOPIC)
  const article = composeArticle({ ...brief, words, topic })
  if (postOf(article.title, article.text) === revise.body)
    throw new GenerationError('the profile has no other material for this article; add stories or proof, or edit the text')
  return article
}
