/** Lays blocks out in the form of a channel, in as few messages as can hold them. */
import { type Block, BULLET, blocksOf, type Line } from './blocks.ts'
import { cutPoint } from './cut.ts'
import { type Mark, mergeRuns, plainOf, type Run, splitRows } from './runs.ts'
import type { Node } from './tree.ts'

/**
 * How much of a message a text takes: UTF-16 code units, and septets of GSM 7-bit (Infinity if that
 * alphabet cannot write it).
 */
interface Size {
  units: number
  septets: number
}

/** How a channel writes what Markdown expresses. */
export interface LayoutStyle {
  fits(size: Size): boolean
  sizeOf(text: string): Size
  /** Escapes text that is not markup. */
  escaped(text: string): string
  /** `text` has no white space at its ends. */
  marked(text: string, marks: readonly Mark[]): string
  linked(text: string, link: string, marks: readonly Mark[]): string
  /** A longer address is written as plain text, which may be cut. */
  longestLink: number
  /** Lets markup begin or end inside a word. */
  joiner: string
  bullet(depth: number): string
  quote: string
  rule: string
  code(text: string): string
}

/** A piece of a message, and what separates it from the piece before. */
interface Placed {
  text: string
  gap: '\n' | '\n\n'
}

/** Stands for a text without visible characters. */
export const NOTHING = '…'
const DEEPEST = 6
const INDENT = '  '
/** Tested against the last two code units of a text. */
const WORD_END = /[\p{L}\p{N}]$/u
const WORD_START = /^[\p{L}\p{N}]/u

const writeRun = ({ text, marks, link }: Run, style: LayoutStyle): string =>
  link === null ? style.marked(text, marks) : style.linked(text, link, marks)

const renderRuns = (runs: readonly Run[], style: LayoutStyle): string => {
  let out = ''
  // Only the end of it: reading `out` itself while it grows would copy it each time.
  let end = ''
  let isMarkup = false
  for (const run of mergeRuns(runs)) {
    const core = run.text.trim()
    if (core === '') {
      out += run.text
      end = run.text.slice(-2)
      isMarkup = false
      continue
    }
    const at = run.text.indexOf(core)
    const piece = writeRun({ ...run, text: core }, style)
    const isOther = piece !== style.escaped(core)
    const touches = at === 0 && WORD_END.test(end) && isOther
    const touched = at === 0 && isMarkup && WORD_START.test(core)
    const added =
      run.text.slice(0, at) +
      (touches || touched ? style.joiner : '') +
      piece +
      run.text.slice(at + core.length)
    out += added
    end = added.slice(-2)
    isMarkup = isOther && at + core.length === run.text.length
  }
  return out
}

/** How many messages hold something of this size if it can be cut anywhere. */
const messagesOf = ({ units, septets }: Size, style: LayoutStyle): number => {
  let count = 1
  while (count < units && !style.fits({ units: units / count, septets: septets / count })) count++
  return count
}

/**
 * Divides a text into stretches `[from, to)` of about equal length: as few as should fit, judging
 * by the size of the whole, but more than one.
 */
const stretches = (text: string, size: Size, style: LayoutStyle): [number, number][] => {
  const found: [number, number][] = []
  let from = 0
  while (from < text.length) {
    const rest = text.slice(from)
    const share = rest.length / text.length
    const count = messagesOf({ units: size.units * share, septets: size.septets * share }, style)
    const most = Math.ceil(rest.length / (from === 0 ? Math.max(count, 2) : count))
    const to = from + (most < rest.length ? cutPoint(rest, most) : rest.length)
    found.push([from, to])
    from = to
  }
  return found
}

const runsWithin = (runs: readonly Run[], from: number, to: number): Run[] => {
  const within: Run[] = []
  let at = 0
  for (const run of runs) {
    if (at >= to) break
    const text = run.text.slice(Math.max(from - at, 0), to - at)
    if (text !== '') within.push({ ...run, text })
    at += run.text.length
  }
  return within
}

