/**
 * Sends spans to the collector, in portions and one request at a time. Whatever the collector does,
 * the queue has a bound, each request a deadline, and a stop too. What is lost is counted.
 */
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import { type TraceResource, traceRequest } from './otlp.ts'
import type { EndedSpan } from './tracer.ts'

export interface SenderDeps {
  url: string
  headers: Record<string, string>
  resource: TraceResource
  log: Log
  clock: Clock
  limits?: Partial<SenderLimits> | undefined
  /** Must not throw. */
  counted?: ((what: 'sent' | 'dropped', spans: number) => void) | undefined
}

export interface SenderLimits {
  /** How many spans wait at most. Each takes about a kilobyte. */
  waiting: number
  /** How many go with one request. To write them takes about a millisecond. */
  together: number
  /** How long a span waits for others. */
  everyMs: number
  answerMs: number
  /** How long to leave alone a collector that has failed again and again. */
  longestPauseMs: number
  stopMs: number
}

const senderLimits: SenderLimits = {
  waiting: 4_096,
  together: 256,
  everyMs: 1_000,
  answerMs: 5_000,
  longestPauseMs: 30_000,
  stopMs: 1_500,
}

/** The most bytes of an answer that are read. */
const MOST_READ = 4_096

/** A collector may take a request and reject some of its spans. */
const rejectedIn = async (response: Response): Promise<number> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MOST_READ) return 0
  }
  return rejectedSpans(Buffer.concat(chunks).toString())
}

const rejectedSpans = (text: string): number => {
  try {
    const count = Number(JSON.parse(text)?.partialSuccess?.rejectedSpans ?? 0)
    return Number.isSafeInteger(count) && count > 0 ? count : 0
  } catch {
    return 0
  }
}

export class SpanSender implements AsyncDisposable {
  #waiting: EndedSpan[] = []
  #limits: SenderLimits
  #timer: Disposable | undefined
  #sending: Promise<void> | undefined
  /** Failures in a row. */
  #failures = 0
  #lost = 0
  #stop = new AbortController()
  #isStopping = false

  constructor(private readonly deps: SenderDeps) {
    this.#limits = { ...senderLimits, ...deps.limits }
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length >= this.#limits.waiting || this.#stop.signal.aborted) {
      this.#drop(1)
      return
    }
    this.#waiting.push(span)
    if (this.#sending || this.#failures > 0) return
    if (this.#waiting.length >= this.#limits.together) this.#send()
    else this.#wait()
  }

  /** Sends what waits, for a moment. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    using _timer = this.deps.clock.after(this.#limits.stopMs, () => this.#stop.abort())
    if (!this.#sending) this.#send()
    while (this.#sending) await this.#sending
    this.#stop.abort()
    this.#drop(this.#waiting.splice(0).length)
    if (this.#lost > 0) this.#tell('stopped')
  }

  #send(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
      // Whoever has added a span since it last looked has set no timer.
      if (this.#waiting.length > 0 && !this.#isStopping) this.#wait()
    })
  }

  #wait(): void {
    this.#timer ??= this.deps.clock.after(this.#limits.everyMs, () => this.#send())
  }

  /** Until few wait, who may wait for others, or the collector fails. */
  async #sendAll(): Promise<void> {
    const { together } = this.#limits
    for (let least = 1; this.#waiting.length >= least; least = this.#isStopping ? 1 : together) {
      const spans = this.#waiting.splice(0, together)
      const answer = await this.#post(spans)
      if (typeof answer === 'string') {
        this.#failed(spans.length, answer)
        return
      }
      this.#failures = 0
      this.deps.counted?.('sent', spans.length - answer.rejected)
      if (this.#lost > 0) this.#tell('too many')
      this.#drop(answer.rejected)
      if (answer.rejected > 0) this.#tell('rejected')
    }
  }

  #failed(spans: number, failure: string): void {
    this.#failures++
    this.#drop(spans)
    if (this.#isStopping) return
    this.#tell(failure)
    const { everyMs, longestPauseMs } = this.#limits
    const pause = Math.min(longestPauseMs, everyMs * 2 ** this.#failures)
    this.#timer = this.deps.clock.after(pause, () => this.#send())
  }

  /** Returns what failed, in a word, or how many of the spans the collector did not take. */
  async #post(spans: EndedSpan[]): Promise<string | { rejected: number }> {
    const { url, headers, resource } = this.deps
    const late = new AbortController()
    using _timer = this.deps.clock.after(this.#limits.answerMs, () => late.abort())
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: traceRequest(resource, spans),
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, this.#stop.signal]),
      })
      if (response.ok) return { rejected: Math.min(await rejectedIn(response), spans.length) }
      await response.body?.cancel()
      return `status ${response.status}`
    } catch {
      return late.signal.aborted ? 'timeout' : 'unreachable'
    }
  }

  #drop(spans: number): void {
    if (spans === 0) return
    this.#lost += spans
    this.deps.counted?.('dropped', spans)
  }

  #tell(failure: string): void {
    this.deps.log.warn({ failure, dropped: this.#lost }, 'spans of traces were dropped')
    this.#lost = 0
  }
}
