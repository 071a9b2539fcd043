/**
 * An incoming request: the party that it counts against, and its body, which every surface reads
 * here.
 */
import { networkOf } from '#domain/app/network-of'
import { AppError, fail } from '#kernel/errors'
import type { FairLimit, Reservation } from '#kernel/fair-limit'
import type { Intake } from './intake.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

/**
 * The least memory that is counted for a body, because its request and connection take some as
 * well. In bytes.
 */
const MIN = 4 * KIB
/** How much of a body of unknown length Bun may buffer before we read it, in bytes. */
const READ_AHEAD = MIB
/**
 * How much of an unread body Bun takes in, in bytes. If a client sends more, its connection may
 * close before it gets the answer.
 */
const MAX_UNREAD = 2 * MIB

export interface BodyTerms {
  /** The largest body, in bytes. */
  limit: number
  /** Undefined for an anonymous caller. */
  workspace?: string | undefined
}

export class Incoming {
  /** What the log says about a request that fails: its workspace, and what it was for. */
  asked: { workspace?: string; operation: string; job?: string } | undefined
  #address: string | undefined
  #counted = false
  #room: Reservation | undefined
  /** Stops reading the body. */
  #giveUp: (() => void) | undefined
  #isAnonymous = false
  #begun = false
  #late = false
  /** When the time for the body began, in monotonic milliseconds. */
  #startedAt = 0

  constructor(
    readonly request: Request,
    /** Decoded path parameters; undefined if the path has none. */
    readonly params: Record<string, string> | undefined,
    private readonly intake: Intake,
    private readonly addressOf: (request: Request) => string,
  ) {}

  /** The client's IP address. */
  address(): string {
    this.#address ??= this.addressOf(this.request)
    return this.#address
  }

