/** A request of a session that lives in another process of this deployment, passed on to it as it came, one hop at most. */
import type { Log } from '#kernel/log'

/** Says that a request was passed on before. Whoever sends it himself only keeps his request from being passed on. */
export const HOP_HEADER = 'x-tendril-hop'

const REQUEST_HEADERS = [
  'authorization',
  'accept',
  'content-type',
  'x-request-id',
  'last-event-id',
  'mcp-session-id',
  'mcp-protocol-version',
]
/** They belong to the connection between the two processes. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding']
/** Longer than the pauses between two signs of life on a stream. */
const SILENT_MS = 20_000

export interface PassedOn {
  /** Where the other process takes requests. */
  url: string
  /** As it was read here. */
  body: string | undefined
  log: Log
}

/** Undefined: the other process could not be reached. */
export const passOn = async (request: Request, { url, body, log }: PassedOn): Promise<Response | undefined> => {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers({ [HOP_HEADER]: '1' })
  for (const name of REQUEST_HEADERS) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const silent = new AbortController()
  const watch = new Watch(() => silent.abort(), SILENT_MS)
  const signal = AbortSignal.any([request.signal, silent.signal])
  try {
    const response = await fetch(new URL(`${pathname}${search}`, url), {
      method: request.method,
      headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    })
    return answered(response, watch)
  } catch (cause) {
    watch[Symbol.dispose]()
    if (!request.signal.aborted) log.warn({ err: cause, url }, 'the process of an MCP session could not be reached')
    return undefined
  }
}

/** Calls once when it was not told of any life for a while. */
class Watch implements Disposable {
  readonly #timer: Timer

  constructor(onSilence: () => void, ms: number) {
    this.#timer = setTimeout(onSilence, ms)
  }

  alive(): void {
    this.#timer.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

const answered = (response: Response, watch: Watch): Response => {
  const headers = new Headers(response.headers)
  for (const name of OF_CONNECTION) headers.delete(name)
  const { status } = response
  if (!response.body) {
    watch[Symbol.dispose]()
    return new Response(null, { status, headers })
  }
  return new Response(passing(response.body, watch), { status, headers })
}

/** An owner that breaks off ends the stream here too, and the client comes again. */
const passing = (body: ReadableStream<Uint8Array>, watch: Watch): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      watch.alive()
      const next = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (next.value) return controller.enqueue(next.value)
      watch[Symbol.dispose]()
      controller.close()
    },
    async cancel(reason) {
      watch[Symbol.dispose]()
      await reader.cancel(reason)
    },
  })
}
