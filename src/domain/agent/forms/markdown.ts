/** Markdown cut at its blocks, in time proportional to its length, without being parsed. */
import { cutText } from './cut.ts'

const FENCE = /^\s*(`{3,}|~{3,})/
const INDENTED = /^(?: {2,}|\t)\S/

interface Block {
  lines: string[]
  /** The fence that began it; null: other text. */
  fence: string | null
}

/** `goesOn`: the block that the piece before it began. */
export type Piece = { kind: 'text'; text: string; goesOn: boolean } | { kind: 'code'; info: string; text: string }

/** The fence that begins a block of code, which goes on over blank lines until the fence comes again. */
const fenceOf = (line: string): string | undefined => {
  const [all = '', fence] = FENCE.exec(line) ?? []
  return fence?.startsWith('`') && line.includes('`', all.length) ? undefined : fence
}

const isEndOf = (fence: string, line: string): boolean => {
  const text = line.trim()
  return text.length >= fence.length && text === fence.charAt(0).repeat(text.length)
}

/** Paragraphs, lists, tables and blocks of code: what a blank line ends, unless an indented line follows, or a fence is open. */
const blocksOf = (markdown: string): Block[] => {
  const blocks: Block[] = []
  let open: Block | undefined
  let blank = 0
  for (const line of markdown.split('\n')) {
    const isCode = open?.fence != null
    if (!isCode && line.trim() === '') {
      blank++
      continue
    }
    const fence = isCode ? undefined : fenceOf(line)
    if (!open || (!isCode && (fence !== undefined || (blank > 0 && !INDENTED.test(line))))) {
      open = { lines: [], fence: fence ?? null }
      blocks.push(open)
    } else if (blank > 0) open.lines.push('')
    blank = 0
    open.lines.push(line)
    if (isCode && isEndOf(open.fence!, line)) open = undefined
  }
  return blocks
}

/** What stands between the fences. Without an end it goes on to the end of the text. */
const codeOf = ({ lines, fence }: Block): { first: string; code: string } => {
  const [first = '', ...rest] = lines
  const isClosed = rest.length > 0 && isEndOf(fence!, rest.at(-1)!)
  return { first, code: (isClosed ? rest.slice(0, -1) : rest).join('\n') }
}

/** A block of code in several, each with the first line and the fence of the whole. */
const cutCode = (block: Block, limit: number): string[] => {
  const { lines, fence } = block
  const { first, code } = codeOf(block)
  const room = limit - first.length - fence!.length - 2
  // A fence so long that no code fits beside it is text like any other.
  if (room < limit / 2) return cutText(lines.join('\n'), limit)
  return cutLines(code, room).map((piece) => `${first}\n${piece}\n${fence}`)
}

/** Pieces of whole lines where lines fit; the indentation of a line stays. */
const cutLines = (text: string, limit: number): string[] => cutLinesOf(text.split('\n'), limit)

const cutLinesOf = (lines: readonly string[], limit: number): string[] => {
  const pieces: string[] = []
  let piece: string | undefined
  for (const line of lines.flatMap((each) => (each.length > limit ? cutText(each, limit) : [each]))) {
    if (piece !== undefined && piece.length + 1 + line.length <= limit) piece = `${piece}\n${line}`
    else {
      if (piece !== undefined) pieces.push(piece)
      piece = line
    }
  }
  return piece === undefined ? pieces : [...pieces, piece]
}

const RULE_OF_TABLE = /^[ \t|:-]+$/
const INDENTATION = /^[ \t]/

/** Pieces of whole lines that can stand alone: a table keeps its headings, and a list is cut between its outer points. */
const cutBlock = (lines: readonly string[], limit: number): string[] => {
  const whole = lines.join('\n')
  if (whole.length <= limit) return [whole]
  const head = lines[0]!.includes('|') && RULE_OF_TABLE.test(lines[1] ?? '') && lines[1]!.includes('-') ? lines.slice(0, 2).join('\n') : ''
  if (head.length > limit / 4) return cutLines(whole, limit)
  const groups: string[] = []
  for (const line of head === '' ? lines : lines.slice(2)) {
    const last = groups.at(-1)
    if (last !== undefined && INDENTATION.test(line) && last.length + line.length < limit) groups[groups.length - 1] = `${last}\n${line}`
    else groups.push(line)
  }
  if (head === '') return cutLinesOf(groups, limit)
  return cutLinesOf(groups, limit - head.length - 1).map((rows) => `${head}\n${rows}`)
}

const GAP = '\n\n'

/** Joins what fits into one. */
const packed = (pieces: readonly string[], limit: number): string[] => {
  const parts: string[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + GAP.length + piece.length <= limit) parts[parts.length - 1] = last + GAP + piece
    else parts.push(piece)
  }
  return parts
}

const wellFormed = (markdown: string): string => markdown.toWellFormed().replaceAll(/\r\n?/g, '\n').replaceAll('\0', '')

/** Blocks of code as they are, and what stands between them in pieces of at most `limit`. */
export const markdownPieces = (markdown: string, limit: number): Piece[] => {
  const pieces: Piece[] = []
  for (const block of blocksOf(wellFormed(markdown))) {
    if (block.fence !== null) {
      const { first, code } = codeOf(block)
      pieces.push({ kind: 'code', info: first.trim().slice(block.fence.length).trim(), text: code })
      continue
    }
    for (const [index, text] of cutBlock(block.lines, limit).entries()) {
      const last = pieces.at(-1)
      if (index === 0 && last?.kind === 'text' && last.text.length + GAP.length + text.length <= limit) last.text += GAP + text
      else pieces.push({ kind: 'text', text, goesOn: index > 0 })
    }
  }
  return pieces
}

/** Parts of at most `limit`, each Markdown by itself: cut between blocks, else within them. None if there is no text. */
export const markdownParts = (markdown: string, limit: number): string[] => {
  const blocks = blocksOf(wellFormed(markdown))
  const pieces = blocks.flatMap((block) => {
    const text = block.lines.join('\n')
    if (text.length <= limit) return [text]
    return block.fence === null ? cutText(text, limit) : cutCode(block, limit)
  })
  return packed(pieces, limit)
}
