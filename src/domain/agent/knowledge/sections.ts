/**
 * The sections of a document: what stands under each heading. Markdown's headings are found by the
 * rules of CommonMark, by lines: written with `#`, or underlined; not within code, comments or
 * scripts, nor within quotations and lists. No parser of all Markdown is asked: they work on the
 * whole text at once, and micromark took a second for 300 nested lists in 90 KB.
 */

/**
 * A section, from its heading to the next one. Offsets are in UTF-16 code units, as those of
 * JavaScript's strings.
 */
export interface Section {
  /** The headings over it, the outermost first. */
  path: string[]
  start: number
  end: number
  /** Where the text under the heading begins. */
  body: number
}

/** No heading or fence needs more of a line, however long it is. */
const LOOKED_AT = 1_000
/** A longer heading is shown cut. */
const LONGEST_HEADING = 160

interface Line {
  start: number
  /** Before the line break. */
  end: number
  next: number
  /** Its beginning, for the rules. */
  text: string
}

const BYTE_ORDER_MARK = '\uFEFF'

function* linesOf(content: string): Generator<Line> {
  for (let start = content.startsWith(BYTE_ORDER_MARK) ? 1 : 0; start < content.length; ) {
    const feed = content.indexOf('\n', start)
    const next = feed < 0 ? content.length : feed + 1
    const bare = feed < 0 ? content.length : feed
    const end = content[bare - 1] === '\r' && bare > start ? bare - 1 : bare
    yield { start, end, next, text: content.slice(start, Math.min(end, start + LOOKED_AT)) }
    start = next
  }
}

const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s
const UNDERLINE = /^ {0,3}(?:(=+)|(-+))[ \t]*$/
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/s
/** What no paragraph begins with: quotations, lists, code, tables' rules, and lines across. */
const NO_PARAGRAPH =
  /^(?: {4}|\t| {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|(?:[-_*][ \t]*){3,}$))/

/** Of blocks of HTML that hide what looks like Markdown, the end. */
const HIDDEN: readonly [begin: RegExp, end: RegExp][] = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
]

const plainHeading = (text: string): string => {
  const plain = text
    // Looked for at the beginning of spaces alone: from each of many it would take their number
    // squared.
    .replace(/(?<![ \t])[ \t]+#+[ \t]*$/, '')
    .replace(/^#+[ \t]*$/, '')
    .replace(/[*_`~]+/g, '')
    .replace(/\s+/gu, ' ')
    .trim()
  return plain.length > LONGEST_HEADING
    ? `${plain
        .slice(0, LONGEST_HEADING)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
    : plain
}

interface Heading {
  level: number
  text: string
  start: number
  body: number
}

/** Reads Markdown line by line, and says where headings are. */
class HeadingReader {
  #fence: { mark: string; length: number } | undefined
  #hidden: RegExp | undefined
  /** Of the paragraph that could become a heading by an underline. */
  #paragraph: { start: number; text: string } | undefined

  read(line: Line, content: string): Heading | undefined {
    if (this.#isCovered(line, content)) return undefined
    const atx = ATX.exec(line.text)
    if (atx)
      return this.#found({
        level: atx[1]!.length,
        text: plainHeading(atx[2] ?? ''),
        start: line.start,
        body: line.next,
      })
    const underline = this.#paragraph && UNDERLINE.exec(line.text)
    if (underline) {
      const { start, text } = this.#paragraph!
      return this.#found({
        level: underline[1] ? 1 : 2,
        text: plainHeading(text),
        start,
        body: line.next,
      })
    }
    this.#note(line)
    return undefined
  }

  #found(heading: Heading): Heading {
    this.#paragraph = undefined
    return heading
  }

  /** Whether it stands within code or hidden HTML, or begins or ends some. */
  #isCovered({ text, start, end }: Line, content: string): boolean {
    if (this.#fence) {
      const { mark, length } = this.#fence
      const close = FENCE.exec(text)
      if (
        close &&
        close[1]!.startsWith(mark) &&
        close[1]!.length >= length &&
        close[2]!.trim() === ''
      )
        this.#fence = undefined
      return true
    }
    if (this.#hidden) {
      if (this.#hidden.test(content.slice(start, end))) this.#hidden = undefined
      return true
    }
    const open = FENCE.exec(text)
    if (open && !(open[1]!.startsWith('`') && open[2]!.includes('`'))) {
      this.#fence = { mark: open[1]![0]!, length: open[1]!.length }
      this.#paragraph = undefined
      return true
    }
    const hidden = HIDDEN.find(([begin]) => begin.test(text))
    if (!hidden) return false
    if (!hidden[1].test(content.slice(start, end))) this.#hidden = hidden[1]
    this.#paragraph = undefined
    return true
  }

  #note({ text, start }: Line): void {
    if (text.trim() === '') this.#paragraph = undefined
    else if (this.#paragraph)
      this.#paragraph = {
        ...this.#paragraph,
        text: `${this.#paragraph.text} ${text}`.slice(0, LOOKED_AT),
      }
    else if (!NO_PARAGRAPH.test(text)) this.#paragraph = { start, text }
    if (/^ {0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])/.test(text)) this.#paragraph = undefined
  }
}

/** The headings over a place, as they are met. */
const under = (path: readonly Heading[], heading: Heading): Heading[] => [
  ...path.filter(({ level }) => level < heading.level),
  heading,
]

const titles = (path: readonly Heading[]): string[] =>
  path.flatMap(({ text }) => (text === '' ? [] : text))

/**
 * Sections in their order; together they are the whole text. `undefined`: a part was read, and
 * nothing was found yet.
 */
export function* sectionsOf(content: string, isMarkdown: boolean): Generator<Section | undefined> {
  let path: Heading[] = []
  let current = { start: 0, body: 0 }
  if (isMarkdown) {
    const reader = new HeadingReader()
    for (const line of linesOf(content)) {
      const heading = reader.read(line, content)
      if (heading && heading.start > current.start)
        yield { ...current, path: titles(path), end: heading.start }
      if (heading) {
        path = under(path, heading)
        current = { start: heading.start, body: heading.body }
      } else yield undefined
    }
  }
  if (current.start < content.length) yield { ...current, path: titles(path), end: content.length }
}
