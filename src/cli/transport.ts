/** HTTP to one deployment, by Node's own client: it starts sooner than fetch, and says more of what went wrong. */
import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from 'node:http'
import { Failure } from './failure.ts'

export interface Ask {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  body?: string
  /** Sending it twice does no more than sending it once. */
  again: boolean
  /** Takes the body of a success piece by piece instead; `text` then is the end of it. */
  sink?: (bytes: Uint8Array) => Promise<void>
}

export interface Reply {
  status: number
  headers: Record<string, string | undefined>
  text: string
}

export interface Transport {
  url: string
  /** Throws an error of the connection, or one named `Overdue`. */
  exchange(ask: Ask): Promise<Reply>
  close(): void
}

/** A post may take the server 20 s; then it answers all the same. */
const DEADLINE_MS = 30_000
const LARGEST_ANSWER = 256 * 2 ** 20

/** Of a body that has been passed on: enough for its last line to tell how it ended. */
const TAIL_BYTES = 8_192

const headersOf = ({ headers }: IncomingMessage): Reply['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))

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

/** What has begun to be printed cannot be asked for again: a failure from here on is final. */
const passOn = async (response: IncomingMessage, sink: (bytes: Uint8Array) => Promise<void>, limit: Limit): Promise<Buffer> => {
  let tail: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      limit.extend()
      await sink(chunk)
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
    }
    return tail
  } catch (cause) {
    throw new Failure('unavailable', `the response was cut off: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

const read = async (response: IncomingMessage, sink: Ask['sink'], limit: Limit): Promise<Reply> => {
  const status = response.statusCode ?? 0
  const isPassed = sink !== undefined && status >= 200 && status < 300
  const bytes = isPassed ? await passOn(response, sink, limit) : await readWhole(response)
  return { status, headers: headersOf(response), text: bytes.toString('utf8') }
}

const exchanged = (request: ClientRequest, { body, sink }: Ask, limit: Limit): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => read(response, sink, limit).then(resolve, reject))
    request.end(body)
  })

interface Limit extends Disposable {
  signal: AbortSignal
  /** Begins the time anew: something came. */
  extend(): void
}

/** Aborted by the signal, and when nothing has come for too long. */
const limited = (signal: AbortSignal): Limit => {
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

/** One connection is kept for the pages and polls of a command. */
export const openTransport = async (url: string, signal: AbortSignal): Promise<Transport> => {
  const { protocol, pathname } = new URL(url)
  const http = protocol === 'https:' ? await import('node:https') : await import('node:http')
  const agent: PlainAgent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const base = pathname.replace(/\/+$/, '')
  return {
    url,
    async exchange(ask) {
      const { method, path, headers, body } = ask
      using limit = limited(signal)
      const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, agent, headers: { ...headers, ...length }, signal: limit.signal }
      try {
        return await exchanged(http.request(new URL(base + path, url), options), ask, limit)
      } catch (cause) {
        signal.throwIfAborted()
        if (cause instanceof Failure) throw cause
        throw limit.signal.aborted ? Object.assign(new Error(`none within ${DEADLINE_MS / 1_000} s`), { name: 'Overdue' }) : cause
      }
    },
    close: () => agent.destroy(),
  }
}
