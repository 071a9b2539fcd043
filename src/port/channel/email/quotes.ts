/**
 * Cuts the quotations and signatures from a mail with `email-reply-parser`. On a hostile text, its
 * regular expressions take quadratic time or worse. So it never sees the mail itself, only a sketch
 * of it, in which each line that cannot matter is replaced by a number.
 */
import EmailReplyParser from 'email-reply-parser'

const quoteLimits = {
  characters: 100_000,
  lines: 1_000,
  /** The longest line that the parser sees unchanged. */
  lineLength: 300,
  /** How many lines the parser sees unchanged. More than any honest mail needs. */
  headers: 12,
  signatures: 40,
} as const

/**
 * Words in lines such as "On Monday, Ada <ada@example.com> wrote:", in the languages that the
 * parser knows.
 */
const QUOTING =
  /wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|pisze|napisał|skrev|kirjoitti|г\. в|写道|작성:|のメッセージ|original message|oprindelig besked|message d'origine|ursprüngliche nachricht/gi
/** Header lines that a mail program puts above what it quotes. */
const HEAD = /^\s*(from|von|de|van|da)\s?:.*[<[].*[>\]]/i
const DATED = /^\d{2}[:.]\d{2}.*<.*>\s*:$|\d{4}.*from.*<.*>:$/
/** The beginning of a line that says who wrote, which may continue in the next line. */
const BEGINS = /^[\s-]*(on|le|el|il|em|am|op|den|pe|w dniu|dnia|在)\s/i
const SIGNATURE =
  /^\s*[-_+=]{2,4}$|^_{32}$|^(sent from|get outlook for|von|gesendet von|sendt fra|envoyé|télécharger outlook|bien|enviado desde|verzonden vanaf|verstuurd vanaf) |^(cheers|best wishes|bonne \S{5,7})[,!]*$|(regards|cordialement)[,!！]*$/i

const [OPEN, CLOSE] = ['\u{E000}', '\u{E001}']
const MARKS = /[\u{E000}\u{E001}]/gu
const NUMBERED = /\u{E000}(\d+)\u{E001}/gu

/** The most occurrences of each in a line, because the expressions try every combination. */
const FEW: readonly [RegExp, number][] = [
  [/["<>[\]]/g, 8],
  [/\d/g, 60],
]

const isShort = (line: string): boolean =>
  line.length <= quoteLimits.lineLength &&
  FEW.every(([signs, most]) => (line.match(signs)?.length ?? 0) <= most)

const isHeader = (line: string): boolean =>
  isShort(line) && ((line.match(QUOTING)?.length ?? 3) <= 2 || HEAD.test(line) || DATED.test(line))

/** Such a line that a mail program has broken in two, joined again. */
const joinLines = (line: string, next: string | undefined): string | undefined => {
  if (next === undefined || !BEGINS.test(line) || isHeader(line)) return undefined
  const both = `${line} ${next.trim()}`
  return isHeader(both) && /:$/.test(both) ? both : undefined
}

class Sketch {
  readonly #lines: string[] = []
  /** The texts that the numbers stand for. */
  readonly #texts: string[] = []
  #headers = quoteLimits.headers
  #signatures = quoteLimits.signatures

  constructor(private readonly isHtml: boolean) {}

  #number(text: string): string {
    this.#texts.push(text)
    return `${OPEN}${this.#texts.length - 1}${CLOSE}`
  }

  /** Blank lines in a row count as one. */
  #blank(): void {
    if (this.#lines.at(-1) !== '') this.#lines.push('')
  }

  /** Adds a line and returns how many lines it took. */
  add(line: string, next: string | undefined): number {
    if (line.trim() === '') this.#blank()
    else if (/^\s{0,3}>/.test(line)) this.#lines.push(`>${this.#number(line.trimStart().slice(1))}`)
    else if (this.#headers > 0 && isHeader(line)) this.#header(line)
    else if (this.#signatures > 0 && isShort(line) && SIGNATURE.test(line)) {
      this.#signatures--
      this.#lines.push(line)
    } else {
      const both = this.#headers > 0 ? joinLines(line, next) : undefined
      if (both !== undefined) {
        this.#header(both)
        return 2
      }
      this.#lines.push(this.#number(line))
    }
    return 1
  }

  /** The parser looks for a blank line above, which text from HTML does not have. */
  #header(line: string): void {
    this.#headers--
    if (this.isHtml) this.#blank()
    this.#lines.push(line)
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  /** Turns a part of the sketch back into the words of the mail. */
  wordsOf(part: string): string {
    return part.replace(NUMBERED, (_, number: string) => this.#texts[Number(number)] ?? '')
  }
}

const linesOf = (text: string): string[] =>
  text
    .slice(0, quoteLimits.characters)
    .replace(MARKS, '')
    .split(/\r\n|\r|\n/, quoteLimits.lines)
    .map((line) => line.trimEnd())

/**
 * Reads the first 100,000 characters and 1,000 lines. `isHtml`: the text was HTML, where quotations
 * are marked but have no blank lines around them.
 */
export const withoutQuotes = (text: string, { isHtml = false } = {}): string => {
  const lines = linesOf(text)
  const sketch = new Sketch(isHtml)
  for (let at = 0; at < lines.length; ) at += sketch.add(lines[at]!, lines[at + 1])
  return sketch.wordsOf(new EmailReplyParser().parseReply(sketch.text)).trim()
}
