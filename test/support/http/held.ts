/** Connections whose requests a test sends byte by byte, and may never finish. */
import { connect, type Socket } from 'node:net'

export interface Held extends Disposable {
  /** The bytes received so far. */
  reply(): string
  /** Whether the other end has closed the connection. */
  closed(): boolean
  send(bytes: string | Uint8Array): void
  /** Resets the connection, like a client that dies. */
  abort(): void
}

export interface HeldRequest {
  method?: string
  path: string
  headers?: Record<string, string>
  /** Content-Length; undefined sends no such header. */
  length?: number | undefined
  /** The part of the body that is sent. */
  body?: string | Uint8Array
  /** The local address of the connection. */
  from?: string
}

const headOf = (
  host: string,
  { method = 'POST', path, headers = {}, length }: HeldRequest,
): string => {
  const all: Record<string, string> = {
    host,
    ...headers,
    ...(length === undefined ? {} : { 'content-length': String(length) }),
  }
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

/** Connects, and sends the head and the given part of the body. */
export const hold = async (url: string, request: HeldRequest): Promise<Held> => {
  const { hostname, port, host } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(
    { host: hostname, port: Number(port), ...(request.from ? { localAddress: request.from } : {}) },
    () => resolve(socket),
  )
  let reply = ''
  let closed = false
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    reply += text
  })
  socket.once('error', reject)
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  await promise
  socket.write(headOf(host, request))
  if (request.body !== undefined) socket.write(request.body)
  return {
    reply: () => reply,
    closed: () => closed,
    send: (bytes) => void socket.write(bytes),
    abort: () => void socket.resetAndDestroy(),
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

export const holdMany = (
  url: string,
  count: number,
  request: (n: number) => HeldRequest,
): Promise<Held[]> => Promise.all(Array.from({ length: count }, (_, n) => hold(url, request(n))))

/** The status of the answer, or undefined if there is none yet. */
export const statusOf = (held: Held): number | undefined => {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(held.reply()) ?? []
  return status === undefined ? undefined : Number(status)
}
