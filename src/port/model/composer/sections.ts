import type { GlueSlot } from './glue.ts'
import { fitOf, type Heading, headingOf, type MaterialPiece } from './pieces.ts'

/**
 * A part of an article: its pieces under a heading of the person's outline, or under a line of the
 * composer's own.
 */
export interface ArticleSection {
  /** A point of the outline. */
  heading?: Heading
  slot?: GlueSlot
  pieces: MaterialPiece[]
  /** None of its pieces is about the heading. */
  isUnmatched?: boolean
}

const wordsIn = ({ pieces }: ArticleSection): number =>
  pieces.reduce((sum, { words }) => sum + words, 0)

/**
 * The best piece for each point. The clearest match goes first, so that no point takes what another
 * needs more.
 */
const bestForEach = (points: readonly string[], left: Set<MaterialPiece>): ArticleSection[] => {
  const sections: ArticleSection[] = points.map((point) => ({
    heading: headingOf(point),
    pieces: [],
  }))
  const open = new Set(sections)
  while (open.size > 0 && left.size > 0) {
    const choices = [...open].flatMap((section) =>
      [...left].map((piece) => ({ section, piece, fit: fitOf(section.heading!, piece) })),
    )
    const { section, piece, fit } = choices.reduce((best, choice) =>
      choice.fit > best.fit ? choice : best,
    )
    section.pieces.push(piece)
    section.isUnmatched = fit === 0
    open.delete(section)
    left.delete(piece)
  }
  return sections
}

/** The person's phrases go at the end of an article. */
const isPhrase = ({ kind }: MaterialPiece): boolean => kind === 'use'

/**
 * The outline in order with all pieces under it; undefined if there are more points than pieces.
 */
export const followOutline = (
  points: readonly string[],
  pieces: readonly MaterialPiece[],
): ArticleSection[] | undefined => {
  const phrases = pieces.filter(isPhrase)
  const left = new Set(pieces.filter((piece) => !isPhrase(piece)))
  if (left.size < points.length) return undefined
  const sections = bestForEach(points, left)
  for (const piece of left) {
    const fits = sections.map((section) => ({ section, fit: fitOf(section.heading!, piece) }))
    const best = fits.reduce((one, other) => (other.fit > one.fit ? other : one))
    const shortest = sections.reduce((one, other) => (wordsIn(other) < wordsIn(one) ? other : one))
    const { pieces: under } = best.fit > 0 ? best.section : shortest
    under.push(piece)
  }
  const last = { pieces: phrases }
  return phrases.length > 0 ? [...sections, last] : sections
}

const isNarrative = ({ kind }: MaterialPiece): boolean => kind === 'story' || kind === 'news'

/**
 * Without an outline: an opening story, proof, the other stories, those on other subjects apart,
 * and a phrase to end on.
 */
export const arrangeSections = (pieces: readonly MaterialPiece[]): ArticleSection[] => {
  const narrative = pieces.filter(isNarrative)
  const [opening, ...others] = narrative
  const news = narrative.filter(({ kind }) => kind === 'news')
  const sections: ArticleSection[] = [
    { pieces: opening ? [opening] : [] },
    { slot: 'article-proof', pieces: pieces.filter(({ kind }) => kind === 'proof') },
    { slot: 'article-stories', pieces: others.filter(({ onTopic }) => onTopic) },
    {
      slot:
        news.length === narrative.length || !opening?.onTopic ? 'article-stories' : 'article-rest',
      pieces: others.filter(({ onTopic }) => !onTopic),
    },
    { pieces: pieces.filter(({ kind }) => kind === 'product') },
    { pieces: pieces.filter(isPhrase) },
  ]
  return sections.filter((section) => section.pieces.length > 0)
}
