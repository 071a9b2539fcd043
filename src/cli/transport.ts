/**
 * HTTP to one deployment. Uses Node's own client, which starts faster than fetch and gives more
 * precise errors.
 */
import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from 'node:http'
import { Failure } from './failure.ts'

export interface Ask {
  method: string
  /** Including the query. */
  path: string
  headers: Record<string, string>
  body?: string
  /** Whether it is safe to send twice. */
  again: boolean
  /** Receives the body of a successful answer in pieces. In that case, `text` is only its end. */
  sink?: (bytes: Uint8Array) => Promise<void>
}

export interface Reply {
  status: number
  headers: Record<string, string | undefined>
  text: string
}

export interface Transport {
  url: string
  /** Throws a connection error, or one named `Overdue`. */
  exchange(ask: Ask): Promise<Reply>
  close(): void
}

/** Longer than the 20 s after which the server answers a post in any case. */
const DEADLINE_MS = 30_000
const LARGEST_ANSWER = 256 * 2 ** 20

/**
 * How much of a streamed body to keep, in characters. Enough for its last line, which may be an
 * error.
 */
const TAIL_BYTES = 8_192

const headersOf = ({ headers }: IncomingMessage): Reply['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )

const readWhole = async (response: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > LARGEST_ANSWER) throw new Failure('internal', 'the response exceeds 256 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Output has begun, so a failure from now on cannot be retried. */
const passOn = async (
  response: IncomingMessage,
  sink: (bytes: Uint8Array) => Promise<void>,
  limit: Limit,
): Promise<Buffer> => {
  let tail: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      limit.extend()
      await sink(chunk)
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
    }
    return tail
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `the response was cut off: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
}

const read = async (response: IncomingMessage, sink: Ask['sink'], limit: Limit): Promise<Reply> => {
  const status = response.statusCode ?? 0
  const isPassed = sink !== undefined && status >= 200 && status < 300
  const bytes = isPassed ? await passOn(response, sink, limit) : await readWhole(response)
  return { status, headers: headersOf(response), text: bytes.toString('utf8') }
}

const sendRequest = (request: ClientRequest, { body, sink }: Ask, limit: Limit): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => read(response, sink, limit).then(resolve, reject))
    // Sent as bytes. For a string, Node would also write the headers before it as UTF-8, which
    // would encode headers a second time.
    request.end(body === undefined ? undefined : Buffer.from(body))
  })

interface Limit extends Disposable {
  signal: AbortSignal
  /** Restarts the timeout. */
  extend(): void
}

/** Aborts with the signal, or when nothing has arrived for too long. */
const createLimit = (signal: AbortSignal): Limit => {
  const controller = new AbortController()
  const stop = () => controller.abort()
  let timer = setTimeout(stop, DEADLINE_MS)
  signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    extend() {
      clearTimeout(timer)
      timer = setTimeout(stop, DEADLINE_MS)
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
}

/** Keeps one connection for the pages and polls of a command. */
export const openTransport = async (url: string, signal: AbortSignal): Promise<Transport> => {
  const { protocol, pathname } = new URL(url)
  const http = protocol === 'https:' ? await import('node:https') : await import('node:http')
  const agent: PlainAgent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const base = pathname.replace(/\/+$/, '')
  return {
    url,
    async exchange(ask) {
      const { method, path, headers, body } = ask
      using limit = createLimit(signal)
      const length: Record<string, string> =
        body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, agent, headers: { ...headers, ...length }, signal: limit.signal }
      try {
        return await sendRequest(http.request(new URL(base + path, url), options), ask, limit)
      } catch (cause) {
        signal.throwIfAborted()
        if (cause instanceof Failure) throw cause
        throw limit.signal.aborted
          ? Object.assign(new Error(`none within ${DEADLINE_MS / 1_000} s`), { name: 'Overdue' })
          : cause
      }
    },
    close: () => agent.destroy(),
  }
}
