/** A request on its way in: who counts for it, and its body, read in one place for every surface. */
import { networkOf } from '#domain/app/network-of'
import type { Budget, Reservation } from '#kernel/budget'
import { AppError, fail } from '#kernel/errors'
import type { Intake } from './intake.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

/** What even the smallest body takes: its request and its connection take memory, too. */
const LEAST = 4 * KIB
/** What Bun may hold of a body that does not say how long it is, until we read it. */
const READ_AHEAD = MIB
/** What Bun takes in of a body that nobody reads. Whoever sends more may find the connection closed in the place of an answer. */
const MOST_UNREAD = 2 * MIB

/** How often a stranger's body that has had its first time looks whether others wait. */
const LOOK_EVERY_MS = 250

/** How large a body may be, in bytes, and whose it is: a workspace's, or a stranger's. */
export interface BodyTerms {
  limit: number
  workspace?: string | undefined
}

/** One request, until it is answered. */
export class Incoming {
  #address: string | undefined
  #counted = false
  #room: Reservation | undefined
  #begun = false
  #late = false
  /** When the body's time began. */
  #startedAt = 0

  constructor(
    readonly request: Request,
    /** Decoded; absent where the path has none. */
    readonly params: Record<string, string> | undefined,
    private readonly intake: Intake,
    private readonly lookUpAddress: () => string,
  ) {}

  /** Of the other end. */
  address(): string {
    this.#address ??= this.lookUpAddress()
    return this.#address
  }

  /** Whose the request is while nobody else is known. */
  get #site(): string {
    return networkOf(this.address())
  }

  /** The request has no credential: throws `rate_limited` where its address has too many such requests unfinished. */
  countAsStranger(): void {
    this.intake.begin(this.#site)
    this.#counted = true
  }

  /**
   * Whether the connection should end with the answer: the body did not arrive in time, or was refused unread and is too large to
   * be taken in so that its sender reads the answer.
   */
  get endsConnection(): boolean {
    const { body, headers } = this.request
    if (this.#begun || !body) return this.#late
    const length = lengthIn(headers)
    return length === undefined || length > MOST_UNREAD
  }

  /** The request is answered. */
  end(): void {
    if (this.#counted) this.intake.finish(this.#site)
    this.#counted = false
    this.#room?.[Symbol.dispose]()
    this.#room = undefined
  }

  /** Nobody will read the body: Bun need not keep it. */
  discard(): void {
    const { body } = this.request
    if (body) body.cancel().catch(() => {})
  }

  /** Looks a credential up that is not remembered. Meanwhile the body waits on the account of the address. */
  async checked<T>(lookUp: () => Promise<T>): Promise<T> {
    const { request, intake } = this
    const amount = this.#amount(READ_AHEAD)
    using _ = amount > 0 ? await this.#reserve(intake.unchecked, this.#site, Math.min(amount, READ_AHEAD)) : undefined
    if (request.signal.aborted) throw this.#broken()
    return await intake.checks.run(this.#site, lookUp)
  }

  /** Waits for room for the body, unless it has been made before. Throws `unavailable` when there was none in time. */
  async makeRoom({ limit, workspace }: BodyTerms): Promise<void> {
    const amount = this.#amount(limit)
    if (this.#room || amount === 0) return
    const { intake } = this
    this.#startedAt = intake.clock.monotonic()
    const budget = workspace === undefined ? intake.strangers : intake.members
    this.#room = await this.#reserve(budget, workspace ?? this.#site, Math.min(amount, Math.max(limit, READ_AHEAD)))
  }

  /**
   * The whole body as text, read no further than its limit. Throws `payload_too_large`, at once where Content-Length tells, and
   * `request_timeout` when the body did not arrive in time.
   */
  async text(terms: BodyTerms): Promise<string> {
    const { limit } = terms
    if ((lengthIn(this.request.headers) ?? 0) > limit) throw tooLarge(limit)
    await this.makeRoom(terms)
    const { body } = this.request
    if (!body) return ''
    this.#room?.shrink(Math.max(LEAST, limit))
    const bytes = await this.#read(body, terms)
    this.#room?.shrink(Math.max(LEAST, bytes.byteLength))
    return decoded(bytes)
  }

  /** What the body takes, as far as its headers tell: nothing for none. */
  #amount(limit: number): number {
    const { headers } = this.request
    const length = lengthIn(headers)
    if (length !== undefined) return length === 0 ? 0 : Math.max(LEAST, length)
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
   * Calls back once the body has had its time. A stranger's has less where others wait for its room: whoever holds it and sends
   * nothing would keep everybody else without a credential out.
   */
  #untilLate(isStranger: boolean, late: () => void): Disposable {
    const { clock, limits, strangers } = this.intake
    const end = this.#startedAt + limits.bodyWithinMs
    const left = () => end - clock.monotonic()
    const look = () => {
      if (left() <= 0 || strangers.waiters > 0) late()
      else timer = clock.after(Math.min(left(), LOOK_EVERY_MS), look)
    }
    let timer = clock.after(isStranger ? Math.min(left(), limits.givesWayAfterMs) : left(), isStranger ? look : late)
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

  /** Told to nobody: the client has gone. */
  #broken(): AppError {
    this.intake.log.debug({ path: new URL(this.request.url).pathname }, 'a client went before its request was complete')
    return new AppError('invalid_input', 'the request ended before it was complete')
  }
}

/** Bun lets a length through that is sent twice, as `5, 5`; two that differ it refuses. */
const lengthIn = (headers: Headers): number | undefined => {
  const length = headers.get('content-length')
  return length === null ? undefined : Number.parseInt(length, 10)
}

const tooLarge = (limit: number): AppError =>
  new AppError('payload_too_large', `the body is larger than ${limit < MIB ? `${limit / KIB} KiB` : `${limit / MIB} MiB`}`)

const decoded = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const message = 'the body is not valid UTF-8'
    throw new AppError('invalid_input', message, { details: [{ path: '', message }] })
  }
}
