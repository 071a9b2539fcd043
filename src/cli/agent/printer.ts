/** Prints what happens in a job: answers on standard output, steps on standard error. */
import type { Host } from '../host.ts'
import { jsonText } from '../print.ts'
import { harmless, oneLine, warnOfUnseen } from '../text.ts'
import type { JobEvent } from './follow.ts'

const DIM = ['\u001b[2m', '\u001b[22m'] as const
/** Steps that end in any other state are mentioned. */
const QUIET: ReadonlySet<unknown> = new Set(['done', 'ready', 'waiting', 'asked', 'cancelled'])

/** Characters that affect how the characters beside them are shown. */
const CLOSE = /\r|\u200c|\u200d|\ufe0e|\ufe0f|[\u{1f3fb}-\u{1f3ff}]|[\u{e0000}-\u{e007f}]/u
/** In UTF-16 units. */
const LONGEST_CLOSE = 64

/**
 * How much of a text that will continue can be written already: up to a character whose appearance
 * does not depend on what comes next.
 */
const writable = (text: string): number => {
  const points = [...text.slice(-LONGEST_CLOSE)]
  let end = text.length
  for (let index = points.length - 1; index > 0; index--) {
    end -= points[index]!.length
    if (!CLOSE.test(points[index]!) && !CLOSE.test(points[index - 1]!)) return end
  }
  return text.length - text.slice(-LONGEST_CLOSE).length
}

interface Piece {
  step?: unknown
  at?: unknown
  text?: unknown
}

export class Printer {
  /**
   * The step whose text is being written, how much of the text has arrived, and how much of it has
   * been written.
   */
  #step: unknown
  #come = ''
  #written = 0

  constructor(
    private readonly host: Host,
    private readonly asJson: boolean,
  ) {}

  print({ type, data }: JobEvent): void {
    if (type === 'delta') this.#piece(data)
    else if (type === 'reset') this.#break()
    else if (type === 'message') this.#message(data)
    else if (type === 'step.started' && data.kind === 'tool')
      this.note(String(data.summary || data.name))
    else if (type === 'step.ended' && data.kind === 'tool' && !QUIET.has(data.state))
      this.note(`${data.name}: ${data.state}`)
  }

  /** Writes a short line about what happens. */
  note(text: string): void {
    this.#break()
    const { stderr } = this.host
    stderr.write(stderr.colour ? `${DIM[0]}· ${oneLine(text)}${DIM[1]}\n` : `· ${oneLine(text)}\n`)
  }

  /**
   * Text as it arrives, on a terminal. After a reconnection, a piece can repeat the beginning of
   * what came before.
   */
  #piece({ step, at, text }: Piece): void {
    const { stdout } = this.host
    if (
      stdout.columns === undefined ||
      this.asJson ||
      typeof text !== 'string' ||
      typeof at !== 'number'
    )
      return
    if (step !== this.#step) this.#break()
    this.#step = step
    const fresh = text.slice(Math.max(0, this.#come.length - at))
    if (at > this.#come.length || fresh === '') return
    this.#come += fresh
    const end = Math.max(this.#written, writable(this.#come))
    stdout.write(harmless(this.#come.slice(this.#written, end)))
    this.#written = end
  }

  #end(text: string): void {
    this.host.stdout.write(`${harmless(text.slice(this.#written))}\n`)
    warnOfUnseen(this.host.stderr, text)
    this.#come = ''
    this.#written = 0
  }

  /** Ends a text for which no message will come. */
  #break(): void {
    if (this.#come !== '') this.#end(this.#come)
  }

  /** The whole text. A part of it may already have been written. */
  #message(data: JobEvent['data']): void {
    const { stdout } = this.host
    if (data.role === 'user') return
    if (this.asJson) {
      stdout.write(jsonText(data, stdout))
      return
    }
    const content = String(data.content)
    if (!content.startsWith(this.#come)) this.#break()
    this.#end(content)
  }
}
