/**
 * Streams of hints. The process that owns the workspace hears of each commit; another passes the
 * stream on to it. Where the owner cannot be reached, there is no stream, and the client polls.
 */
import { AppError, fail } from '#kernel/errors'
import type { HintBus, HintListener } from '#ops/app/events/hint-bus'
import type { Call } from '#ops/engine/call'
import { OwnedElsewhere } from '#store/engine/placement'
import { COMMENT, EventBody, formatEvent } from '../event-body.ts'
import { type Asked, eventResponse, type StreamPlaces } from '../event-streams.ts'
import { inputOf } from '../input.ts'
import { limitHeaders } from '../respond.ts'

interface HintStreamDeps {
  places: StreamPlaces
  hints: HintBus
  /** Whether all letters of the workspace run here. */
  owns(tenantId: string): boolean
  /** Takes a workspace that nobody owns. Throws `OwnedElsewhere`. */
  wake(tenantId: string): Promise<void>
}

/** How soon the client reconnects after the stream has ended. In milliseconds. */
const RECONNECT_MS = 2_000
/** A client that has not read this many bytes of hints is told to read again instead. */
const MOST_UNREAD = 128 * 1_024
const RESYNC = formatEvent({ event: 'resync', data: {} })

export class HintStreams {
  constructor(private readonly deps: HintStreamDeps) {}

  /**
   * Rejects with the operation's errors, with `rate_limited:streams`, and with `unavailable` if the
   * owner cannot be reached.
   */
  async open(asked: Asked): Promise<Response> {
    const { o, incoming, call } = asked
    const input = await inputOf(o, incoming, call.tenantId)
    const { allowances } = await o.run(() => input, call)
    const again: Call = { ...call, plan: undefined }
    const mayGoOn = async () => void (await o.run(() => input, again))
    if (!(await this.#isOurs(call))) return this.#passOn(asked)
    const stream = new HintStream({ call, owns: this.deps.owns, mayGoOn })
    stream.onEnd(this.deps.hints.follow(call.tenantId, stream))
    try {
      stream.onEnd(this.deps.places.admit(stream, call))
    } catch (cause) {
      stream.left()
      throw cause
    }
    // From here on nothing is missed, unless the workspace has left meanwhile.
    if (!this.deps.owns(call.tenantId)) stream.end()
    return eventResponse(stream.body, call.requestId, limitHeaders(allowances))
  }

  /** Takes the workspace if nobody has it: otherwise its next command would run elsewhere. */
  async #isOurs({ tenantId }: Call): Promise<boolean> {
    if (this.deps.owns(tenantId)) return true
    try {
      await this.deps.wake(tenantId)
      return true
    } catch (cause) {
      if (cause instanceof OwnedElsewhere) return false
      throw cause
    }
  }

  async #passOn(asked: Asked): Promise<Response> {
    const passed = await this.deps.places.passOn(asked)
    if (passed) return passed
    const says = 'the process that serves this workspace cannot be reached, try again'
    return fail('unavailable', says, { retryAfter: 2 })
  }
}

interface Following {
  call: Call
  owns(tenantId: string): boolean
  /** Rejects if the caller no longer has access. */
  mayGoOn(): Promise<void>
}

class HintStream implements HintListener {
  readonly reader
  readonly #body: EventBody
  readonly #held = new DisposableStack()
  /** Whether hints were lost, because the client reads too slowly. */
  #isBehind = false
  #isChecking = false
  /** How much the client had been handed at the last comment. */
  #handed = 0

  constructor(private readonly following: Following) {
    const { principal, scopes } = following.call
    this.reader = { principal, scopes }
    this.#body = new EventBody(() => this.#held.dispose())
    this.#body.write(`retry: ${RECONNECT_MS}\n\n${RESYNC}`)
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#body.stream
  }

  /** Releases `held` when the stream has ended, for whatever reason. */
  onEnd(held: Disposable): void {
    if (this.#body.ended) held[Symbol.dispose]()
    else this.#held.use(held)
  }

  hear(events: Uint8Array): void {
    if (this.#isBehind) return
    if (this.#body.behind + events.byteLength > MOST_UNREAD) this.reread()
    else this.#body.writeBytes(events)
  }

  /** Tells the client to read again once it has read what it was sent. */
  reread(): void {
    if (this.#isBehind) return
    this.#isBehind = true
    void this.#body.drained().then(() => {
      this.#isBehind = false
      this.#body.write(RESYNC)
    })
  }

  left(): void {
    this.#body.end()
  }

  look(): void {
    if (!this.following.owns(this.following.call.tenantId)) this.#body.end()
  }

  /**
   * Checks whether the caller still has access, and writes a comment. Drops a client that has read
   * nothing since the last comment.
   */
  comment(): void {
    if (this.#body.behind > 0 && this.#body.handed === this.#handed) this.#body.drop()
    this.#handed = this.#body.handed
    if (!this.#isChecking) void this.#check()
  }

  /** After a failure that may pass, no comment is written. If that takes long, the client goes. */
  async #check(): Promise<void> {
    this.#isChecking = true
    try {
      await this.following.mayGoOn()
      this.#body.write(COMMENT)
    } catch (cause) {
      if (AppError.from(cause).status < 500) this.#body.end()
    } finally {
      this.#isChecking = false
    }
  }

  end(): void {
    this.#body.write(COMMENT)
    this.#body.end()
  }
}
