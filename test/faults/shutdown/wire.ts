/**
 * An HTTP client on plain persistent connections, for tests that must know whether a request was in
 * flight.
 */
import { connect, type Socket } from 'node:net'

export interface WireAnswer {
  /** 0 if the connection ended before a complete answer. */
  status: number
  retryAfter: string | null
  text: string
}

interface WireRequest {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

/** One connection, with one request at a time. */
export interface Wire extends Disposable {
  /** The server or the network has closed it. */
  closed: boolean
  /** Hands the bytes to the system before it returns. */
  send(request: WireRequest): Promise<WireAnswer>
}

const bytesOf = ({ method, path, headers, body = '' }: WireRequest): string => {
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** The answer, once complete. Our server gives every answer a length. */
const parsed = (bytes: Buffer): WireAnswer | undefined => {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.subarray(0, end).toString()
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  if (bytes.length < end + 4 + length) return undefined
  const text = bytes.subarray(end + 4, end + 4 + length).toString()
  return {
    status: Number(head.split(' ')[1]),
    retryAfter: /^retry-after: *(\S+)/im.exec(head)?.[1] ?? null,
    text,
  }
}

const NOTHING: WireAnswer = { status: 0, retryAfter: null, text: '' }

/** Opens a connection; rejects if it is not accepted. */
export async function openWire(url: string): Promise<Wire> {
  const connected = Promise.withResolvers<void>()
  const socket: Socket = connect(
    { host: '127.0.0.1', port: Number(new URL(url).port), noDelay: true },
    () => connected.resolve(),
  )
  let got = Buffer.alloc(0)
  let waiting: ((answer: WireAnswer) => void) | undefined
  const answer = (with_: WireAnswer): void => {
    waiting?.(with_)
    waiting = undefined
    got = Buffer.alloc(0)
  }
  socket.on('data', (bytes: Buffer) => {
    got = Buffer.concat([got, bytes])
    const whole = parsed(got)
    if (whole) answer(whole)
  })
  const wire: Wire = {
    closed: false,
    send: (request) =>
      new Promise((resolve) => {
        waiting = resolve
        if (wire.closed) answer(NOTHING)
        else socket.write(bytesOf(request))
      }),
    [Symbol.dispose]: () => void socket.destroy(),
  }
  socket.on('error', connected.reject)
  socket.on('close', () => {
    wire.closed = true
    answer(NOTHING)
  })
  await connected.promise
  return wire
}
