/**
 * The body of an answer in server-sent events: text that is written as it comes, and read as fast
 * as the client reads.
 */

const encoder = new TextEncoder()

/** A client that has read nothing of so much has gone, or is too slow. In bytes. */
export const MOST_BEHIND = 256 * 1_024

export interface ServerEvent {
  /** Of an event that is stored. */
  id?: number
  event: string
  data: Record<string, unknown>
}

/** JSON has no line breaks. */
export const formatEvent = ({ id, event, data }: ServerEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export const COMMENT = ':\n\n'

type Controller = ReadableStreamDefaultController<Uint8Array>

export class EventBody {
  readonly stream: ReadableStream<Uint8Array>
  #pieces: Uint8Array[] = []
  #size = 0
  /** How often the client has been given something. */
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

  /** In bytes. */
  get behind(): number {
    return this.#size
  }

  /** A client that is too far behind is dropped. */
  write(text: string): void {
    if (this.#ended) return
    const piece = encoder.encode(text)
    this.#pieces.push(piece)
    this.#size += piece.byteLength
    if (this.#reader) this.#hand()
    else if (this.#size > MOST_BEHIND) this.drop()
  }

  /** Resolves once the client has been given all that was written, or is gone. */
  async drained(): Promise<void> {
    if (this.#ended || this.#size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onDrained = resolve
    await promise
  }

  /** The client still gets what was written. */
  end(): void {
    if (this.#ended) return
    this.#over()
    if (this.#reader) this.#hand()
  }

  /** What was written and not read is lost. */
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
