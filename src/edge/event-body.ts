/**
 * The body of an answer in server-sent events. Text is written as it arises, and read as fast as
 * the client reads.
 */

const encoder = new TextEncoder()

/** A client that has not read this many bytes is gone or too slow. */
export const MOST_BEHIND = 256 * 1_024

export interface ServerEvent {
  /** The number of an event that is stored. */
  id?: number
  event: string
  data: Record<string, unknown>
}

/** JSON has no line breaks, so each event is one line. */
export const formatEvent = ({ id, event, data }: ServerEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export const COMMENT = ':\n\n'

type Controller = ReadableStreamDefaultController<Uint8Array>

export class EventBody {
  readonly stream: ReadableStream<Uint8Array>
  #pieces: Uint8Array[] = []
  #size = 0
  /** How many times the client was handed something. */
  #handed = 0
  #ended = false
  /** Set while the client could read more than there is. */
  #reader: { controller: Controller; resolve: () => void } | undefined
  #onDrained: (() => void) | undefined

  /** `onEnd`: called once, when nothing more can be written. */
  constructor(private readonly onEnd: () => void) {
    const pull = (controller: Controller): Promise<void> | void => this.#pull(controller)
    this.stream = new ReadableStream({ pull, cancel: () => this.#over() }, { highWaterMark: 0 })
  }

  get ended(): boolean {
    return this.#ended
  }

  get handed(): number {
    return this.#handed
  }

  /** How many bytes the client has not read yet. */
  get behind(): number {
    return this.#size
  }

  /** Drops the client if it is too far behind. */
  write(text: string): void {
    this.writeBytes(encoder.encode(text))
  }

  /** The same for text that was encoded for several clients at once. */
  writeBytes(piece: Uint8Array): void {
    if (this.#ended) return
    this.#pieces.push(piece)
    this.#size += piece.byteLength
    if (this.#reader) this.#hand()
    else if (this.#size > MOST_BEHIND) this.drop()
  }

  /** Resolves once the client has been handed everything that was written, or is gone. */
  async drained(): Promise<void> {
    if (this.#ended || this.#size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onDrained = resolve
    await promise
  }

  /** Ends the stream. The client still gets what was written. */
  end(): void {
    if (this.#ended) return
    this.#over()
    if (this.#reader) this.#hand()
  }

  /** Ends the stream. What was written but not read is lost. */
  drop(): void {
    this.#pieces = []
    this.#size = 0
    this.end()
  }

  #over(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onDrained?.()
    this.onEnd()
  }

  #pull(controller: Controller): Promise<void> | void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#reader = { controller, resolve }
    if (this.#size > 0 || this.#ended) this.#hand()
    return promise
  }

  #hand(): void {
    const { controller, resolve } = this.#reader!
    this.#reader = undefined
    this.#handed++
    if (this.#size > 0)
      controller.enqueue(this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces))
    this.#pieces = []
    this.#size = 0
    if (this.#ended) controller.close()
    this.#onDrained?.()
    resolve()
  }
}
