/** Requests of an MCP client as bytes, and how it opens a session. */
import { requestOf } from './requests.ts'

/** An answer of the size of the connection's. */
export const MCP_ANSWER = {
  connection: {
    connected: true,
    tier: 'free',
    account: {
      id: '01a1fe7e-1515-746e-a561-b978ccc8aafa',
      network: 'sandbox',
      external_id: '2124146807071047680',
      handle: 'bench-01a1fe7e-1515-746e-a561-b978ccc8aafa',
      status: 'connected',
      is_default: true,
      created_at: '2026-11-21T14:23:58.228Z',
      updated_at: '2026-11-21T14:23:58.228Z',
    },
  },
}

export const MCP_PATH = '/api/v1/mcp'
const VERSION = '2025-11-25'
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const opening = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** The id of a new session. */
export const openSession = async (port: number, headers: Record<string, string>): Promise<string> => {
  const send = (body: unknown, more: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${MCP_PATH}`, {
      method: 'POST',
      headers: { ...HEADERS, ...headers, ...more },
      body: JSON.stringify(body),
    })
  const response = await send(opening)
  await response.text()
  const id = response.headers.get('mcp-session-id')
  if (!response.ok || id === null) throw new Error(`no session: ${response.status}`)
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': id })
  return id
}

/** No two requests of a session may have the same id while they run. A call of a tool without arguments, within a session or, from 2026-07-28 on, without one. */
export const callOf = (tool: string, headers: Record<string, string>): string =>
  requestOf(
    `POST ${MCP_PATH}`,
    { ...HEADERS, ...headers },
    JSON.stringify({ jsonrpc: '2.0', id: '{n}', method: 'tools/call', params: { name: tool } }),
  )

export const listOf = (headers: Record<string, string>): string =>
  requestOf(`POST ${MCP_PATH}`, { ...HEADERS, ...headers }, JSON.stringify({ jsonrpc: '2.0', id: '{n}', method: 'tools/list', params: {} }))
