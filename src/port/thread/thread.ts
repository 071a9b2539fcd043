import { type Clock, systemClock } from '#kernel/clock'

export interface ThreadOptions {
  /** The path of the program, which answers each message with one. */
  program: string
  /** A computation that takes longer is given up, and rejects with `TooLong`. */
  longestMs: number
  /** How many may wait for the running one. One more rejects with `TooMany`. */
  mostWaiting: number
  /** What it does, as its errors say it: `drafting`. */
  name: string
  clock?: Clock
}

export class TooSlow extends Error {}
export class TooMany extends Error {}

interface Job<Request, Answer> {
  request: Request
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

/**
 * Computes in one thread beside the event loop, in the order of the requests. The thread starts
 * with the first request. When it dies, or is ended because a computation takes too long, only the
 * request that it was computing fails. The next request starts a new thread.
 */
export class Thread<Request, Answer> implements Disposable {
  readonly #clock: Clock
  readonly #waiting: Job<Request, Answer>[] = []
  #running: { job: Job<Request, Answer>; deadline: Disposable } | undefined
  #worker: Worker | undefined
  #isClosed = false

  constructor(private readonly options: ThreadOptions) {
    this.#clock = options.clock ?? systemClock
  }

  /** Rejects with the reason of `signal` as soon as it aborts. */
  async ask(request: Request, signal: AbortSignal): Promise<Answer> {
    const { name, mostWaiting } = this.options
    signal.throwIfAborted()
    if (this.#isClosed) throw new Error(`the ${name} worker is closed`)
    if (this.#waiting.length >= mostWaiting) throw new TooMany(`the ${name} worker is busy`)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const job = { request, resolve, reject }
    const abort = () => this.#drop(job, signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#waiting.push(job)
    this.#next()
    return promise.finally(() => signal.removeEventListener('abort', abort))
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    const closed = new Error(`the ${this.options.name} worker was closed`)
    for (const job of this.#waiting.splice(0)) job.reject(closed)
    this.#stop(closed)
  }

  #next(): void {
    if (this.#running) return
    // Between computations, the thread does not keep the process alive.
    this.#worker?.unref()
    const job = this.#waiting.shift()
    if (!job) return
    const { longestMs, name } = this.options
    const tooLong = () => this.#stop(new TooSlow(`${name} took more than ${longestMs} ms`))
    this.#running = { job, deadline: this.#clock.after(longestMs, tooLong) }
    this.#worker ??= this.#started()
    this.#worker.ref()
    try {
      this.#worker.postMessage(job.request)
    } catch (cause) {
      this.#ended(() => job.reject(cause))
    }
  }

  #started(): Worker {
    const worker = new Worker(this.options.program)
    const died = (why: string) => {
      if (this.#worker === worker)
        this.#stop(new Error(`the ${this.options.name} worker died: ${why}`))
    }
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (this.#worker === worker) this.#ended((job) => job.resolve(data))
    }
    worker.onerror = (event) => {
      event.preventDefault()
      died(event.message)
    }
    worker.addEventListener('close', () => died('it exited'))
    return worker
  }

  /**
   * A computation cannot be interrupted, but its thread can be ended. The next computation starts a
   * new thread.
   */
  #stop(cause: unknown): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
    this.#ended((job) => job.reject(cause))
  }

  #drop(job: Job<Request, Answer>, reason: unknown): void {
    const at = this.#waiting.indexOf(job)
    if (at >= 0) this.#waiting.splice(at, 1)
    if (this.#running?.job === job) this.#stop(reason)
    else job.reject(reason)
  }

  #ended(tell: (job: Job<Request, Answer>) => void): void {
    const running = this.#running
    if (!running) return
    running.deadline[Symbol.dispose]()
    this.#running = undefined
    tell(running.job)
    this.#next()
  }
}
