/**
 * Forwards a request to the process of this deployment that can answer it, over one hop at most.
 */
import { WORKSPACE_HEADER } from '#contract/headers'
import type { Log } from '#kernel/log'

/**
 * Marks a forwarded request. A client that sends it gains nothing, because its request is simply
 * not forwarded.
 */
export const HOP_HEADER = 'x-tendril-hop'

const REQUEST_HEADERS = [
  'authorization',
  'accept',
  'content-type',
  'x-request-id',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
  WORKSPACE_HEADER,
]
/** Headers that only concern the connection between the two processes. */
const OF_CONNECTION = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
]
/** Longer than the keep-alive interval of a stream. */
const SILENT_MS = 20_000

export interface Forwarding {
  /** The base URL of the other process. */
  url: string
  body?: string | undefined
  /** Whether to forward cookies, which hold a browser's credential. */
  cookies?: true
  /** Ends the answer. */
  signal?: AbortSignal
  /** Called once, when the answer has ended or was abandoned. */
  onEnd?: () => void
  log: Log
}

/** Resolves to undefined if the other process could not be reached. */
export const forward = async (
  request: Request,
  { url, body, cookies, log, ...ending }: Forwarding,
): Promise<Response | undefined> => {
  const { pathname, search } = new URL(request.url)
  const silent = new AbortController()
  const watchdog = new Watchdog({
    onSilence: () => silent.abort(),
    ms: SILENT_MS,
    onEnd: ending.onEnd,
  })
  const signal = AbortSignal.any([
    request.signal,
    silent.signal,
    ...(ending.signal ? [ending.signal] : []),
  ])
  try {
    const response = await fetch(new URL(`${pathname}${search}`, url), {
      method: request.method,
      headers: headersFor(request, cookies ? [...REQUEST_HEADERS, 'cookie'] : REQUEST_HEADERS),
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    })
    return relay(response, watchdog)
  } catch (cause) {
    watchdog[Symbol.dispose]()
    if (!request.signal.aborted)
      log.warn({ err: cause, url }, 'another process of this deployment could not be reached')
    return undefined
  }
}

const headersFor = (request: Request, names: readonly string[]): Headers => {
  const headers = new Headers({ [HOP_HEADER]: '1' })
  for (const name of names) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}

/** A watchdog: calls `onSilence` once if `alive` was not called for `ms`. */
class Watchdog implements Disposable {
  readonly #timer: Timer
  #onEnd: (() => void) | undefined

  constructor({
    onSilence,
    ms,
    onEnd,
  }: { onSilence: () => void; ms: number; onEnd: (() => void) | undefined }) {
    this.#timer = setTimeout(onSilence, ms)
    this.#onEnd = onEnd
  }

  alive(): void {
    this.#timer.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#onEnd?.()
    this.#onEnd = undefined
  }
}

const relay = (response: Response, watchdog: Watchdog): Response => {
  const headers = new Headers(response.headers)
  for (const name of OF_CONNECTION) headers.delete(name)
  const { status } = response
  if (!response.body) {
    watchdog[Symbol.dispose]()
    return new Response(null, { status, headers })
  }
  return new Response(watchStream(response.body, watchdog), { status, headers })
}

/** If the other process breaks off, the stream ends here too, and the client reconnects. */
const watchStream = (
  body: ReadableStream<Uint8Array>,
  watchdog: Watchdog,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      watchdog.alive()
      const next = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (next.value) return controller.enqueue(next.value)
      watchdog[Symbol.dispose]()
      controller.close()
    },
    async cancel(reason) {
      watchdog[Symbol.dispose]()
      await reader.cancel(reason)
    },
  })
}
