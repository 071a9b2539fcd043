/**
 * Parses Markdown into a tree of blocks. The parser's time depends only on the length of a text,
 * not on its content (`npm run fuzz` measures it).
 */
import markdownIt, { type Token } from 'markdown-it'
import { BOXES, decodeEntity, type Run, runsOf, textRun } from './runs.ts'

export type Node =
  /** `isTight`: the words belong to an item of a list without blank lines. */
  | { kind: 'paragraph'; runs: Run[]; isTight: boolean }
  | { kind: 'heading'; runs: Run[] }
  | { kind: 'rule' }
  /** `info`: the text after the opening fence, usually the name of a language. */
  | { kind: 'code'; text: string; info: string }
  | { kind: 'html'; text: string }
  | { kind: 'quote'; nodes: Node[] }
  /** `start`: the number of the first item; null for a list without numbers. */
  | { kind: 'list'; start: number | null; items: Node[][] }
  /**
   * `raw`: the source, to be shown as it is because the parser has dropped cells that have no
   * heading.
   */
  | { kind: 'table'; header: Run[][]; rows: Run[][][]; raw: string | null }

/**
 * Nesting deeper than anybody reads, in the parser's levels. The parser itself drops text at 100.
 */
const DEEPEST = 40

const parser = markdownIt({ html: true, linkify: true })
  // Link definitions stay text: references to them may be in another part.
  .disable(['reference'])
// `linkTo` judges addresses; they are shown as they were written.
parser.validateLink = () => true
parser.normalizeLink = (address) => address
parser.normalizeLinkText = (address) => address
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false }).add('//', null).add('ftp:', null)
parser.inline.ruler.at('entity', decodeEntity)

const LANGUAGE = /^[\w+#.-]{0,20}$/

/** Whether the text after the fence is just the name of a language, which readers do not need. */
export const isLanguage = (info: string): boolean => LANGUAGE.test(info)

const LINE_ENDS = /\r\n?/g

/** The text as the parser reads it; code that cuts by the parser's lines must use it too. */
export const wellFormed = (markdown: string): string =>
  markdown.toWellFormed().replaceAll(LINE_ENDS, '\n').replaceAll('\0', '')

/** Undefined if blocks are nested too deeply. */
export const tokensOf = (markdown: string): Token[] | undefined => {
  const tokens = parser.parse(markdown, {})
  return tokens.some(({ level }) => level >= DEEPEST) ? undefined : tokens
}

/** Markup that readers of a table do not see: its frame, and the marks of the blocks around it. */
const FRAME = /[\s|:>-]/g

const lengthOf = (text: string): number => text.replaceAll(FRAME, '').length

/**
 * Reads the tokens in order: the token that opens a block comes before its content, the token that
 * closes it comes after.
 */
class Reader {
  #at = 0

  constructor(
    private readonly tokens: readonly Token[],
    private readonly lines: readonly string[],
  ) {}

  /** Reads up to the token that closes the surrounding block, and consumes it. */
  nodes(): Node[] {
    const nodes: Node[] = []
    while (this.#at < this.tokens.length) {
      const token = this.tokens[this.#at++]!
      if (token.nesting < 0) break
      nodes.push(this.#node(token))
    }
    return nodes
  }

  #node(token: Token): Node {
    switch (token.type) {
      case 'heading_open':
        return { kind: 'heading', runs: this.#words() }
      case 'hr':
        return { kind: 'rule' }
      case 'fence':
      case 'code_block':
        return { kind: 'code', text: token.content.replace(/\n$/, ''), info: token.info.trim() }
      case 'html_block':
        return { kind: 'html', text: token.content }
      case 'blockquote_open':
        return { kind: 'quote', nodes: this.nodes() }
      case 'bullet_list_open':
        return { kind: 'list', start: null, items: this.#items() }
      case 'ordered_list_open':
        return { kind: 'list', start: Number(token.attrGet('start') ?? 1), items: this.#items() }
      case 'table_open':
        return this.#table(token.map)
      default:
        return { kind: 'paragraph', runs: this.#words(), isTight: token.hidden }
    }
  }

  /** Reads a block that holds only words. */
  #words(): Run[] {
    const words = this.tokens[this.#at]!
    this.#at += 2
    return runsOf(words.children ?? [])
  }

  #items(): Node[][] {
    const items: Node[][] = []
    while (this.tokens[this.#at++]!.nesting > 0) items.push(withBox(this.nodes()))
    return items
  }

  #table(map: Token['map']): Node {
    const rows: Run[][][] = []
    let kept = 0
    for (
      let token = this.tokens[this.#at++]!;
      token.type !== 'table_close';
      token = this.tokens[this.#at++]!
    ) {
      if (token.type === 'tr_open') rows.push([])
      if (token.type !== 'inline') continue
      kept += lengthOf(token.content)
      rows.at(-1)!.push(runsOf(token.children ?? []))
    }
    const raw = this.lines.slice(...(map ?? [0, 0])).join('\n')
    const [header = [], ...others] = rows
    return { kind: 'table', header, rows: others, raw: kept < lengthOf(raw) ? raw : null }
  }
}

const TASK = /^\[([ xX])\]\s/

/** A list item that begins with the mark of a task. */
const withBox = (nodes: Node[]): Node[] => {
  const [first, ...rest] = nodes
  const [run, ...runs] = first?.kind === 'paragraph' ? first.runs : []
  const box = run && TASK.exec(run.text)
  if (!box || first?.kind !== 'paragraph') return nodes
  const sign = box[1] === ' ' ? BOXES.open : BOXES.done
  return [
    { ...first, runs: [{ ...run, text: `${sign} ${run.text.slice(box[0].length)}` }, ...runs] },
    ...rest,
  ]
}

/** The text as it is, one paragraph after the other. */
const asText = (markdown: string): Node[] =>
  markdown
    .split(/\n{2,}/)
    .map((text): Node => ({ kind: 'paragraph', runs: [textRun(text)], isTight: false }))

export const treeOf = (markdown: string): Node[] => {
  const text = wellFormed(markdown)
  const tokens = tokensOf(text)
  return tokens ? new Reader(tokens, text.split('\n')).nodes() : asText(text)
}
