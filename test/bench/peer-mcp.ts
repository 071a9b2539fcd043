/**
 * The SDK's own server and transport with nothing behind them, in a process of its own: a list of
 * tools as long as ours, and one tool that answers a constant. With PEER=1, the SDK's previous
 * version.
 */

import { Server as FirstServer } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport as FirstTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { operations } from '#contract/index'
import { describeTools, toolsOf } from '#edge/mcp/tools'
import type { Operation } from '#ops/engine/bind'

const declared = new Map(operations.map((o) => [o.id, o as unknown as Operation]))
const tools = describeTools(toolsOf(declared))
const account = {
  id: crypto.randomUUID(),
  network: 'sandbox',
  external_id: '1',
  handle: 'me',
  status: 'connected',
  is_default: true,
}
const answer = {
  connection: {
    connected: true,
    tier: 'free',
    account: { ...account, created_at: new Date(), updated_at: new Date() },
  },
}
const result = () => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  structuredContent: structuredClone(answer),
})

interface Transport {
  handleRequest(request: Request): Promise<Response>
}

const options = (opened: (id: string) => void) => ({
  sessionIdGenerator: () => crypto.randomUUID(),
  onsessioninitialized: opened,
})
const info = [{ name: 'peer', version: '1' }, { capabilities: { tools: {} } }] as const

const second = async (opened: (id: string) => void): Promise<Transport> => {
  const server = new Server(...info)
  server.setRequestHandler('tools/list', async () => ({ tools }))
  server.setRequestHandler('tools/call', async () => result())
  const transport = new WebStandardStreamableHTTPServerTransport(options(opened))
  await server.connect(transport)
  return transport
}

const first = async (opened: (id: string) => void): Promise<Transport> => {
  const server = new FirstServer(...info)
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }) as never)
  server.setRequestHandler(CallToolRequestSchema, async () => result())
  const transport = new FirstTransport(options(opened))
  await server.connect(transport)
  return transport
}

const sessions = new Map<string, Transport>()
const open = process.env.PEER === '1' ? first : second

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.url.endsWith('/health')) return Response.json({ status: 'ok' })
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    const transport = known ?? (await open((id) => void sessions.set(id, transport)))
    return transport.handleRequest(request)
  },
})
process.on('SIGTERM', () => process.exit(0))
