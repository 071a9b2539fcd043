/** Prints what happens in a job: answers on standard output, steps on standard error. */
import type { Host } from '../host.ts'
import { jsonText } from '../print.ts'
import { harmless, oneLine } from '../text.ts'
import type { JobEvent } from './follow.ts'

const DIM = ['\u001b[2m', '\u001b[22m'] as const
/** Steps that ended otherwise are mentioned. */
const QUIET: ReadonlySet<unknown> = new Set(['done', 'ready', 'waiting', 'asked', 'cancelled'])

interface Piece {
  step?: unknown
  at?: unknown
  text?: unknown
}

export class Printer {
  /** The step whose text is being written, and what of it has been. */
  #step: unknown
  #written = ''

  constructor(
    private readonly host: Host,
    private readonly asJson: boolean,
  ) {}

  print({ type, data }: JobEvent): void {
    if (type === 'delta') this.#piece(data)
    else if (type === 'reset') this.#break()
    else if (type === 'message') this.#message(data)
    else if (type === 'step.started' && data.kind === 'tool') this.note(String(data.summary || data.name))
    else if (type === 'step.ended' && data.kind === 'tool' && !QUIET.has(data.state)) this.note(`${data.name}: ${data.state}`)
  }

  /** A short line about what happens. */
  note(text: string): void {
    this.#break()
    const { stderr } = this.host
    stderr.write(stderr.colour ? `${DIM[0]}· ${oneLine(text)}${DIM[1]}\n` : `· ${oneLine(text)}\n`)
  }

  /** Text as it arrives, on a terminal. A piece can repeat the beginning of what was written before a reconnection. */
  #piece({ step, at, text }: Piece): void {
    const { stdout } = this.host
    if (stdout.columns === undefined || this.asJson || typeof text !== 'string' || typeof at !== 'number') return
    if (step !== this.#step) this.#break()
    this.#step = step
    const fresh = text.slice(Math.max(0, this.#written.length - at))
    if (at > this.#written.length || fresh === '') return
    this.#written += fresh
    stdout.write(harmless(fresh))
  }

  /** Ends the line of a text that goes on in no message. */
  #break(): void {
    if (this.#written !== '') this.host.stdout.write('\n')
    this.#written = ''
  }

  /** The whole text, of which a part may have been written. */
  #message(data: JobEvent['data']): void {
    const { stdout } = this.host
    if (data.role === 'user') return
    if (this.asJson) {
      stdout.write(jsonText(data, stdout))
      return
    }
    const content = String(data.content)
    const isBegun = this.#written !== '' && content.startsWith(this.#written)
    if (!isBegun) this.#break()
    stdout.write(`${harmless(content.slice(this.#written.length))}\n`)
    this.#written = ''
  }
}
