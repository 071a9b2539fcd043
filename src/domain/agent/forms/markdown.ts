/** Markdown cut at its blocks, in time proportional to its length, without being parsed. */
import { cutText } from './cut.ts'

const FENCE = /^\s*(`{3,}|~{3,})/
const INDENTED = /^(?: {2,}|\t)\S/

interface Block {
  lines: string[]
  /** The fence that began it; null: other text. */
  fence: string | null
}

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

/** A block of code in several, each with the first line and the fence of the whole. */
const cutCode = ({ lines, fence }: Block, limit: number): string[] => {
  const [first = '', ...rest] = lines
  const isClosed = rest.length > 0 && isEndOf(fence!, rest.at(-1)!)
  const code = (isClosed ? rest.slice(0, -1) : rest).join('\n')
  const room = limit - first.length - fence!.length - 2
  // A fence so long that no code fits beside it is text like any other.
  if (room < limit / 2) return cutText(lines.join('\n'), limit)
  return cutLines(code, room).map((piece) => `${first}\n${piece}\n${fence}`)
}

/** Pieces of whole lines where lines fit; the indentation of a line stays. */
export const cutLines = (text: string, limit: number): string[] => {
  const pieces: string[] = []
  let piece: string | undefined
  for (const line of text.split('\n').flatMap((each) => (each.length > limit ? cutText(each, limit) : [each]))) {
    if (piece !== undefined && piece.length + 1 + line.length <= limit) piece = `${piece}\n${line}`
    else {
      if (piece !== undefined) pieces.push(piece)
      piece = line
    }
  }
  return piece === undefined ? pieces : [...pieces, piece]
}

const GAP = '\n\n'

/** Joins what fits into one. */
export const packed = (pieces: readonly string[], limit: number): string[] => {
  const parts: string[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + GAP.length + piece.length <= limit) parts[parts.length - 1] = last + GAP + piece
    else parts.push(piece)
  }
  return parts
}

/** Parts of at most `limit`, each Markdown by itself: cut between blocks, else within them. None if there is no text. */
export const markdownParts = (markdown: string, limit: number): string[] => {
  const blocks = blocksOf(markdown.toWellFormed().replaceAll(/\r\n?/g, '\n'))
  const pieces = blocks.flatMap((block) => {
    const text = block.lines.join('\n')
    if (text.length <= limit) return [text]
    return block.fence === null ? cutText(text, limit) : cutCode(block, limit)
  })
  return packed(pieces, limit)
}
