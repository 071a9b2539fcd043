/**
 * The one address of several servers: passes each request on to one of them in turn, as a proxy
 * before a deployment does, and can lose connections. Notes what the verdict needs: renewals of
 * sessions, and when streams of hints stood.
 */
import {
  request as ask,
  createServer,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

interface Renewal {
  at: number
  /** The session, and which of its tokens was spent. */
  session: string
  generation: string
  /** 0: no answer arrived. */
  status: number
}

export interface StreamSpan {
  /** The worker's script, which all tabs of one build share. */
  worker: string
  session: string
  opened: number
  closed: number | undefined
}

/** An answer that was passed on. */
export interface Passed {
  at: number
  method: string
  path: string
  status: number
  session: string
  workspace: string
}

export interface Address extends AsyncDisposable {
  url: string
  renewals: Renewal[]
  streams: StreamSpan[]
  /** Which servers requests go to, in turn. */
  route(urls: string[]): void
  /** Breaks every connection. */
  cut(): void
  /** Refuses connections, and breaks those that are open, until `open`. */
  close(): void
  open(): void
  /** Streams that stand receive nothing more, and no error. */
  freeze(): void
  /** Told of each answer that is no file of the console. */
  listen(listener: (passed: Passed) => void): void
}

const cookieIn = ({ headers }: IncomingMessage, name: string): string =>
  new RegExp(`(?:^|; )${name}=([^;]*)`).exec(headers.cookie ?? '')?.[1] ?? ''

/** Of an access token. */
const sessionIn = (token: string): string => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid
  } catch {
    return ''
  }
}

const REFRESH = /^rt_([0-9a-f-]+)\.(\d+)\./
const isRenewal = (path: string): boolean => path.startsWith('/api/v1/app/session/refresh')
const isStream = ({ url, headers }: IncomingMessage): boolean =>
  url === '/api/v1/app/events' && headers.accept === 'text/event-stream'

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

interface Asking {
  url: string
  request: IncomingMessage
  body: Buffer
  abandoned: AbortSignal
}

/** Rejects if no answer begins. */
const answerOf = ({ url, request, body, abandoned }: Asking): Promise<IncomingMessage> => {
  const { method, headers, url: path } = request
  const { hostname, port } = new URL(url)
  const options: RequestOptions = {
    hostname,
    port,
    path,
    method,
    headers: { ...headers, connection: 'close' },
    agent: false,
    signal: abandoned,
  } as RequestOptions
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = ask(options, resolve)
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

const isRefused = (cause: unknown): boolean =>
  ['ECONNREFUSED', 'ConnectionRefused'].includes(String((cause as { code?: string }).code))

/** A server that is gone takes no request, so that the next one can have it. */
const firstAnswer = async (
  urls: readonly string[],
  asking: Omit<Asking, 'url'>,
): Promise<IncomingMessage> => {
  let last: unknown = new Error('there is no server')
  for (const url of urls)
    try {
      return await answerOf({ ...asking, url })
    } catch (cause) {
      last = cause
      if (!isRefused(cause)) break
    }
  throw last
}

export async function openAddress(): Promise<Address> {
  const sockets = new Set<Socket>()
  const standing = new Map<StreamSpan, IncomingMessage>()
  const listeners: ((passed: Passed) => void)[] = []
  const [renewals, streams]: [Renewal[], StreamSpan[]] = [[], []]
  let targets: string[] = []
  let turn = 0
  let isClosed = false

  const renewed = (request: IncomingMessage, status: number): void => {
    const token = cookieIn(request, 'tendril-refresh')
    const [, session = '', generation = ''] = REFRESH.exec(token) ?? []
    renewals.push({ at: Date.now(), session, generation, status })
  }

  const passStream = (request: IncomingMessage, from: IncomingMessage, to: ServerResponse) => {
    const span: StreamSpan = {
      worker: new URL(request.headers.referer ?? 'http://none').pathname,
      session: sessionIn(cookieIn(request, 'tendril')),
      opened: Date.now(),
      closed: undefined,
    }
    streams.push(span)
    standing.set(span, from)
    const ended = (): void => {
      span.closed ??= Date.now()
      standing.delete(span)
    }
    from.on('close', ended)
    to.on('close', ended)
  }

  const pass = (request: IncomingMessage, from: IncomingMessage, to: ServerResponse): void => {
    const path = request.url!
    const status = from.statusCode!
    if (isStream(request) && status === 200) passStream(request, from, to)
    if (isRenewal(path)) renewed(request, status)
    const { connection: _, ...headers } = from.headers
    to.writeHead(status, headers)
    to.flushHeaders()
    from.on('data', (piece) => void to.write(piece))
    from.on('end', () => to.end())
    // An answer that breaks off breaks off here as well.
    const broken = (): void => {
      if (!from.complete) to.socket?.destroy()
    }
    from.on('error', broken)
    from.on('close', broken)
    if (path.startsWith('/console/') && path.includes('.')) return
    const passed: Passed = {
      at: Date.now(),
      method: request.method!,
      path,
      status,
      session: sessionIn(cookieIn(request, 'tendril')),
      workspace: String(request.headers['tendril-workspace'] ?? ''),
    }
    for (const listener of listeners) listener(passed)
  }

  const serve = async (request: IncomingMessage, to: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    to.on('close', () => gone.abort())
    try {
      const body = await bodyOf(request)
      const first = turn++ % Math.max(1, targets.length)
      const inTurn = [...targets.slice(first), ...targets.slice(0, first)]
      pass(request, await firstAnswer(inTurn, { request, body, abandoned: gone.signal }), to)
    } catch {
      if (isRenewal(request.url!)) renewed(request, 0)
      request.socket.destroy()
    }
  }

  const server = createServer((request, response) => void serve(request, response))
  server.on('connection', (socket: Socket) => {
    if (isClosed) return socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    renewals,
    streams,
    route(urls) {
      targets = urls
    },
    cut,
    close() {
      isClosed = true
      cut()
    },
    open() {
      isClosed = false
    },
    freeze() {
      for (const [span, from] of standing) {
        from.removeAllListeners('data')
        from.pause()
        span.closed ??= Date.now()
      }
    },
    listen: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
    },
  }
}
