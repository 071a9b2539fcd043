/**
 * A receiver of webhooks: a real HTTP server on loopback that keeps its requests and answers as the
 * test says.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { eventually } from '../eventually.ts'

export interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** The exact text. */
  body: string
}

export interface ReceiverAnswer {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  /** `before`: no answer comes. `within`: the answer begins with `body` and never ends. */
  hang?: 'before' | 'within'
  /** Instead of an HTTP answer: these bytes, then the end. */
  raw?: string
}

export interface Receiver extends AsyncDisposable {
  port: number
  url: string
  /** Oldest first. */
  requests: Received[]
  /** The answer to every request; a function gets the request. */
  answer: ReceiverAnswer | ((request: Received) => ReceiverAnswer | Promise<ReceiverAnswer>)
  /** Resolves with all requests once there are `count`. */
  received(count: number): Promise<Received[]>
}

const respond = (
  response: ServerResponse,
  { status = 204, headers = {}, body = '', hang, raw }: ReceiverAnswer,
): void => {
  if (raw !== undefined) return void response.socket?.end(raw)
  if (hang === 'before') return
  response.writeHead(status, headers)
  if (hang === 'within') response.write(body)
  else response.end(body)
}

export const openReceiver = async (): Promise<Receiver> => {
  const sockets = new Set<Socket>()
  const requests: Received[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', async () => {
      const { method = '', url = '', headers } = incoming
      const request = { method, url, headers, body: Buffer.concat(chunks).toString() }
      requests.push(request)
      const { answer } = receiver
      respond(response, typeof answer === 'function' ? await answer(request) : answer)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    port,
    url: `http://127.0.0.1:${port}/`,
    requests,
    answer: {},
    received: (count) =>
      eventually(
        async () => [...requests],
        (all) => all.length >= count,
      ),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
  return receiver
}
