/** The SDK's client, which most agents use, and plain requests to the MCP endpoint. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CallToolResult,
  ListToolsResultSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import { MCP_PATH } from '#edge/mcp/endpoint'

export interface ConnectOptions {
  key: string
  /** `?toolsets=items`. */
  query?: string
  transport?: StreamableHTTPClientTransportOptions
}

export interface McpClient extends AsyncDisposable {
  client: Client
  transport: StreamableHTTPClientTransport
  sessionId: string
  call(
    name: string,
    args?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<CallToolResult>
  /**
   * The same list as `client.listTools` returns, without compiling a validator for each schema,
   * which takes far longer.
   */
  tools(): Promise<Tool[]>
  toolNames(): Promise<string[]>
  /** Methods of unsolicited notifications. */
  heard: string[]
}

export const connectMcp = async (
  url: string,
  { key, query = '', transport: more = {} }: ConnectOptions,
): Promise<McpClient> => {
  const client = new Client({ name: 'test', version: '1' })
  const heard: string[] = []
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method)
  const transport = new StreamableHTTPClientTransport(new URL(`${url}${MCP_PATH}${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    ...more,
  })
  await client.connect(transport as Parameters<Client['connect']>[0])
  const tools = async () =>
    (await client.request({ method: 'tools/list' }, ListToolsResultSchema)).tools
  return {
    client,
    transport,
    sessionId: transport.sessionId!,
    heard,
    call: async (name, args = {}, meta) =>
      (await client.callTool({
        name,
        arguments: args,
        ...(meta ? { _meta: meta } : {}),
      })) as CallToolResult,
    tools,
    toolNames: async () => (await tools()).map(({ name }) => name),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export interface Rpc {
  key: string | null
  sessionId?: string
  method?: string
  query?: string
  body?: unknown
  headers?: Record<string, string>
}

export const opening = (protocolVersion = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

/** One plain request; its body is not read. */
export const rpc = (
  url: string,
  { key, sessionId, method = 'POST', query = '', body, headers = {} }: Rpc,
): Promise<Response> =>
  fetch(`${url}${MCP_PATH}${query}`, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

export const listing = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

/** Opens a session without a client. Returns its id. */
export const openSession = async (url: string, key: string): Promise<string> => {
  const response = await rpc(url, { key, body: opening() })
  await response.text()
  return response.headers.get('mcp-session-id')!
}

interface Event {
  id: string
  data: string
}

/** The events of a stream, as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let rest = ''
  for await (const text of response.body!.pipeThrough(
    new TextDecoderStream() as never,
  ) as unknown as AsyncIterable<string>) {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop()!
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1]
      if (field('data') !== undefined) yield { id: field('id') ?? '', data: field('data')! }
    }
  }
}
