import { LONGEST_TITLE, postOf, titleFault } from '#domain/growth/drafting/article-text'
import type { ArticleBrief, ArticleDraft, DraftBrief } from '#domain/growth/drafting/draft'
import { foldText } from '#domain/growth/drafting/phrase'
import { checkDraft, type DraftFault } from './draft.ts'

/** A reason to reject an article; `detail` tells its writer what to change. */
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

/** A word of average length, with the space after it. */
const USUAL_WORD = 'average '

/** How many words an article may have. The minimum yields to the network's limit. */
export const wordRange = ({
  words,
  maxLength,
  measure,
}: Pick<ArticleBrief, 'words' | 'maxLength' | 'measure'>) => ({
  least: Math.min(Math.floor(words * 0.75), Math.floor(maxLength / measure(USUAL_WORD))),
  most: Math.ceil(words * 1.25),
})

const standards = new WeakMap<ArticleBrief, DraftBrief>()

/**
 * An article is checked like a post, but not against earlier posts: it may tell their stories
 * again.
 */
const articleStandards = (brief: ArticleBrief): DraftBrief => {
  const { topic, points, words: _, ...shared } = brief
  const known = standards.get(brief) ?? {
    ...shared,
    count: 1,
    hooks: [],
    focus: [topic, ...points].join('\n'),
    recent: [],
  }
  standards.set(brief, known)
  return known
}

const linesOf = (text: string): string[] => text.split('\n').map(foldText)

/** The first point that is missing as a line of the text, or out of order. */
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

/** Shorter paragraphs may repeat: a refrain is not padding. */
const SHORTEST_REPEAT = 60

const repeatedParagraph = (text: string): string | undefined => {
  const paragraphs = linesOf(text).filter((line) => line.length >= SHORTEST_REPEAT)
  return paragraphs.find((line, index) => paragraphs.indexOf(line) < index)
}

const faultsOfTitle = (title: string): ArticleFault[] => {
  const fault =
    title.length > LONGEST_TITLE
      ? `has ${title.length} characters, at most ${LONGEST_TITLE} fit`
      : titleFault(title)
  return fault === undefined ? [] : [{ kind: 'title', detail: `the title ${fault}` }]
}

/** No network counts a character as less than a quarter, so a longer text need not be measured. */
const LEAST_WEIGHT = 0.25

const faultsOfPost = (body: string, brief: ArticleBrief): ArticleFault[] =>
  body.length * LEAST_WEIGHT > brief.maxLength
    ? [{ kind: 'too_long', detail: `the article has far more than ${brief.maxLength} characters` }]
    : checkDraft({ body, hook: '', stories: [] }, articleStandards(brief), [])

/** Every reason to reject an article, except that it is too short. */
export const checkArticle = (
  { title, text }: Pick<ArticleDraft, 'title' | 'text'>,
  brief: ArticleBrief,
): ArticleFault[] => {
  if (text.trim() === '') return [{ kind: 'empty', detail: 'the article is empty' }]
  const faults: ArticleFault[] = faultsOfTitle(title)
  faults.push(...faultsOfPost(postOf(title, text), brief))
  if (faults.some(({ kind }) => kind === 'too_long')) return faults
  const words = countWords(text)
  const { most } = wordRange(brief)
  if (words > most)
    faults.push({
      kind: 'too_wordy',
      detail: `the article has ${words} words, at most ${most} are wanted`,
    })
  const point = missingPoint(text, brief.points)
  if (point !== undefined)
    faults.push({
      kind: 'outline',
      detail: `the outline's point "${point}" is not a heading, or is out of order`,
    })
  const again = repeatedParagraph(text)
  if (again !== undefined)
    faults.push({
      kind: 'repeated',
      detail: `a paragraph appears twice: "${again.slice(0, SHORTEST_REPEAT)}"`,
    })
  return faults
}

/** Whether an article is too short: only for a writer that could have written more. */
export const tooShort = (text: string, brief: ArticleBrief): ArticleFault[] => {
  const words = countWords(text)
  const { least } = wordRange(brief)
  return words < least
    ? [
        {
          kind: 'too_short',
          detail: `the article has ${words} words, at least ${least} are wanted`,
        },
      ]
    : []
}
