/** How an article becomes one long post: the title as first line, an empty line, the text. */

/** In characters. */
export const LONGEST_TITLE = 200

interface Words {
  /** The text that is posted. */
  body: string
  title: string | null
}

/** The fault of a title, for an error message; undefined if it is valid. */
export const titleFault = (title: string): string | undefined => {
  if (title.trim() === '') return 'is empty'
  return /[\r\n\u2028\u2029]/.test(title.trim()) ? 'must be one line' : undefined
}

export const postOf = (title: string, text: string): string => `${title}\n\n${text}`

const firstLine = (body: string): string =>
  body
    .trimStart()
    .split(/\r\n|[\n\r\u2028\u2029]/, 1)[0]!
    .trim()

/** A first line too long for a title is a paragraph: the article has no title. */
const titleIn = (body: string): string | null => {
  const line = firstLine(body)
  return line.length <= LONGEST_TITLE ? line : null
}

/**
 * The body under a new title, which replaces the old one if that is the first line, and is put
 * above the text otherwise.
 */
const retitle = (body: string, title: string, old: string | null): string => {
  const line = firstLine(body)
  if (line === title) return body
  return line === old
    ? `${title}${body.trimStart().slice(line.length)}`
    : postOf(title, body.trimStart())
}

/**
 * An article after a person changed its text, its title or both. The title always equals the first
 * line.
 */
export const editArticle = (
  before: Words,
  change: { body?: string | undefined; title?: string | undefined },
): Words => {
  const body = change.body ?? before.body
  if (change.title !== undefined)
    return { body: retitle(body, change.title, before.title), title: change.title }
  return change.body === undefined ? before : { body, title: titleIn(body) }
}

/** An outline with more points does not fit one article. */
export const MOST_POINTS = 12

const MARKS = /^\s*(?:#{1,6}\s+|[-*•–—]\s+|\(?\d{1,2}[.):]\s+|[a-z]\)\s+)/i

/**
 * The points of an outline, in order: its lines, without list marks. A single line is split at
 * semicolons.
 */
export const pointsOf = (outline: string): string[] => {
  const lines = outline.split(/[\r\n\u2028\u2029]+/).filter((line) => line.trim() !== '')
  const points = lines.length === 1 ? lines[0]!.split(';') : lines
  return points
    .map((point) => point.replace(MARKS, '').replace(/\s+/g, ' ').trim())
    .filter((point) => point !== '')
}
