import { sourceFile } from '#kernel/assets'
import { type Clock, systemClock } from '#kernel/clock'
import { GenerationError } from '../drafter.ts'
import type { Computations, ModelWorker } from './computations.ts'
import { type Request, requestOf, type WorkerAnswer } from './messages.ts'

export interface ThreadOptions {
  /** The path of the worker's program. */
  program?: string
  clock?: Clock
  /** How many computations may wait for the one that runs. */
  mostWaiting?: number
}

/** A computation that takes longer is given up. The largest profile takes a tenth of this on a busy machine. */
const LONGEST_MS = 30_000
const TOO_LONG = `drafting took more than ${LONGEST_MS / 1_000} seconds; shorten the profile's writing_dna`
/** Lanes request at most eight at once. */
const MOST_WAITING = 64

interface Job {
  request: Request
  resolve(result: unknown): void
  reject(cause: unknown): void
}

class Thread implements ModelWorker, Disposable {
  readonly #options: Required<ThreadOptions>
  readonly #waiting: Job[] = []
  #running: { job: Job; deadline: Disposable } | undefined
  #worker: Worker | undefined
  #isClosed = false

  constructor(options: Required<ThreadOptions>) {
    this.#options = options
  }

  async compute<N extends keyof Computations>(name: N, input: Parameters<Computations[N]>[0], signal: AbortSignal) {
    signal.throwIfAborted()
    if (this.#isClosed) throw new Error('the drafting worker is closed')
    if (this.#waiting.length >= this.#options.mostWaiting) throw new GenerationError('too much is being drafted at once; retry later')
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const job = { request: requestOf(name, input), resolve, reject }
    const abort = () => this.#drop(job, signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#waiting.push(job)
    this.#next()
    return promise.finally(() => signal.removeEventListener('abort', abort)) as Promise<ReturnType<Computations[N]>>
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    const closed = new Error('the drafting worker was closed')
    for (const job of this.#waiting.splice(0)) job.reject(closed)
    this.#stop(closed)
  }

  #next(): void {
    if (this.#running) return
    // Between computations the worker does not keep the process alive.
    this.#worker?.unref()
    const job = this.#waiting.shift()
    if (!job) return
    const tooLong = () => this.#stop(new GenerationError(TOO_LONG))
    this.#running = { job, deadline: this.#options.clock.after(LONGEST_MS, tooLong) }
    this.#worker ??= this.#started()
    this.#worker.ref()
    try {
      this.#worker.postMessage(job.request)
    } catch (cause) {
      this.#ended(() => job.reject(cause))
    }
  }

  #started(): Worker {
    const worker = new Worker(this.#options.program)
    const died = (why: string) => {
      if (this.#worker === worker) this.#stop(new Error(`the drafting worker died: ${why}`))
    }
    worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => {
      if (this.#worker === worker) this.#ended((job) => settle(job, data))
    }
    worker.onerror = (event) => {
      event.preventDefault()
      died(event.message)
    }
    worker.addEventListener('close', () => died('it exited'))
    return worker
  }

  /** A computation cannot be interrupted, but its worker can be ended; the next one starts a new worker. */
  #stop(cause: unknown): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
    this.#ended((job) => job.reject(cause))
  }

  #drop(job: Job, reason: unknown): void {
    const at = this.#waiting.indexOf(job)
    if (at >= 0) this.#waiting.splice(at, 1)
    if (this.#running?.job === job) this.#stop(reason)
    else job.reject(reason)
  }

  #ended(tell: (job: Job) => void): void {
    const running = this.#running
    if (!running) return
    running.deadline[Symbol.dispose]()
    this.#running = undefined
    tell(running.job)
    this.#next()
  }
}

const settle = ({ resolve, reject }: Job, answer: WorkerAnswer): void => {
  if ('result' in answer) resolve(answer.result)
  else reject('hint' in answer ? new GenerationError(answer.hint) : new Error(`a drafting computation failed: ${answer.fault}`))
}

/**
 * Computes in one worker thread, in the order of the requests, so that the event loop of the server stays free. The worker starts
 * with the first request. When it dies, the request that it had fails, and the next one starts a new worker.
 */
export const openThread = ({
  program = sourceFile('port/model/worker/entry.ts'),
  clock = systemClock,
  mostWaiting = MOST_WAITING,
}: ThreadOptions = {}): ModelWorker & Disposable => new Thread({ program, clock, mostWaiting })
