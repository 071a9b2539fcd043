/** Sessions with an MCP server over HTTP, whose answers a test scripts byte for byte. */
import { afterEach } from 'bun:test'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import type { McpClientSession } from '#port/mcp-client/client'
import { createMcpClient } from '#port/mcp-client/open'
import { use } from '../use.ts'
import { never } from './desk.ts'
import { type HttpRequest, type Message, openHttpMcp } from './fake-mcp.ts'

export const messageOf = ({ body }: HttpRequest): Message => JSON.parse(body)
export const methodOf = (request: HttpRequest): string =>
  request.body === '' ? '' : (messageOf(request).method ?? '')

export const response = (status: string, body: string | Buffer = '', headers = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ])

export const json = (value: unknown): Buffer =>
  response('200 OK', JSON.stringify(value), 'content-type: application/json\r\n')

/**
 * A server for the tests of a file. Whatever a test opens is closed after it, and its scripts are
 * forgotten.
 */
export const useMcpOverHttp = () => {
  const fake = use(openHttpMcp)
  const opened: McpClientSession[] = []
  afterEach(async () => {
    fake.on = {}
    fake.intercept = () => false
    await Promise.all(opened.splice(0).map((server) => server.close()))
    fake.messages.length = 0
    fake.requests.length = 0
  })
  const clientOf = (allow: string[] = [], deadlineMs = 20_000) =>
    createMcpClient({
      egress: createEgress({
        rules: {
          allow: new Set([`127.0.0.1:${fake.port}`, ...allow]),
          own: new Set(['tendril.example.com:443']),
        },
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      }),
      programs: [],
      home: '/nowhere',
      log: createLog('silent'),
      version: '0',
      deadlineMs,
    })
  const open = async (
    headers: Record<string, string> = {},
    deadlineMs?: number,
  ): Promise<McpClientSession> => {
    const url = `http://127.0.0.1:${fake.port}/mcp?team=1`
    const server = await clientOf([], deadlineMs).open(
      { transport: 'streamable_http', url, headers },
      { signal: never(), tenantId: 'w' },
    )
    opened.push(server)
    return server
  }
  const call = (server: McpClientSession) =>
    server.call('echo', { text: 'hi' }, { idempotencyKey: 'step', signal: never() })
  /** Answers requests of this method with these bytes. */
  const raw = (
    method: string,
    bytes: string | Buffer | ((request: HttpRequest) => string | Buffer),
  ): void => {
    fake.intercept = (request, socket) => {
      if (methodOf(request) !== method) return false
      socket.end(typeof bytes === 'function' ? bytes(request) : bytes)
      return true
    }
  }
  return { call, clientOf, fake, open, raw }
}
