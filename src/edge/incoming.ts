/** An incoming request: whom it counts against, and its body, which every surface reads here. */
import { networkOf } from '#domain/app/network-of'
import type { Budget, Reservation } from '#kernel/budget'
import { AppError, fail } from '#kernel/errors'
import type { Intake } from './intake.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

/** The least memory counted for a body, because its request and connection take some too. In bytes. */
const MIN = 4 * KIB
/** How much of a body of unknown length Bun may buffer before we read it. In bytes. */
const READ_AHEAD = MIB
/** How much of an unread body Bun takes in, in bytes. If a client sends more, its connection may close before it gets the answer. */
const MAX_UNREAD = 2 * MIB

/** How often a slow anonymous body checks whether others wait for its room. */
const LOOK_EVERY_MS = 250

export interface BodyTerms {
  /** The largest body, in bytes. */
  limit: number
  /** Undefined for an anonymous caller. */
  workspace?: string | undefined
}

export class Incoming {
  #address: string | undefined
  #counted = false
  #room: Reservation | undefined
  #begun = false
  #late = false
  /** When the time for the body began, in monotonic milliseconds. */
  #startedAt = 0

  constructor(
    readonly request: Request,
    /** Decoded path parameters; undefined if the path has none. */
    readonly params: Record<string, string> | undefined,
    private readonly intake: Intake,
    private readonly lookUpAddress: () => string,
  ) {}

  /** The client's IP address. */
  address(): string {
    this.#address ??= this.lookUpAddress()
    return this.#address
  }

  /** The network that the request counts against while its caller is unknown. */
  get #site(): string {
    return networkOf(this.address())
  }

  /** Counts a request without a credential. Throws `rate_limited` if its network has too many of them unfinished. */
  countAsAnonymous(): void {
    this.intake.begin(this.#site)
    this.#counted = true
  }

  /**
   * Whether to close the connection after the answer: the body did not arrive in time, or it was refused unread and is too large to
   * drain.
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

  /** Looks up a credential that is not cached. Meanwhile the body counts against the network of its address. */
  async checked<T>(lookUp: () => Promise<T>): Promise<T> {
    const { request, intake } = this
    const amount = this.#amount(READ_AHEAD)
    using _ = amount > 0 ? await this.#reserve(intake.unchecked, this.#site, Math.min(amount, READ_AHEAD)) : undefined
    if (request.signal.aborted) throw this.#broken()
    return await intake.checks.run(this.#site, lookUp)
  }

  /** Reserves room for the body, once. Throws `unavailable` if none becomes free in time. */
  async makeRoom({ limit, workspace }: BodyTerms): Promise<void> {
    const amount = this.#amount(limit)
    if (this.#room || amount === 0) return
    const { intake } = this
    this.#startedAt = intake.clock.monotonic()
    const budget = workspace === undefined ? intake.anonymous : intake.members
    this.#room = await this.#reserve(budget, workspace ?? this.#site, Math.min(amount, Math.max(limit, READ_AHEAD)))
  }

  /**
   * The body as text. Throws `payload_too_large` (before reading, if Content-Length is over the limit), `request_timeout` if it does
   * not arrive in time, and `invalid_input` if it is not UTF-8.
   */
  async text(terms: BodyTerms): Promise<string> {
    const { limit } = terms
    if ((lengthIn(this.request.headers) ?? 0) > limit) throw tooLarge(limit)
    await this.makeRoom(terms)
    const { body } = this.request
    if (!body) return ''
    this.#room?.shrink(Math.max(MIN, limit))
    const bytes = await this.#read(body, terms)
    this.#room?.shrink(Math.max(MIN, bytes.byteLength))
    return decode(bytes)
  }

  /** The size of the body by its headers, in bytes; 0 without a body. */
  #amount(limit: number): number {
    const { headers } = this.request
    const length = lengthIn(headers)
    if (length !== undefined) return length === 0 ? 0 : Math.max(MIN, length)
    return headers.has('transfer-encoding') ? Math.max(limit, READ_AHEAD) : 0
  }

  async #reserve(budget: Budget, party: string, amount: number): Promise<Reservation> {
    const { request } = this
    try {
      return await budget.reserve(party, amount, () => request.signal)
    } catch (cause) {
      throw request.signal.aborted ? this.#broken() : cause
    }
  }

  /**
   * Calls `late` when the time for the body is over. An anonymous body has less time while others wait for its room: a client that
   * reserves room and sends nothing would keep out everybody else without a credential.
   */
  #untilLate(isAnonymous: boolean, late: () => void): Disposable {
    const { clock, limits, anonymous } = this.intake
    const end = this.#startedAt + limits.bodyWithinMs
    const left = () => end - clock.monotonic()
    const look = () => {
      if (left() <= 0 || anonymous.waiters > 0) late()
      else timer = clock.after(Math.min(left(), LOOK_EVERY_MS), look)
    }
    let timer = clock.after(isAnonymous ? Math.min(left(), limits.givesWayAfterMs) : left(), isAnonymous ? look : late)
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
  }

  async #read(body: ReadableStream<Uint8Array>, { limit, workspace }: BodyTerms): Promise<Uint8Array> {
    this.#begun = true
    const reader = body.getReader()
    using _ = this.#untilLate(workspace === undefined, () => {
      this.#late = true
      reader.cancel().catch(() => {})
    })
    const chunks: Uint8Array[] = []
    let size = 0
    for (;;) {
      const { value } = await reader.read().catch((cause) => {
        throw this.#late ? cause : this.#broken()
      })
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

  /** An error that nobody reads, because the client has gone. */
  #broken(): AppError {
    this.intake.log.debug({ path: new URL(this.request.url).pathname }, 'a client disconnected before its request was complete')
    return new AppError('invalid_input', 'the request ended before it was complete')
  }
}

/** Bun passes on a length that is sent twice, as `5, 5`, and refuses two different ones. */
const lengthIn = (headers: Headers): number | undefined => {
  const length = headers.get('content-length')
  return length === null ? undefined : Number.parseInt(length, 10)
}

const tooLarge = (limit: number): AppError =>
  new AppError('payload_too_large', `the body is larger than ${limit < MIB ? `${limit / KIB} KiB` : `${limit / MIB} MiB`}`)

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const message = 'the body is not valid UTF-8'
    throw new AppError('invalid_input', message, { details: [{ path: '', message }] })
  }
}