/** `first` begins the first piece, `rest` the others. */
const piecesOf = (
  runs: Run[],
  [first, rest]: readonly [string, string],
  style: LayoutStyle,
): string[] => {
  const text = (first + renderRuns(runs, style)).trimEnd()
  const size = style.sizeOf(text)
  if (style.fits(size)) return [text]
  const parts = stretches(plainOf(runs), size, style)
  if (parts.length < 2) return [text]
  return parts.flatMap(([from, to], n) =>
    piecesOf(runsWithin(runs, from, to), [n === 0 ? first : rest, rest], style),
  )
}

const beginningOf = (
  { isQuoted, depth, marker }: Line,
  style: LayoutStyle,
): readonly [string, string] => {
  const indent = (isQuoted ? style.quote : '') + INDENT.repeat(Math.min(depth, DEEPEST))
  if (marker === null) return [indent, indent]
  const sign = marker === BULLET ? style.bullet(depth) : marker
  return [`${indent}${style.escaped(sign)} `, indent + ' '.repeat(sign.length + 1)]
}

/** An address that is too long to stay in one piece follows its words as text. */
const withoutLongLinks = (runs: readonly Run[], { longestLink }: LayoutStyle): Run[] =>
  runs.flatMap((run) => {
    if (run.link === null || run.link.length <= longestLink) return [run]
    const text = run.text.trim() === run.link ? run.text : `${run.text} (${run.link})`
    return [{ ...run, text, link: null }]
  })

const lineOf = (line: Line, style: LayoutStyle): Placed[] => {
  const [first, rest] = beginningOf(line, style)
  const rows = splitRows(withoutLongLinks(mergeRuns(line.runs), style)).filter(
    (row) => plainOf(row).trim() !== '',
  )
  if (rows.length === 0) return line.marker === null ? [] : [{ text: first.trimEnd(), gap: '\n' }]
  return rows
    .flatMap((row, index) => piecesOf(row, [index === 0 ? first : rest, rest], style))
    .map((text): Placed => ({ text, gap: '\n' }))
}

/** Removes the empty lines at both ends. The first line keeps its indentation. */
const trimmedLines = (text: string): string => {
  const end = text.trimEnd()
  const first = end.length - end.trimStart().length
  return end.slice(end.lastIndexOf('\n', first) + 1)
}

const codePieces = (text: string, style: LayoutStyle): string[] => {
  const whole = style.code(text)
  const size = style.sizeOf(whole)
  const parts = style.fits(size) ? [] : stretches(text, size, style)
  if (parts.length < 2) return [whole]
  return parts.flatMap(([from, to]) => codePieces(trimmedLines(text.slice(from, to)), style))
}

const placeBlock = (block: Block, style: LayoutStyle): Placed[] => {
  const pieces = piecesOfBlock(block, style)
  return pieces.map((piece, index) => (index === 0 ? { ...piece, gap: '\n\n' } : piece))
}

const piecesOfBlock = (block: Block, style: LayoutStyle): Placed[] => {
  if (block.kind === 'text') return block.lines.flatMap((line) => lineOf(line, style))
  if (block.kind === 'rule') return [{ text: style.rule, gap: '\n\n' }]
  const code = trimmedLines(block.text)
  return code === '' ? [] : codePieces(code, style).map((text) => ({ text, gap: '\n\n' }))
}

const sum = (one: Size, other: Size): Size => ({
  units: one.units + other.units,
  septets: one.septets + other.septets,
})

/** The messages: at least one, and none longer than the channel allows. */
export const laidOut = (nodes: readonly Node[], style: LayoutStyle): string[] => {
  const parts: { texts: string[]; size: Size }[] = []
  for (const { text, gap } of blocksOf(nodes).flatMap((block) => placeBlock(block, style))) {
    const last = parts.at(-1)
    const size = style.sizeOf(text)
    const together = last && sum(last.size, sum(style.sizeOf(gap), size))
    if (last && together && style.fits(together)) {
      last.texts.push(gap, text)
      last.size = together
    } else parts.push({ texts: [text], size })
  }
  return parts.length === 0 ? [style.escaped(NOTHING)] : parts.map(({ texts }) => texts.join(''))
}
