import type { ArticleBrief, ArticleDraft } from '#domain/growth/drafting/draft'
import { lineBreaksIn } from '#domain/growth/drafting/format-rules'
import { headlineOf } from '#domain/growth/reading/focus'
import type { Style } from '#domain/growth/reading/style'
import { countShared, termsOf } from '#domain/growth/reading/words'
import { createRandom } from '#kernel/random'
import { type ArticleFault, checkArticle, countWords, wordRange } from '../checks/article.ts'
import { GenerationError } from '../drafter.ts'
import { storiesOf } from './material.ts'
import { type MaterialPiece, piecesOf } from './pieces.ts'
import { type Prepared, prepare } from './prepare.ts'
import {
  createGlueChoice,
  createGlueStock,
  type GlueChoice,
  joinSentences,
  lowerCased,
} from './render.ts'
import { type ArticleSection, arrangeSections, followOutline } from './sections.ts'

/** An article with a smaller share of the requested words is refused, with advice to the person. */
const LEAST_SHARE = 0.2
/** How far other subjects may fill up an article whose subject the profile knows. */
const OTHER_SHARE = 0.5
const SENTENCES_OF_PARAGRAPH = 4

/** What all sections of an article share. */
interface Desk extends Prepared<ArticleBrief> {
  choice: GlueChoice
}

/**
 * The pieces that fit into the article, best first: at most the requested words, half of them on
 * other subjects.
 */
const choosePieces = (pieces: readonly MaterialPiece[], brief: ArticleBrief): MaterialPiece[] => {
  const known = pieces.some(({ onTopic }) => onTopic)
  const taken: MaterialPiece[] = []
  let words = 0
  let length = 0
  for (const onTopic of [true, false]) {
    const most = onTopic || !known ? brief.words : brief.words * OTHER_SHARE
    for (const piece of pieces.filter(
      (one) => one.onTopic === onTopic && (onTopic || one.kind !== 'product'),
    )) {
      const room = brief.measure(joinSentences(piece.units)) + 2 * piece.units.length
      if (words + piece.words > most || length + room > brief.maxLength * 0.9) continue
      taken.push(piece)
      words += piece.words
      length += room
    }
  }
  return taken.sort((one, other) => other.score - one.score)
}

const paragraphsOf = ({ units }: MaterialPiece): string[] =>
  Array.from({ length: Math.ceil(units.length / SENTENCES_OF_PARAGRAPH) }, (_, index) =>
    joinSentences(
      units.slice(index * SENTENCES_OF_PARAGRAPH, (index + 1) * SENTENCES_OF_PARAGRAPH),
    ),
  )

const bulletsOf = (proof: readonly MaterialPiece[], { noLists }: Style): string[] => {
  const lines = proof.map(({ units }) => joinSentences(units))
  if (lines.length < 2) return lines
  return noLists ? [lines.join(' ')] : [lines.map((line) => `- ${line}`).join('\n')]
}

const headOf = ({ heading, slot }: ArticleSection, { choice, style }: Desk): string | undefined => {
  if (heading !== undefined) return heading.text
  return slot !== undefined && style.english ? choice.choose(slot) : undefined
}

const blocksOf = (section: ArticleSection, desk: Desk): string[] => {
  const head = headOf(section, desk)
  const proof = section.pieces.filter(({ kind }) => kind === 'proof')
  const narrative = section.pieces.filter(({ kind }) => kind !== 'proof').flatMap(paragraphsOf)
  return [...(head === undefined ? [] : [head]), ...narrative, ...bulletsOf(proof, desk.style)]
}

const textOf = (sections: readonly ArticleSection[], desk: Desk): string => {
  const audience =
    desk.style.english && desk.material.audience !== undefined
      ? desk.choice.choose('article-audience')
      : undefined
  const text = [
    ...(audience === undefined ? [] : [audience]),
    ...sections.flatMap((section) => blocksOf(section, desk)),
  ].join('\n\n')
  return desk.style.lowercase ? lowerCased(text) : text
}

