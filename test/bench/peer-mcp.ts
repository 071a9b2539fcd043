/**
 * What an MCP server of the SDK costs that does nothing: one tool, a constant answer of the size of ours, sessions, no keys, no
 * database. Takes its port from PORT.
 */
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { newId } from '#kernel/ids'
import { MCP_ANSWER } from './mcp-request.ts'

const transports = new Map<string, WebStandardStreamableHTTPServerTransport>()

const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: newId,
    onsessioninitialized: (id) => void transports.set(id, transport),
  })
  const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'status', inputSchema: { type: 'object' as const } }] }))
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text' as const, text: JSON.stringify(MCP_ANSWER) }],
    structuredContent: MCP_ANSWER,
  }))
  await server.connect(transport)
  return transport
}

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  async fetch(request) {
    if (new URL(request.url).pathname === '/health') return new Response('{}')
    const known = transports.get(request.headers.get('mcp-session-id') ?? '')
    return (known ?? (await open())).handleRequest(request)
  },
})