  /** The network that the request counts against while its caller is unknown. */
  get #site(): string {
    return networkOf(this.address())
  }

  /**
   * Counts a request without a credential. Throws `rate_limited` if too many requests of its
   * network are unfinished.
   */
  countAsAnonymous(): void {
    this.intake.begin(this.#site)
    this.#counted = true
  }

  /**
   * Whether to close the connection after the answer, because the body did not arrive in time, or
   * was refused unread and is too large to drain.
   */
  get endsConnection(): boolean {
    const { body, headers } = this.request
    if (this.#begun || !body) return this.#late
    const length = lengthIn(headers)
    return length === undefined || length > MAX_UNREAD
  }

  /** Call once the request is answered. */
  end(): void {
    if (this.#counted) this.intake.finish(this.#site)
    this.#counted = false
    this.#room?.[Symbol.dispose]()
    this.#room = undefined
  }

  /** Lets Bun drop a body that nobody will read. */
  discard(): void {
    const { body } = this.request
    if (body) body.cancel().catch(() => {})
  }

  /**
   * Looks up a credential that is not cached. During that time, the body counts against the network
   * of the address.
   */
  async checked<T>(lookUp: () => Promise<T>): Promise<T> {
    const { request, intake } = this
    const amount = this.#amount(READ_AHEAD)
    using _ =
      amount > 0
        ? await this.#reserve(intake.unchecked, this.#site, Math.min(amount, READ_AHEAD))
        : undefined
    if (request.signal.aborted) throw this.#broken()
    return await intake.checks.run(this.#site, lookUp)
  }

  /**
   * Reserves room for the body, once. Throws or rejects with `unavailable` if no room becomes free
   * in time.
   */
  makeRoom({ limit, workspace }: BodyTerms): void | Promise<void> {
    const amount = this.#amount(limit)
    if (this.#room || amount === 0) return
    const { intake } = this
    this.#startedAt = intake.clock.monotonic()
    const budget = workspace === undefined ? intake.anonymous : intake.members
    const room = this.#reserve(
      budget,
      workspace ?? this.#site,
      Math.min(amount, Math.max(limit, READ_AHEAD)),
    )
    const keep = (reserved: Reservation): void => {
      this.#room = reserved
    }
    return room instanceof Promise ? room.then(keep) : keep(room)
  }

  /** The body as text. Throws as `bytes` does, and `invalid_input` if it is not UTF-8. */
  async text(terms: BodyTerms): Promise<string> {
    return decodeText(await this.bytes(terms))
  }

  /**
   * The body as it was sent. Throws `payload_too_large` (before reading, if Content-Length is over
   * the limit), and `request_timeout` if it does not arrive in time.
   */
  async bytes(terms: BodyTerms): Promise<Uint8Array> {
    const { limit } = terms
    const length = lengthIn(this.request.headers)
    if (length !== undefined && length > limit) throw tooLarge(limit)
    const waiting = this.makeRoom(terms)
    if (waiting) await waiting
    const { body } = this.request
    if (!body) return new Uint8Array()
    this.#room?.shrink(Math.max(MIN, limit))
    const bytes = await this.#read(body, terms, length)
    this.#room?.shrink(Math.max(MIN, bytes.byteLength))
    return bytes
  }

  /** The size of the body according to its headers, in bytes; 0 if there is no body. */
  #amount(limit: number): number {
    const { headers } = this.request
    const length = lengthIn(headers)
    if (length !== undefined) return length === 0 ? 0 : Math.max(MIN, length)
    return headers.has('transfer-encoding') ? Math.max(limit, READ_AHEAD) : 0
  }

  #reserve(budget: FairLimit, party: string, amount: number): Reservation | Promise<Reservation> {
    const { request } = this
    const reserved = budget.reserve(party, amount, () => request.signal)
    if (!(reserved instanceof Promise)) return reserved
    return reserved.catch((cause) => {
      throw request.signal.aborted ? this.#broken() : cause
    })
  }

  /**
   * Stops reading when the time for the body is over. An anonymous body has less time while others
   * wait for its room. Otherwise, a client that reserves room and sends nothing would keep out
   * everybody else who has no credential.
   */
  look(): void {
    const { clock, limits, anonymous } = this.intake
    const taken = clock.monotonic() - this.#startedAt
    const givesWay = this.#isAnonymous && taken >= limits.givesWayAfterMs && anonymous.waiters > 0
    if (taken < limits.bodyWithinMs && !givesWay) return
    this.#late = true
    this.#giveUp?.()
  }

  /** `length`: the length in the header, capped at the limit. */
  async #read(
    body: ReadableStream<Uint8Array>,
    { limit, workspace }: BodyTerms,
    length: number | undefined,
  ): Promise<Uint8Array> {
    this.#begun = true
    this.#isAnonymous = workspace === undefined
    this.intake.watch(this)
    try {
      return await (length === undefined ? this.#inPieces(body, limit) : this.#whole())
    } catch (cause) {
      throw cause instanceof AppError ? cause : this.#broken()
    } finally {
      this.intake.unwatch(this)
    }
  }

  /** Reads the body as a whole, which costs a third of reading it in pieces. */
  #whole(): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    this.#giveUp = () => reject(new AppError('request_timeout'))
    this.request.bytes().then(resolve, reject)
    return promise
  }

  /** Reads a body of unknown length, which must not be read beyond its limit. */
  async #inPieces(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
    const reader = body.getReader()
    this.#giveUp = () => void reader.cancel().catch(() => {})
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { value } = await reader.read()
      if (this.#late) fail('request_timeout')
      if (!value) break
      size += value.byteLength
      if (size > limit) {
        reader.cancel().catch(() => {})
        throw tooLarge(limit)
      }
      chunks.push(value)
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }

  /** The error if the body breaks off. Nobody reads it, because the client is gone. */
  #broken(): AppError {
    this.intake.log.debug(
      { path: new URL(this.request.url).pathname },
      'a client disconnected before its request was complete',
    )
    return new AppError('invalid_input', 'the request ended before it was complete')
  }
}

/** If a length is sent twice, Bun passes it on as `5, 5`. It refuses two different lengths. */
const lengthIn = (headers: Headers): number | undefined => {
  const length = headers.get('content-length')
  return length === null ? undefined : Number.parseInt(length, 10)
}

const tooLarge = (limit: number): AppError =>
  new AppError(
    'payload_too_large',
    `the body is larger than ${limit < MIB ? `${limit / KIB} KiB` : `${limit / MIB} MiB`}`,
  )

/** Throws `invalid_input` if the bytes are not UTF-8. */
export const decodeText = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const message = 'the body is not valid UTF-8'
    throw new AppError('invalid_input', message, { details: [{ path: '', message }] })
  }
}
