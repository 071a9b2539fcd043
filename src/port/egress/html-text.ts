/** The text of an HTML page. */
import { Tokenizer } from 'htmlparser2'

export interface PageText {
  title: string | null
  text: string
  /** Whether the page has more text. */
  isCut: boolean
}

/** Elements whose content nobody reads. */
const HIDDEN = new Set([
  'script',
  'style',
  'template',
  'svg',
  'iframe',
  'noembed',
  'noframes',
  'object',
  'audio',
  'video',
  'canvas',
])
/** Elements that begin a line. */
const LINES = new Set([
  ...[
    'address',
    'article',
    'aside',
    'blockquote',
    'br',
    'dd',
    'div',
    'dl',
    'dt',
    'fieldset',
    'figcaption',
    'figure',
    'footer',
    'form',
  ],
  ...[
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'header',
    'hr',
    'li',
    'main',
    'nav',
    'ol',
    'option',
    'p',
    'pre',
    'section',
    'table',
    'tr',
    'ul',
  ],
])
const CELLS = new Set(['td', 'th'])

/**
 * In characters. A piece takes a millisecond. Between two pieces, the process can do other work.
 */
const PIECE = 8_192
const LONGEST_TITLE = 300

const nothing = (): void => {}

/** Collapses spaces as they arrive, so that a text made only of spaces takes no memory. */
class Words {
  #text = ''
  #gap: '' | ' ' | '\n' = ''
  /** What each line begins with. */
  lead = ''

  constructor(private readonly most: number) {}

  add(text: string): void {
    if (this.isFull) return
    const begins = /^\s/.test(text)
    const words = text.trim().replace(/\s+/g, ' ')
    if (begins) this.#separate(' ')
    if (words === '') return
    this.#text += `${this.#text === '' ? this.lead : this.#led}${words}`
    this.#gap = ''
    if (/\s$/.test(text)) this.#separate(' ')
  }

  get #led(): string {
    return this.#gap === '\n' ? `\n${this.lead}` : this.#gap
  }

  /** Separates what follows from the words before it, by a space or a line end. */
  #separate(gap: ' ' | '\n'): void {
    if (this.#gap !== '\n') this.#gap = gap
  }

  line(): void {
    this.#separate('\n')
  }

  space(): void {
    this.#separate(' ')
  }

  get isFull(): boolean {
    return this.#text.length > this.most
  }

  get text(): string {
    return this.#text
  }
}

/**
 * Parsers for whole documents keep a tree or a list of open elements, and some take quadratic time
 * on a hostile page. The tokenizer keeps nothing, so its time is linear in the length.
 */
class Page {
  readonly words
  readonly title = new Words(LONGEST_TITLE)
  #hidden = 0
  #inTitle = false
  #hasTitle = false
  /** The element whose tag is open. */
  #name = ''

  #quoted = 0

  constructor(
    private readonly html: string,
    most: number,
    private readonly quoteMark: string,
  ) {
    this.words = new Words(most)
  }

  /**
   * Quotations inside quotations also get the mark only once, because a hostile page may open any
   * number of them.
   */
  #quote(change: 1 | -1): void {
    this.#quoted = Math.max(0, this.#quoted + change)
    this.words.lead = this.#quoted > 0 ? this.quoteMark : ''
  }

  #slice(start: number, end: number): string {
    return this.html.slice(start, end)
  }

  #text(text: string): void {
    if (this.#inTitle) this.title.add(text)
    else if (this.#hidden === 0) this.words.add(text)
  }

  #breaks(name: string): void {
    if (LINES.has(name)) this.words.line()
    else if (CELLS.has(name)) this.words.space()
  }

  #opened(): void {
    const name = this.#name
    if (HIDDEN.has(name)) this.#hidden++
    else if (name === 'title' && this.#hidden === 0 && !this.#hasTitle)
      this.#inTitle = this.#hasTitle = true
    else this.#breaks(name)
    if (name === 'blockquote') this.#quote(1)
  }

  #closed(name: string): void {
    if (name === 'blockquote') this.#quote(-1)
    if (HIDDEN.has(name)) this.#hidden = Math.max(0, this.#hidden - 1)
    else if (name === 'title') this.#inTitle = false
    else this.#breaks(name)
  }

  get callbacks(): ConstructorParameters<typeof Tokenizer>[1] {
    const name = (start: number, end: number) => this.#slice(start, end).toLowerCase()
    return {
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onprocessinginstruction: nothing,
      ontext: (start, end) => this.#text(this.#slice(start, end)),
      ontextentity: (codepoint) => this.#text(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => {
        this.#name = name(start, end)
      },
      onopentagend: () => this.#opened(),
      onselfclosingtag: () => this.#breaks(this.#name),
      onclosetag: (start, end) => this.#closed(name(start, end)),
    }
  }
}

/** Stops reading when the text is long enough. Lines of quotations begin with `quoteMark`. */
export const textOfHtml = async (
  html: string,
  most: number,
  { quoteMark = '' } = {},
): Promise<PageText> => {
  const page = new Page(html, most, quoteMark)
  const tokenizer = new Tokenizer({ decodeEntities: true }, page.callbacks)
  for (let at = 0; at < html.length && !page.words.isFull; at += PIECE) {
    tokenizer.write(html.slice(at, at + PIECE))
    await new Promise(setImmediate)
  }
  if (!page.words.isFull) tokenizer.end()
  const { words, title } = page
  return {
    title: title.text === '' ? null : title.text.slice(0, LONGEST_TITLE),
    text: words.text,
    isCut: words.isFull,
  }
}
