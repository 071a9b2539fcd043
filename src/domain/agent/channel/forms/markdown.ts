/** Cuts Markdown into messages that are Markdown too. */
import { cutText } from './cut.ts'
import { tokensOf, wellFormed } from './tree.ts'

interface Block {
  text: string
  /** For a block of code: its first line, its fence and its text. */
  code?: { first: string; fence: string; text: string }
}

/** The text between the fences. Without a closing fence it extends to the end of the text. */
const codeOf = (lines: readonly string[], fence: string): Block['code'] => {
  const [first = '', ...rest] = lines
  const isClosed =
    rest.at(-1)?.trim().startsWith(fence) === true &&
    rest.at(-1)!.trim().replaceAll(fence.charAt(0), '') === ''
  return { first, fence, text: (isClosed ? rest.slice(0, -1) : rest).join('\n') }
}

const blankless = (lines: readonly string[]): string =>
  lines.join('\n').replace(/^\n+/, '').trimEnd()

/**
 * The outermost blocks, each with the lines up to the next one. Blocks that are nested too deeply
 * count as one block.
 */
const blocksOf = (markdown: string): Block[] => {
  const lines = markdown.split('\n')
  const outer = (tokensOf(markdown) ?? []).filter(
    ({ level, map, nesting }) => level === 0 && map && nesting >= 0,
  )
  const starts = outer.map(({ map }, index) => (index === 0 ? 0 : map![0]))
  if (outer.length === 0) return [{ text: blankless(lines) }]
  return outer.map(({ type, markup }, index) => {
    const own = lines.slice(starts[index], starts[index + 1])
    const text = blankless(own)
    return type === 'fence' ? { text, code: codeOf(text.split('\n'), markup)! } : { text }
  })
}

/** Cuts a block of code into several, each with the first line and the fence of the whole. */
const cutCode = (
  text: string,
  { first, fence, text: code }: NonNullable<Block['code']>,
  limit: number,
): string[] => {
  const room = limit - first.length - fence.length - 2
  // If the fence is so long that no code fits beside it, the block is cut like any other text.
  if (room < limit / 2) return cutText(text, limit)
  return cutLines(code, room).map((piece) => `${first}\n${piece}\n${fence}`)
}

/** Cuts between lines where the lines fit. Lines keep their indentation. */
const cutLines = (text: string, limit: number): string[] => {
  const lines = text
    .split('\n')
    .flatMap((line) => (line.length > limit ? cutText(line, limit) : [line]))
  return pack(lines, '\n', limit)
}

/** Joins neighbouring pieces as long as they fit together. */
const pack = (pieces: readonly string[], gap: string, limit: number): string[] => {
  const parts: string[][] = []
  let length = 0
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last && length + gap.length + piece.length <= limit) {
      last.push(piece)
      length += gap.length + piece.length
    } else {
      parts.push([piece])
      length = piece.length
    }
  }
  return parts.map((part) => part.join(gap))
}

/**
 * Parts of at most `limit`, each valid Markdown by itself. They are cut between blocks, or within a
 * block if need be. None if the text is blank.
 */
export const markdownParts = (markdown: string, limit: number): string[] => {
  const text = blankless(wellFormed(markdown).split('\n'))
  if (text.trim() === '') return []
  if (text.length <= limit) return [text]
  const pieces = blocksOf(text).flatMap((block) => {
    if (block.text.length <= limit) return block.text.trim() === '' ? [] : [block.text]
    return block.code ? cutCode(block.text, block.code, limit) : cutText(block.text, limit)
  })
  return pack(pieces, '\n\n', limit)
}
