/**
 * The sections of a document: the text under each heading. Markdown headings are found line by
 * line, by the rules of CommonMark: marked with `#`, or underlined; not inside code, comments,
 * scripts, quotations or lists. No full Markdown parser is used, because such parsers process the
 * whole text at once: micromark took a second for 300 nested lists in 90 KB.
 */

/** A section, from its heading to the next one. Offsets are in UTF-16 code units. */
export interface Section {
  /** The headings above it, the outermost first. */
  path: string[]
  start: number
  end: number
  /** Where the text under the heading begins. */
  body: number
}

/** However long a line is, no heading or fence needs more of it. */
const LOOKED_AT = 1_000
/** A longer heading is shown shortened. */
const LONGEST_HEADING = 160

interface Line {
  start: number
  /** The end of the line, before its line break. */
  end: number
  next: number
  /** The beginning of the line, for the rules. */
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
/** What no paragraph begins with: quotations, lists, code, table rules and horizontal rules. */
const NO_PARAGRAPH =
  /^(?: {4}|\t| {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|(?:[-_*][ \t]*){3,}$))/

/** HTML blocks that hide what looks like Markdown: how they begin and end. */
const HIDDEN: readonly [begin: RegExp, end: RegExp][] = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
]

const plainHeading = (text: string): string => {
  const plain = text
    // Matched only from the first space of a run: starting at every space would take quadratic
    // time.
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

/** Reads Markdown line by line and reports where headings are. */
class HeadingReader {
  #fence: { mark: string; length: number } | undefined
  #hidden: RegExp | undefined
  /** The paragraph that an underline could turn into a heading. */
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

  /** Whether the line is inside code or hidden HTML, or begins or ends it. */
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

/** The path of headings after meeting this heading. */
const pathUnder = (path: readonly Heading[], heading: Heading): Heading[] => [
  ...path.filter(({ level }) => level < heading.level),
  heading,
]

const titles = (path: readonly Heading[]): string[] =>
  path.flatMap(({ text }) => (text === '' ? [] : text))

/**
 * The sections in order; together they are the whole text. Yields `undefined` when a part was read
 * and no section is complete yet.
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
        path = pathUnder(path, heading)
        current = { start: heading.start, body: heading.body }
      } else yield undefined
    }
  }
  if (current.start < content.length) yield { ...current, path: titles(path), end: content.length }
}
