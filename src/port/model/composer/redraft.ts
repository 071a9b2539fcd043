import { postOf } from '#domain/growth/drafting/article-text'
import { MOST_BATCH_POSTS } from '#domain/growth/drafting/batch'
import type {
  ArticleBrief,
  ArticleDraft,
  Draft,
  DraftBrief,
  Revise,
} from '#domain/growth/drafting/draft'
import { checkRules } from '#domain/growth/drafting/format-rules'
import { recogniseForm } from '#domain/growth/drafting/recognised'
import { wordSet } from '../checks/draft.ts'
import { GenerationError } from '../drafter.ts'
import { composeArticle } from './article.ts'
import { composeDrafts } from './drafts.ts'
import { type TextEdit, type Wishes, wishesIn } from './hint.ts'
import { isDone, withEdits } from './text-edits.ts'

/** Longer words carry the subject; short ones are mostly grammar. */
const SHORTEST_TERM = 4

const termsIn = (text: string): Set<string> =>
  new Set([...wordSet(text)].filter((word) => word.length >= SHORTEST_TERM))

interface Rated {
  draft: Draft
  /** Whether its length is as wanted. */
  fits: boolean
  /** How many of the other wishes it fulfils. */
  fulfilled: number
  hinted: number
  kept: number
}

const better = (one: Rated, other: Rated): number =>
  Number(other.fits) - Number(one.fits) ||
  other.fulfilled - one.fulfilled ||
  other.hinted - one.hinted ||
  other.kept - one.kept

/** What was requested and the draft does not do, in words. */
const unmet = (
  { body, hook }: Pick<Draft, 'body' | 'hook'>,
  { edits, otherHook }: Wishes,
  before: Revise,
): string[] => [
  ...[...edits].filter((edit) => !isDone[edit](body)).map((edit) => inWords[edit]),
  ...(otherHook && hook === before.hook ? ['open in another way'] : []),
]

const inWords: Record<TextEdit, string> = {
  no_emoji: 'leave out every emoji',
  no_hashtags: 'leave out every hashtag',
  no_links: 'leave out every link',
  question: 'end on a question',
}

const fitsLength = (
  body: string,
  { length: wanted }: Wishes,
  { revise, measure }: Redrafting,
): boolean => {
  const [length, before] = [measure(body), measure(revise.body)]
  return wanted === undefined || (wanted === 'shorter' ? length < before : length > before)
}

type Redrafting = DraftBrief & { revise: Revise }

/** The text with the edits, as far as the channel's form allows them. */
const editBody = (
  body: string,
  { edits }: Wishes,
  { profile, rules, measure, maxLength }: Redrafting,
): string =>
  withEdits(body, edits, {
    isEnglish: /^en\b/i.test(profile.language),
    fits: (text) => measure(text) <= maxLength && checkRules(text, rules, measure).length === 0,
  })

const rateDraft = (draft: Draft, wishes: Wishes, brief: Redrafting): Rated => {
  const { revise } = brief
  const body = editBody(draft.body, wishes, brief)
  const terms = termsIn(body)
  return {
    draft: { ...draft, body },
    fits: fitsLength(body, wishes, brief),
    fulfilled: -unmet({ body, hook: draft.hook }, wishes, revise).length,
    hinted: terms.intersection(termsIn(wishes.topic)).size,
    kept: terms.intersection(termsIn(revise.body)).size,
  }
}

/**
 * The present text with nothing but the edits. Undefined if it needs another text. Throws
 * `GenerationError` if there is nothing to do.
 */
const editedAlone = (wishes: Wishes, brief: Redrafting): Draft | undefined => {
  const { length, edits, otherHook, topic } = wishes
  if (edits.size === 0 || length || otherHook || topic !== '') return undefined
  const { body: before, hook } = brief.revise
  const body = editBody(before, wishes, brief)
  if ([...edits].every((edit) => isDone[edit](before)))
    throw new GenerationError(
      'the text is as the hint asks already; say what else to change, or edit the text',
    )
  if (body === before) return undefined
  const stories = brief.profile.writing_dna.stories.filter(
    (story) => story.trim() !== '' && body.includes(story.trim()),
  )
  const { format } = recogniseForm({ kind: 'post', body })
  return {
    body,
    format,
    hook,
    rationale: 'The text is otherwise the same.',
    stories,
    learnings: [],
  }
}

/** The best of the posts that the person's sentences make, with the edits. */
const another = (wishes: Wishes, { revise, ...brief }: Redrafting): Draft => {
  const recent = [{ body: revise.body, hook: revise.hook }, ...brief.recent]
  const drafts = composeDrafts({ ...brief, count: MOST_BATCH_POSTS, focus: wishes.topic, recent })
  return drafts.map((draft) => rateDraft(draft, wishes, { revise, ...brief })).toSorted(better)[0]!
    .draft
}

const MOST_NAMED = 200

/** What was requested and which part of it was not done, for the person who decides. */
const account = (draft: Draft, wishes: Wishes, brief: Redrafting): string => {
  const { hint } = brief.revise
  const wanted = fitsLength(draft.body, wishes, brief)
    ? ''
    : ` No ${wishes.length} one could be made of your sentences.`
  const left = [
    ...unmet(draft, wishes, brief.revise),
    ...wishes.beyond.map((wish) => `follow “${wish}”`),
  ]
  const not =
    left.length > 0
      ? ` Not done: ${left.join('; ').slice(0, MOST_NAMED)}. The composer cannot reword sentences.`
      : ''
  return `Written again for “${hint.slice(0, 80)}”.${wanted}${not} ${draft.rationale}`.slice(0, 600)
}

/**
 * The present post with the edits that the hint asks for, if it asks for nothing else. Otherwise
 * another post from the person's own sentences: first of the length that the hint asks for, then
 * with its other wishes, then nearest to what it names, then nearest to the subject of the present
 * post. The rationale says what the composer could not follow. Throws `GenerationError` if the text
 * already is as requested.
 */
export const composeRedraft = (brief: Redrafting): Draft[] => {
  const wishes = wishesIn(brief.revise.hint)
  const draft = editedAlone(wishes, brief) ?? another(wishes, brief)
  return [{ ...draft, rationale: account(draft, wishes, brief) }]
}

/** In characters. */
const LONGEST_TOPIC = 2_000
const FACTORS = { shorter: 0.6, longer: 1.5 } as const

/**
 * The same article with another length, or with what the hint names. Throws `GenerationError` if
 * that changes nothing.
 */
export const composeArticleAgain = ({
  revise,
  ...brief
}: ArticleBrief & { revise: Revise }): ArticleDraft => {
  const { length: wanted, topic: asked, beyond } = wishesIn(revise.hint)
  const words = Math.round(brief.words * (wanted ? FACTORS[wanted] : 1))
  // A hint about length or wording does not name a subject.
  const topic = asked === '' ? brief.topic : `${brief.topic}\n${asked}`.slice(0, LONGEST_TOPIC)
  const article = composeArticle({ ...brief, words, topic })
  if (postOf(article.title, article.text) === revise.body)
    throw new GenerationError(
      'the profile has no other material for this article; add stories or proof, or edit the text',
    )
  const not = beyond.length > 0 ? ` Not done: ${beyond.join('; ').slice(0, MOST_NAMED)}.` : ''
  return { ...article, rationale: `${article.rationale}${not}`.slice(0, 600) }
}
