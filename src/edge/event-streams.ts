/**
 * What all streams of server-sent events share: their places, their timer, and the way to the
 * process that owns the workspace.
 */
import type { NamedOp } from '#contract/op'
import { fail } from '#kernel/errors'
import { FairLimit, type Holder, type Limits } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { Bound } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import type { Db } from '#store/engine/db'
import { ownerOf } from '#store/engine/placement'
import { forward, HOP_HEADER } from './forward.ts'
import type { Incoming } from './incoming.ts'

export interface StreamTimes {
  /**
   * The time between comments. Before each, the stream checks whether the caller still has access.
   * Well below the idle timeout of a connection.
   */
  commentMs: number
  /**
   * The time between looks: at rows if this process does not own the workspace, or whether it still
   * does.
   */
  lookMs: number
}

const usualTimes: StreamTimes = { commentMs: 15_000, lookMs: 1_000 }
/** A party is a credential. */
const LIMITS = { name: 'streams', share: 20, perWorkspace: 200, total: 1_000, retryAfter: 5 }
/**
 * The limits for streams that another process answers. Each takes a connection to it, and Bun opens
 * 512 at once, which letters need as well.
 */
const PASSED_ON = { ...LIMITS, perWorkspace: 64, total: 192 }

interface PlacesDeps {
  db: Db
  log: Log
  incarnation(): string
  /** Whether all letters of the workspace run here. */
  owns(tenantId: string): boolean
  times?: Partial<StreamTimes> | undefined
  limits?: Partial<Limits> | undefined
}

/** A request for a stream whose caller is known. */
export interface Asked {
  o: Bound<'query'>
  incoming: Incoming
  call: Call
}

/** A stream while it is open. */
interface Open {
  look?(): void
  /** Checks whether the caller still has access, and writes a comment if so. */
  comment?(): void
  /** Ends the stream after a last comment. */
  end(): void
}

const TYPE = 'text/event-stream'

/** Whether a request asks for a stream, and the operation has one. */
export const wantsStream = ({ stream }: NamedOp, { method, headers }: Request): boolean =>
  stream !== undefined &&
  method === 'GET' &&
  (headers.get('accept') ?? '').toLowerCase().includes(TYPE)

export class StreamPlaces implements Disposable {
  readonly #open = new Map<Open, number>()
  readonly #slots: FairLimit
  readonly #passedOn = new FairLimit(PASSED_ON)
  readonly #times: StreamTimes
  readonly #timer: Timer
  #isClosing = false

  constructor(private readonly deps: PlacesDeps) {
    this.#times = { ...usualTimes, ...deps.times }
    this.#slots = new FairLimit({ ...LIMITS, ...deps.limits })
    this.#timer = setInterval(() => this.#tick(), this.#times.lookMs)
  }

  /** The number of open streams. */
  get count(): number {
    return this.#open.size
  }

  /** Ends all streams. Their clients reconnect to another process. */
  [Symbol.dispose](): void {
    this.#isClosing = true
    clearInterval(this.#timer)
    for (const open of this.#open.keys()) open.end()
  }

  /** Takes a place, and returns what frees it. Rejects if there is no room. */
  admit(open: Open, call: Call): Disposable {
    if (this.#isClosing) fail('unavailable', 'the server is stopping, try again', { retryAfter: 2 })
    const release = this.#slots.take(holderOf(call, open))
    this.#open.set(open, performance.now() + this.#times.commentMs)
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(open)
        release()
      },
    }
  }

  #tick(): void {
    const now = performance.now()
    for (const [open, commentAt] of this.#open) {
      if (now < commentAt) open.look?.()
      else {
        this.#open.set(open, commentAt + this.#times.commentMs)
        open.comment?.()
      }
    }
  }

  /**
   * The stream of the process that owns the workspace, if that is another one and can be reached.
   */
  async passOn({ incoming: { request }, call }: Asked): Promise<Response | undefined> {
    const { db, log, incarnation, owns } = this.deps
    if (request.headers.has(HOP_HEADER)) return undefined
    const owner = await ownerOf(db, call.tenantId)
    if (typeof owner === 'string' || owner.incarnation === incarnation()) return undefined
    const gone = new AbortController()
    const end = () => gone.abort()
    // The former owner may hang, and would keep the stream open without a word.
    const look = () => owns(call.tenantId) && end()
    const open = { end, look }
    const leave = this.#placeAmongPassedOn(open, call)
    if (!leave) return undefined
    using places = new DisposableStack()
    places.defer(leave)
    places.use(this.admit(open, call))
    const taken = places.move()
    const onEnd = () => taken.dispose()
    const response = await forward(request, {
      url: owner.url,
      cookies: true,
      signal: gone.signal,
      onEnd,
      log,
    })
    if (!response || response.status < 500) return response
    await response.body?.cancel()
    return undefined
  }

  /** Undefined if there is no place. */
  #placeAmongPassedOn(open: Open, call: Call): (() => void) | undefined {
    try {
      return this.#passedOn.take(holderOf(call, open))
    } catch {
      return undefined
    }
  }
}

const holderOf = ({ principal, tenantId }: Call, open: Open): Holder => ({
  party: `${principal.kind} ${principal.id}`,
  workspace: tenantId,
  giveUp: () => open.end(),
})

export const eventResponse = (
  body: ReadableStream<Uint8Array>,
  requestId: string,
  limits: Record<string, string>,
): Response =>
  new Response(body, {
    headers: {
      'content-type': TYPE,
      // Keeps proxies from holding events back or changing them.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': requestId,
      ...limits,
    },
  })
