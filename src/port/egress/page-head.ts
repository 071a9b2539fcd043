/** What an HTML page says of itself, in its head. */
import { Tokenizer } from 'htmlparser2'

export interface PageHead {
  title: string
  description: string
}

/** In characters. Between two pieces, the process can do other work. */
const PIECE = 8_192
const LONGEST_HEAD = 262_144
const LONGEST_VALUE = 2_000

/** What pages call them, the name for previews before the usual one. */
const TITLES = ['og:title', 'title']
const DESCRIPTIONS = ['og:description', 'description']
const WANTED = new Set([...TITLES, ...DESCRIPTIONS])

const nothing = (): void => {}

/** Like the reader of whole pages, it keeps no tree, so its time is linear in the length. */
class Head {
  readonly #said = new Map<string, string>()
  #inTitle = false
  /** The element whose tag is open. */
  #name = ''
  #attribute = ''
  #attributes: Record<string, string> = {}
  isOver = false

  constructor(private readonly html: string) {}

  get said(): PageHead {
    const first = (names: string[]) =>
      names.map((name) => this.#said.get(name)?.trim() ?? '').find((text) => text !== '') ?? ''
    return { title: first(TITLES), description: first(DESCRIPTIONS) }
  }

  /** The first of a name counts. */
  #say(name: string, text: string): void {
    if (WANTED.has(name) && !this.#said.has(name)) this.#said.set(name, text)
  }

  #text(text: string): void {
    if (!this.#inTitle || this.isOver) return
    const before = this.#said.get('title') ?? ''
    if (before.length < LONGEST_VALUE)
      this.#said.set('title', before + text.slice(0, LONGEST_VALUE - before.length))
  }

  #value(text: string): void {
    if (this.#name !== 'meta' || !['name', 'property', 'content'].includes(this.#attribute)) return
    const before = this.#attributes[this.#attribute] ?? ''
    if (before.length < LONGEST_VALUE)
      this.#attributes[this.#attribute] = before + text.slice(0, LONGEST_VALUE - before.length)
  }

  #opened(): void {
    if (this.isOver) return
    if (this.#name === 'meta') {
      const { name = '', property = '', content = '' } = this.#attributes
      for (const one of [property, name]) this.#say(one.trim().toLowerCase(), content)
    } else if (this.#name === 'title') this.#inTitle = !this.#said.has('title')
    else if (this.#name === 'body') this.isOver = true
  }

  get callbacks(): ConstructorParameters<typeof Tokenizer>[1] {
    const slice = (start: number, end: number) => this.html.slice(start, end)
    return {
      onattribdata: (start, end) => this.#value(slice(start, end)),
      onattribentity: (codepoint) => this.#value(String.fromCodePoint(codepoint)),
      onattribend: nothing,
      onattribname: (start, end) => {
        this.#attribute = slice(start, Math.min(end, start + 20)).toLowerCase()
      },
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onprocessinginstruction: nothing,
      ontext: (start, end) => this.#text(slice(start, end)),
      ontextentity: (codepoint) => this.#text(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => {
        this.#name = slice(start, Math.min(end, start + 20)).toLowerCase()
        this.#attributes = {}
      },
      onopentagend: () => this.#opened(),
      onselfclosingtag: () => this.#opened(),
      onclosetag: (start, end) => {
        const name = slice(start, Math.min(end, start + 20)).toLowerCase()
        if (name === 'title') this.#inTitle = false
        else if (name === 'head') this.isOver = true
      },
    }
  }
}

/** Both are empty in a page that says nothing. Stops where the head does. */
export const headOfHtml = async (html: string): Promise<PageHead> => {
  const beginning = html.slice(0, LONGEST_HEAD)
  const head = new Head(beginning)
  const tokenizer = new Tokenizer({ decodeEntities: true }, head.callbacks)
  for (let at = 0; at < beginning.length && !head.isOver; at += PIECE) {
    tokenizer.write(beginning.slice(at, at + PIECE))
    await new Promise(setImmediate)
  }
  return head.said
}
