/** How an article stands in its one long post: the title as the first line, an empty line, the text. */

/** The longest title, in characters. */
export const LONGEST_TITLE = 200

interface Words {
  /** What goes out. */
  body: string
  title: string | null
}

/** What is wrong with a title that a person gives, or undefined. */
export const titleFault = (title: string): string | undefined => {
  if (title.trim() === '') return 'is empty'
  return /[\r\n\u2028\u2029]/.test(title.trim()) ? 'must be one line' : undefined
}

/** The post that an article goes out as. */
export const postOf = (title: string, text: string): string => `${title}\n\n${text}`

const firstLine = (body: string): string =>
  body
    .trimStart()
    .split(/\r\n|[\n\r\u2028\u2029]/, 1)[0]!
    .trim()

/** A first line too long for a title is a paragraph: the article goes out without a title. */
const titleIn = (body: string): string | null => {
  const line = firstLine(body)
  return line.length <= LONGEST_TITLE ? line : null
}

/** The body under a new title: in the place of the old one where that stands first, else above it. */
const retitled = (body: string, title: string, old: string | null): string => {
  const line = firstLine(body)
  if (line === title) return body
  return line === old ? `${title}${body.trimStart().slice(line.length)}` : postOf(title, body.trimStart())
}

/** What an article is once a person has changed its text, its title or both: the title always is what the first line says. */
export const edited = (before: Words, change: { body?: string | undefined; title?: string | undefined }): Words => {
  const body = change.body ?? before.body
  if (change.title !== undefined) return { body: retitled(body, change.title, before.title), title: change.title }
  return change.body === undefined ? before : { body, title: titleIn(body) }
}

/** More points than this are no outline of one article. */
export const MOST_POINTS = 12

const MARKS = /^\s*(?:#{1,6}\s+|[-*•–—]\s+|\(?\d{1,2}[.):]\s+|[a-z]\)\s+)/i

/** The points of an outline in their order: its lines, without the marks of a list. In one line they are parted by semicolons. */
export const pointsOf = (outline: string): string[] => {
  const lines = outline.split(/[\r\n\u2028\u2029]+/).filter((line) => line.trim() !== '')
  const points = lines.length === 1 ? lines[0]!.split(';') : lines
  return points.map((point) => point.replace(MARKS, '').replace(/\s+/g, ' ').trim()).filter((point) => point !== '')
}