const pluralise = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`

const rationaleOf = (
  text: string,
  sections: readonly ArticleSection[],
  { brief, focus }: Desk,
): string => {
  const pieces = sections.flatMap((section) => section.pieces)
  const count = (kind: MaterialPiece['kind']) =>
    pieces.filter((piece) => piece.kind === kind).length
  const words = countWords(text)
  const unmatched = sections.flatMap(({ heading, isUnmatched }) =>
    isUnmatched && heading !== undefined ? [`“${heading.text}”`] : [],
  )
  const parts = [
    `Made of your own sentences: ${pluralise(count('story'), 'story', 'stories')}, ${pluralise(count('proof'), 'piece of proof', 'pieces of proof')}.`,
    focus.terms.size > 0
      ? `${pieces.filter(({ onTopic }) => onTopic).length} of ${pieces.length} pieces are about the topic.`
      : '',
    words < wordRange(brief).least
      ? `It has ${words} of about ${brief.words} words, because the profile has no more: add stories and proof for a longer one.`
      : '',
    unmatched.length > 0
      ? `Check the text under ${unmatched.join(', ')}: nothing in the profile is about it.`
      : '',
  ]
  return parts.filter((part) => part !== '').join(' ')
}

/**
 * Whether the person has written anything on the subject; true if the subject has no terms to go
 * by.
 */
const isKnown = (
  pieces: readonly MaterialPiece[],
  { brief: { profile, points }, focus, style }: Prepared<ArticleBrief>,
): boolean => {
  if (!style.english || focus.terms.size === 0 || pieces.some(({ onTopic }) => onTopic)) return true
  const about = termsOf([profile.goal, profile.audience, ...profile.writing_dna.use].join(' '))
  return (
    countShared(about, focus.terms) > 0 ||
    points.some((point) => pieces.some(({ terms }) => countShared(terms, termsOf(point)) > 0))
  )
}

const EVIDENCE = "add stories and proof to the profile's writing_dna"

const refuse = (hint: string): never => {
  throw new GenerationError(hint)
}

const hintFor = (faults: readonly ArticleFault[]): string => {
  const kinds = new Map(faults.map(({ kind, detail }) => [kind, detail]))
  if (kinds.has('avoided'))
    return 'the topic or the outline holds a phrase of the avoid list; word it differently'
  if (kinds.has('archived'))
    return 'the topic or the outline names an archived product; word it differently'
  if (kinds.has('rule')) return `${kinds.get('rule')}; loosen the rules of channel articles`
  if (kinds.has('too_long'))
    return 'the network does not accept a post of this length; ask for a shorter article'
  return `${faults[0]?.detail}; change the topic or the outline`
}

const sectionsOf = (pieces: readonly MaterialPiece[], { points }: ArticleBrief): ArticleSection[] =>
  (points.length === 0 ? arrangeSections(pieces) : followOutline(points, pieces)) ??
  refuse(
    `the outline has ${points.length} points and the profile has material for fewer; shorten the outline, or ${EVIDENCE}`,
  )

const requireEnough = (text: string, { words: wanted }: ArticleBrief): void => {
  const words = countWords(text)
  const shorter = wanted > 600 ? 'ask for a short one, or ' : ''
  if (words < wanted * LEAST_SHARE)
    refuse(`the profile gives ${words} of about ${wanted} words; ${shorter}${EVIDENCE}`)
}

/** Without empty lines if the channel allows fewer line breaks; two follow the title. */
const closedUp = (text: string, { max_line_breaks: most }: ArticleBrief['rules']): string =>
  most === null || lineBreaksIn(text) + 2 <= most ? text : text.replace(/\n{2,}/g, '\n')

/**
 * An article made of the profile's own sentences, each used once, under the points of the outline.
 * It adds nothing: if the profile has too little, the article is shorter and says so, or is refused
 * with a hint.
 */
export const composeArticle = (asked: ArticleBrief): ArticleDraft => {
  const random = createRandom(asked.seed)
  const prepared = prepare(asked, random)
  const { brief, style, focus, avoid, material } = prepared
  const title = headlineOf(focus, brief.profile.language)
  const pieces = piecesOf(prepared, title, random)
  if (pieces.length === 0) refuse(EVIDENCE)
  if (!isKnown(pieces, prepared))
    refuse(`the profile says nothing about the topic; change it, or ${EVIDENCE} about it`)
  const stock = createGlueStock({
    style,
    phrases: { topic: undefined, audience: material.audience },
    avoid,
    earlier: [],
  })
  const desk: Desk = { ...prepared, choice: createGlueChoice({ stock, random, used: [] }) }
  const sections = sectionsOf(choosePieces(pieces, brief), brief)
  const text = closedUp(textOf(sections, desk), brief.rules)
  requireEnough(text, brief)
  const article = { title: style.lowercase ? lowerCased(title) : title, text }
  const faults = checkArticle(article, brief)
  if (faults.length > 0) refuse(hintFor(faults))
  const used = sections.flatMap((section) => section.pieces)
  const units = used.flatMap((piece) => piece.units)
  const followed = new Set(used.flatMap((piece) => piece.learnings))
  return {
    ...article,
    rationale: rationaleOf(text, sections, desk),
    stories: storiesOf(units, brief.profile),
    learnings: brief.learnings.map(({ id }) => id).filter((id) => followed.has(id)),
  }
}
