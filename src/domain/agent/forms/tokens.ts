/** Markdown as the parser understands it. The parser is slow for what nobody writes in good faith, so it never gets much at once. */
import { Lexer, type Token, Tokenizer } from 'marked'
import { markdownPieces } from './markdown.ts'

/** The most that is parsed at once: the worst known text of this length takes about 20 ms. */
const MOST_AT_ONCE = 4_000
/** A line that opens lists or quotations within each other, deeper than anybody reads. */
const DEEP = /^[ \t]*(?:>[ \t]{0,4}|(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}){9}/m

/** Definitions of links stay text: whatever refers to them may be in another part. */
class WithoutDefinitions extends Tokenizer {
  override def(): undefined {
    return undefined
  }
}

const asText = (text: string): Token[] => [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }]

const parsed = (text: string): Token[] => {
  if (DEEP.test(text)) return asText(text)
  try {
    return new Lexer({ gfm: true, tokenizer: new WithoutDefinitions() }).lex(text)
  } catch {
    // The parser gives up on some texts by throwing.
    return asText(text)
  }
}

/** Stands where a block was too long to be parsed at once, and goes on. */
export const SEAM = 'seam'

export const tokensOf = (markdown: string): Token[] =>
  markdownPieces(markdown, MOST_AT_ONCE).flatMap((piece) => {
    if (piece.kind === 'code') return [{ type: 'code', raw: piece.text, text: piece.text, lang: piece.info }]
    return piece.goesOn ? [{ type: SEAM, raw: '' }, ...parsed(piece.text)] : parsed(piece.text)
  })
