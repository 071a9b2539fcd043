/**
 * An MCP server that says what a test wants, byte for byte, over HTTP or to the input of a program.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Message {
  jsonrpc: '2.0'
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { code: number }
}

/** Where the answer to a message goes. */
export interface Wire {
  /** One message; a text is sent as it is, in the frame of one. */
  say(message: unknown): void
  /** Bytes without a frame. */
  raw(text: string | Buffer): void
  /** Ends this answer. */
  done(): void
  /** Breaks off. */
  cut(): void
}

type Script = (message: Message, wire: Wire) => void

export interface FakeMcp extends AsyncDisposable {
  readonly port: number
  /** What arrived, oldest first. */
  readonly messages: Message[]
  /** Replaces the answer to a method. */
  on: Record<string, Script>
  /** Messages of this method. */
  of(method: string): Message[]
  readonly sockets: ReadonlySet<Socket>
}

export const tool = (changes: Record<string, unknown> = {}) => ({
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...changes,
})

export const result = ({ id }: Message, value: unknown) => ({ jsonrpc: '2.0', id, result: value })
export const text = (message: Message, said: string) =>
  result(message, { content: [{ type: 'text', text: said }] })

const answer =
  (make: (message: Message) => unknown): Script =>
  (message, wire) => {
    wire.say(result(message, make(message)))
    wire.done()
  }

export const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'fake', version: '1' },
}

/** Undefined for messages that need no answer. */
const honest: Record<string, Script> = {
  initialize: answer(() => initialized),
  'tools/list': answer(() => ({ tools: [tool()] })),
  'tools/call': answer(({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params?.arguments) }],
  })),
}

/** Yields whole requests of an HTTP connection, one at a time. */
export interface HttpRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

const requestOf = (bytes: Buffer): HttpRequest | undefined => {
  const all = bytes.toString('latin1')
  const end = all.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = all.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const body = bytes.subarray(end + 4)
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined
  const [method = '', path = ''] = first.split(' ')
  return { method, path, headers, body: body.toString() }
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

export const SESSION = 'session-1'
const HEAD = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nmcp-session-id: ${SESSION}\r\ntransfer-encoding: chunked\r\n\r\n`

const eventWire = (socket: Socket): Wire => {
  let isBegun = false
  const raw = (bytes: string | Buffer) => {
    if (!isBegun) socket.write(HEAD)
    isBegun = true
    socket.write(chunk(Buffer.from(bytes)))
  }
  return {
    say: (message) =>
      raw(`data: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`),
    raw,
    done: () => void socket.end('0\r\n\r\n'),
    cut: () => void socket.end(),
  }
}

const lineWire = (socket: Socket): Wire => ({
  say: (message) =>
    void socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
  raw: (bytes) => void socket.write(bytes),
  done: () => {},
  cut: () => void socket.end(),
})

const listening = async (accept: (socket: Socket, fake: FakeMcp) => void): Promise<FakeMcp> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    accept(socket, fake)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const messages: Message[] = []
  const fake: FakeMcp = {
    port: (server.address() as AddressInfo).port,
    messages,
    on: {},
    sockets,
    of: (method) => messages.filter((message) => message.method === method),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
  return fake
}

const told = (fake: FakeMcp, message: Message, wire: Wire): void => {
  fake.messages.push(message)
  const script = fake.on[message.method ?? ''] ?? honest[message.method ?? '']
  script?.(message, wire)
}

export interface FakeHttpMcp extends FakeMcp {
  readonly requests: HttpRequest[]
  /** Answers a request itself, unless it returns false. */
  intercept: (request: HttpRequest, socket: Socket) => boolean
}

export const openHttpMcp = async (): Promise<FakeHttpMcp> => {
  const requests: HttpRequest[] = []
  const fake = await listening((socket) => {
    let bytes = Buffer.alloc(0)
    socket.on('data', (more: Buffer) => {
      bytes = Buffer.concat([bytes, more])
      const request = requestOf(bytes)
      if (!request) return
      bytes = Buffer.alloc(0)
      requests.push(request)
      if (http.intercept(request, socket)) return
      if (request.method !== 'POST')
        return void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      const message = JSON.parse(request.body) as Message
      if (message.id === undefined || message.method === undefined)
        socket.end('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n')
      told(http, message, eventWire(socket))
    })
  })
  const http: FakeHttpMcp = Object.assign(fake, { requests, intercept: () => false })
  return http
}

/** Answers programs that forward their input. */
export const openLineMcp = (): Promise<FakeMcp> =>
  listening((socket, fake) => {
    let left = ''
    socket.setEncoding('utf8')
    socket.on('data', (more) => {
      const lines = (left + more).split('\n')
      left = lines.pop() ?? ''
      for (const line of lines) told(fake, JSON.parse(line), lineWire(socket))
    })
  })

/** A program that connects its input and output to the port. */
export const relayTo = (port: number) => ({
  command: 'bash',
  args: ['-c', 'exec 4<&0 3<>/dev/tcp/127.0.0.1/$0; cat <&4 >&3 & cat <&3 & wait -n', String(port)],
  network: true,
})
