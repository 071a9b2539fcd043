/**
 * Operations whose answer continues with what happens, as server-sent events. The process that owns
 * the workspace is told about each commit, and about the text of models. Another process passes the
 * stream on to the owner. If that is impossible, it reads rows, without the text.
 */
import type { NamedOp } from '#contract/op'
import { AppError, fail } from '#kernel/errors'
import { FairLimit, type Holder, type Limits } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'
import type { LocalBus } from '#ops/agent/job/bus'
import type { Bound } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import type { Db } from '#store/engine/db'
import { ownerOf } from '#store/engine/placement'
import { forward, HOP_HEADER } from '../forward.ts'
import type { Incoming } from '../incoming.ts'
import { inputOf } from '../input.ts'
import { limitHeaders } from '../respond.ts'
import { Follower, type Look } from './follower.ts'

export interface StreamTimes {
  /**
   * The time between comments. Before each, the stream checks whether the caller still has access.
   * Well below the idle timeout of a connection.
   */
  commentMs: number
  /** The time between reads of rows if this process does not own the workspace. */
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

export interface StreamDeps {
  db: Db
  bus: LocalBus
  log: Log
  incarnation(): string
  /** Whether all letters of the workspace run here. */
  owns(tenantId: string): boolean
  times?: Partial<StreamTimes> | undefined
  limits?: Partial<Limits> | undefined
}

interface Asked {
  o: Bound<'query'>
  incoming: Incoming
  call: Call
}

/** A stream while it is open. */
interface Open {
  tick?(): void
  /** Ends the stream after a last comment. */
  end(): void
}

interface Input {
  id: string
  after?: number
}

const TYPE = 'text/event-stream'

/** Whether a request asks for a stream, and the operation has one. */
export const wantsStream = ({ stream }: NamedOp, { method, headers }: Request): boolean =>
  stream === true && method === 'GET' && (headers.get('accept') ?? '').toLowerCase().includes(TYPE)

export class Streams implements Disposable {
  readonly #open = new Set<Open>()
  readonly #slots: FairLimit
  readonly #passedOn = new FairLimit(PASSED_ON)
  readonly #times: StreamTimes
  readonly #timer: Timer
  #isClosing = false

  constructor(private readonly deps: StreamDeps) {
    this.#times = { ...usualTimes, ...deps.times }
    this.#slots = new FairLimit({ ...LIMITS, ...deps.limits })
    this.#timer = setInterval(() => {
      for (const open of this.#open) open.tick?.()
    }, this.#times.lookMs)
  }

  /** Ends all streams. Their clients reconnect to another process. */
  [Symbol.dispose](): void {
    this.#isClosing = true
    clearInterval(this.#timer)
    for (const open of this.#open) open.end()
  }

  /**
   * Rejects with the operation's errors, with `rate_limited:streams`, and with `unavailable` while
   * the process is stopping.
   */
  async open(asked: Asked): Promise<Response> {
    const { o, incoming, call } = asked
    const input = withLastId(await inputOf(o, incoming, call.tenantId), incoming.request)
    const id = String(input.id).toLowerCase()
    const follower = new Follower({ id, look: lookOf(asked, input), log: this.deps.log })
    // Subscribes before the first read, so that nothing is missed between it and the next.
    follower.onEnd(this.deps.bus.subscribe(id, (news) => follower.hear(news)))
    try {
      const { body, allowances } = await o.run(() => input, call)
      const first = JSON.parse(body) as Look
      const passed = first.done ? undefined : await this.#passOn(asked)
      if (passed) follower.body.drop()
      else this.#begin(follower, first, call)
      return passed ?? eventResponse(follower.body.stream, call.requestId, limitHeaders(allowances))
    } catch (cause) {
      follower.body.drop()
      throw cause
    }
  }

  /** Takes a slot, and returns what frees it. Rejects if there is no room. */
  #admit(open: Open, call: Call): Disposable {
    if (this.#isClosing) fail('unavailable', 'the server is stopping, try again', { retryAfter: 2 })
    const release = this.#slots.take(holderOf(call, open))
    this.#open.add(open)
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(open)
        release()
      },
    }
  }

  #begin(follower: Follower, first: Look, call: Call): void {
    const { commentMs } = this.#times
    let commentAt = performance.now() + commentMs
    const tick = () => {
      if (performance.now() < commentAt)
        return this.deps.owns(call.tenantId) ? follower.retry() : follower.look()
      commentAt += commentMs
      follower.comment()
    }
    follower.onEnd(this.#admit({ tick, end: () => follower.end() }, call))
    follower.begin(first)
  }

  /**
   * The stream of the process that owns the workspace, if that is another one and can be reached.
   */
  async #passOn({ incoming: { request }, call }: Asked): Promise<Response | undefined> {
    const { db, log, owns, incarnation } = this.deps
    if (owns(call.tenantId) || request.headers.has(HOP_HEADER)) return undefined
    const owner = await ownerOf(db, call.tenantId)
    if (typeof owner === 'string' || owner.incarnation === incarnation()) return undefined
    const gone = new AbortController()
    const open = { end: () => gone.abort() }
    const leave = this.#placeAmongPassedOn(open, call)
    if (!leave) return undefined
    using places = new DisposableStack()
    places.defer(leave)
    places.use(this.#admit(open, call))
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

  /** Undefined if there is no place. Then the rows are read here. */
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

const eventResponse = (
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

const LAST_ID = 'Last-Event-ID'

/** A client that reconnects names the last event that it has, and gets its first answer at once. */
const withLastId = (
  { wait: _, ...input }: Record<string, unknown>,
  { headers }: Request,
): Input => {
  const last = headers.get(LAST_ID) ?? ''
  if (last === '') return input as unknown as Input
  if (/^\d{1,15}$/.test(last)) return { ...input, after: Number(last) } as unknown as Input
  const message = 'must be the id of an event'
  throw new AppError('invalid_input', `${LAST_ID} ${message}`, {
    details: [{ path: LAST_ID, message }],
  })
}

/**
 * Reads more, with the same checks as the first read. These reads do not count against any rate.
 */
const lookOf = ({ o, call }: Asked, input: Input): ((after: number) => Promise<Look>) => {
  const again: Call = { ...call, plan: undefined }
  return async (after) => JSON.parse((await o.run(() => ({ ...input, after }), again)).body) as Look
}
