/** One stream: stored events, which are read as rows, and between them the text of models. */
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { JobNews, Piece } from '#ops/agent/job/bus'
import { MOST_EVENTS } from '#store/agent/events'
import { COMMENT, EventBody, formatEvent, MOST_BEHIND } from '../event-body.ts'

/** An event as the operation returns it. */
interface StoredEvent {
  seq: number
  type: string
  data: Record<string, unknown>
  /** The job of the event. A conversation has many. */
  jobId?: string
}

/**
 * What the operation returns. `resync`: there was no such event to go on from, so these are the
 * first. `done`: nothing more will happen.
 */
export interface Look {
  events: StoredEvent[]
  nextSeq: number
  resync?: boolean
  done?: boolean
}

export interface Followed {
  /** Reads what comes after an event. Rejects if the caller no longer has access. */
  look(after: number): Promise<Look>
  /** The id of the job or conversation. Events name their job if it is another one. */
  id: string
  log: Log
}

/** How soon the client reconnects after the stream has ended. In milliseconds. */
const RECONNECT_MS = 2_000
/** Its id takes the place of the one that the client would reconnect with. */
const RESYNC = formatEvent({ id: 0, event: 'resync', data: {} })

/**
 * More jobs than a conversation has at work at once. It is a limit because a stream can be open for
 * weeks.
 */
const MOST_JOBS = 100

/** Whether the next look would fail for the same reason. */
const isFinal = (cause: unknown): boolean =>
  AppError.from(cause).status < 500 && AppError.from(cause).code !== 'rate_limited'

export class Follower {
  readonly body: EventBody
  readonly #held = new DisposableStack()
  #pieces: Piece[] = []
  #length = 0
  /**
   * For each job, the last step that has ended. The stored message has what it said. For a
   * conversation, only the jobs that were at work last are kept.
   */
  readonly #endedSteps = new Map<string, number>()
  #after = 0
  #mustLook = false
  #mustComment = false
  /** True until the stream begins: it then only listens. */
  #isBusy = true
  /** How much the client had been handed at the last comment. */
  #handed = 0

  constructor(private readonly followed: Followed) {
    this.body = new EventBody(() => this.#held.dispose())
    this.body.write(`retry: ${RECONNECT_MS}\n\n`)
  }

  /** Releases `held` when the stream has ended, for whatever reason. */
  onEnd(held: Disposable): void {
    if (this.body.ended) held[Symbol.dispose]()
    else this.#held.use(held)
  }

  /** Begins with what was read when the request was checked. */
  begin(first: Look): void {
    void this.#goOn(first)
  }

  hear(news: JobNews): void {
    if (this.body.ended) return
    if (news.kind === 'changed') this.#mustLook = true
    else this.#keep(news)
    this.#wake()
  }

  /**
   * Checks whether the caller still has access, and writes a comment. Drops a client that has read
   * nothing since the last comment.
   */
  comment(): void {
    if (this.body.behind > 0 && this.body.handed === this.#handed) this.body.drop()
    this.#handed = this.body.handed
    this.#mustComment = true
    this.look()
  }

  look(): void {
    this.#mustLook = true
    this.#wake()
  }

  /** Looks again if the last look failed. */
  retry(): void {
    if (this.#mustLook) this.#wake()
  }

  /** Ends the stream after a last comment. */
  end(): void {
    this.body.write(COMMENT)
    this.body.end()
  }

  /** Keeps a piece of text while the client catches up with the rows. */
  #keep(piece: Piece): void {
    this.#pieces.push(piece)
    if (piece.kind === 'delta') this.#length += piece.text.length
    if (this.#length > MOST_BEHIND) this.body.drop()
  }

  #wake(): void {
    if (this.#isBusy || this.body.ended) return
    this.#isBusy = true
    void this.#goOn()
  }

  async #goOn(first?: Look): Promise<void> {
    try {
      if (first) await this.#send(first)
      while (!this.body.ended && (this.#mustLook || this.#pieces.length > 0)) {
        if (this.#mustLook) await this.#look()
        this.#sendPieces()
      }
    } catch (cause) {
      this.#failed(cause)
    } finally {
      this.#isBusy = false
    }
  }

  async #look(): Promise<void> {
    this.#mustLook = false
    await this.#send(await this.followed.look(this.#after))
    if (!this.#mustComment) return
    this.#mustComment = false
    this.body.write(COMMENT)
  }

  /**
   * After a failure that may pass, no comment is written until a look succeeds. If that takes long,
   * the connection ends.
   */
  #failed(cause: unknown): void {
    if (isFinal(cause)) this.body.end()
    this.#mustLook = true
    this.followed.log.debug({ err: cause }, 'a stream could not be continued')
  }

  /** Sends the events at the pace of the client, however many there are. */
  async #send({ events, nextSeq, resync, done }: Look): Promise<void> {
    if (resync) this.#beginAgain()
    for (const event of events) {
      await this.body.drained()
      if (this.body.ended) return
      this.body.write(this.#textOf(event))
    }
    this.#after = Math.max(this.#after, nextSeq)
    this.#mustLook ||= events.length >= MOST_EVENTS
    if (done) this.body.end()
  }

  #beginAgain(): void {
    this.#after = 0
    this.#endedSteps.clear()
    this.body.write(RESYNC)
  }

  #textOf({ seq, type, data, jobId }: StoredEvent): string {
    if (type === 'step.ended') this.#note(jobId ?? this.followed.id, Number(data.number))
    return formatEvent({
      id: seq,
      event: type,
      data: jobId === undefined ? data : { jobId, ...data },
    })
  }

  #note(job: string, step: number): void {
    this.#endedSteps.delete(job)
    this.#endedSteps.set(job, step)
    const [oldest] = this.#endedSteps.keys()
    if (this.#endedSteps.size > MOST_JOBS) this.#endedSteps.delete(oldest!)
  }

  #sendPieces(): void {
    const pieces = this.#pieces
    this.#pieces = []
    this.#length = 0
    for (const piece of pieces) {
      const { kind, job, ...data } = piece
      if (piece.step <= (this.#endedSteps.get(job) ?? 0)) continue
      this.body.write(
        formatEvent({
          event: kind,
          data: job === this.followed.id ? data : { jobId: job, ...data },
        }),
      )
    }
  }
}
