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

const read = async (response: IncomingMessage): Promise<Reply> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > LARGEST_ANSWER) throw new Failure('internal', 'the answer is larger than 256 MiB')
    chunks.push(chunk)
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
  return { status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString('utf8') }
}

const exchanged = (request: ClientRequest, body: string | undefined): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => read(response).then(resolve, reject))
    request.end(body)
  })

/** Aborted by the signal, and when a request has lasted too long. */
const limited = (signal: AbortSignal): Disposable & { signal: AbortSignal } => {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const timer = setTimeout(stop, DEADLINE_MS)
  signal.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
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
    async exchange({ method, path, headers, body }) {
      using limit = limited(signal)
      const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, agent, headers: { ...headers, ...length }, signal: limit.signal }
      try {
        return await exchanged(http.request(new URL(base + path, url), options), body)
      } catch (cause) {
        signal.throwIfAborted()
        throw limit.signal.aborted ? Object.assign(new Error(`none within ${DEADLINE_MS / 1_000} s`), { name: 'Overdue' }) : cause
      }
    },
    close: () => agent.destroy(),
  }
}
