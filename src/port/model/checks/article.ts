import { LONGEST_TITLE, postOf, titleFault } from '#domain/growth/drafting/article-text'
import type { ArticleBrief, ArticleDraft, DraftBrief } from '#domain/growth/drafting/draft'
import { foldText } from '#domain/growth/drafting/phrase'
import { checkDraft, type DraftFault } from './draft.ts'

/** What keeps an article from being delivered; `detail` is worded for whoever has to rewrite it. */
export interface ArticleFault {
  kind: DraftFault['kind'] | 'title' | 'outline' | 'too_short' | 'too_wordy'
  detail: string
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** How many words a text has; works for scripts without spaces too. */
export const countWords = (text: string): number => {
  let count = 0
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike) count += 1
  return count
}

/** About as long as words are, with the space behind them. */
const USUAL_WORD = 'average '

/** How many words an article may have; the fewest give way to what the network takes. */
export const wordRange = ({ words, maxLength, measure }: Pick<ArticleBrief, 'words' | 'maxLength' | 'measure'>) => ({
  least: Math.min(Math.floor(words * 0.75), Math.floor(maxLength / measure(USUAL_WORD))),
  most: Math.ceil(words * 1.25),
})

const standards = new WeakMap<ArticleBrief, DraftBrief>()

/** What an article is held against, as for a post: earlier posts are not, for an article may tell their stories again. */
const articleStandards = (brief: ArticleBrief): DraftBrief => {
  const { topic, points, words: _, ...shared } = brief
  const known = standards.get(brief) ?? { ...shared, count: 1, hooks: [], focus: [topic, ...points].join('\n'), recent: [] }
  standards.set(brief, known)
  return known
}

const linesOf = (text: string): string[] => text.split('\n').map(foldText)

/** The first point that is no line of the text behind those before it. */
const missingPoint = (text: string, points: readonly string[]): string | undefined => {
  const lines = linesOf(text)
  let from = 0
  for (const point of points) {
    const at = lines.indexOf(foldText(point), from)
    if (at < 0) return point
    from = at + 1
  }
  return undefined
}

/** Shorter paragraphs may come again: a refrain is no padding. */
const SHORTEST_REPEAT = 60

const repeatedParagraph = (text: string): string | undefined => {
  const paragraphs = linesOf(text).filter((line) => line.length >= SHORTEST_REPEAT)
  return paragraphs.find((line, index) => paragraphs.indexOf(line) < index)
}

const faultsOfTitle = (title: string): ArticleFault[] => {
  const fault = title.length > LONGEST_TITLE ? `has ${title.length} characters, at most ${LONGEST_TITLE} fit` : titleFault(title)
  return fault === undefined ? [] : [{ kind: 'title', detail: `the title ${fault}` }]
}

/** No network counts a text for less than a quarter of its characters: what is longer is not even measured. */
const LEAST_WEIGHT = 0.25

const faultsOfPost = (body: string, brief: ArticleBrief): ArticleFault[] =>
  body.length * LEAST_WEIGHT > brief.maxLength
    ? [{ kind: 'too_long', detail: `the article has far more than the ${brief.maxLength} characters that fit` }]
    : checkDraft({ body, hook: '', stories: [] }, articleStandards(brief), [])

/** Every reason why an article may not be delivered, but for being short, which says nothing of what stands in it. */
export const checkArticle = ({ title, text }: Pick<ArticleDraft, 'title' | 'text'>, brief: ArticleBrief): ArticleFault[] => {
  if (text.trim() === '') return [{ kind: 'empty', detail: 'the article is empty' }]
  const faults: ArticleFault[] = faultsOfTitle(title)
  faults.push(...faultsOfPost(postOf(title, text), brief))
  if (faults.some(({ kind }) => kind === 'too_long')) return faults
  const words = countWords(text)
  const { most } = wordRange(brief)
  if (words > most) faults.push({ kind: 'too_wordy', detail: `the article has ${words} words, at most ${most} are wanted` })
  const point = missingPoint(text, brief.points)
  if (point !== undefined)
    faults.push({ kind: 'outline', detail: `the outline's point "${point}" is no heading, or does not stand in its order` })
  const again = repeatedParagraph(text)
  if (again !== undefined) faults.push({ kind: 'repeated', detail: `a paragraph stands there twice: "${again.slice(0, SHORTEST_REPEAT)}"` })
  return faults
}

/** What speaks against an article that had as much to say as it liked. */
export const tooShort = (text: string, brief: ArticleBrief): ArticleFault[] => {
  const words = countWords(text)
  const { least } = wordRange(brief)
  return words < least ? [{ kind: 'too_short', detail: `the article has ${words} words, at least ${least} are wanted` }] : []
}
