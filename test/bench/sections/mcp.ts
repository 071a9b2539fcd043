/**
 * Tool calls a second, compared with the same operation over REST and with bare servers of the SDK.
 */
import { MCP_PATH } from '#edge/mcp/endpoint'
import { opening, rpc } from '../../support/mcp/mcp.ts'
import { type Contestant, figuresOf, peerOf, takeTurns, warmUp } from '../contest.ts'
import type { Goal, Row } from '../figures.ts'
import { get, requestOf } from '../requests.ts'
import { load, type Running, startProcess } from '../spawn.ts'
import type { Tenant, World } from '../world.ts'

export interface McpSizes {
  seconds: number
  rounds: number
  callers: number
  /** For each contestant, at most. */
  warmUpRounds: number
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const TOOL = 'growth_connection_status'

type Method = 'tools/call' | 'tools/list'

const message = (method: Method, meta: object = {}): string => {
  const params = { ...(method === 'tools/call' ? { name: TOOL, arguments: {} } : {}), ...meta }
  // Simultaneous requests of a session need different ids.
  return JSON.stringify({ jsonrpc: '2.0', id: '{n}', method, params })
}

const inSession = async ({ port }: Running, { key }: Tenant, method: Method): Promise<string> => {
  const response = await rpc(`http://127.0.0.1:${port}`, { key, body: opening() })
  await response.text()
  const session = response.headers.get('mcp-session-id') ?? ''
  const headers = {
    authorization: `Bearer ${key}`,
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-11-25',
    ...HEADERS,
  }
  return requestOf(`POST ${MCP_PATH}`, headers, message(method))
}

const withoutSession = ({ key }: Tenant, method: Method): string => {
  const standard = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(method === 'tools/call' ? { 'mcp-name': TOOL } : {}),
  }
  return requestOf(
    `POST ${MCP_PATH}`,
    { authorization: `Bearer ${key}`, ...standard, ...HEADERS },
    message(method, { _meta: ENVELOPE }),
  )
}

export async function mcp(
  world: World,
  server: Running,
  { seconds, rounds, callers, warmUpRounds }: McpSizes,
): Promise<Row[]> {
  const tenant = world.tenants[0]!
  await world.owner`update api_key set scopes = array['api:read', 'api:write', 'mcp:use']
    where tenant_id = ${tenant.id}`
  await using bare = await startProcess([process.execPath, 'test/bench/peer-mcp.ts'], {})
  await using before = await startProcess([process.execPath, 'test/bench/peer-mcp.ts'], {
    PEER: '1',
  })
  const contestant = (name: string, to: Running, request: string): Contestant => ({
    name,
    pid: to.pid,
    run: () => load({ port: to.port, callers, seconds, warmUpSeconds: 0, requests: [request] }),
  })
  const peersOf = async (method: Method): Promise<Contestant[]> => [
    contestant("the SDK's own server, 2.4", bare, await inSession(bare, tenant, method)),
    contestant("the SDK's own server, 1.32", before, await inSession(before, tenant, method)),
  ]
  const rows = async (
    what: string,
    method: Method,
    rest: Contestant[],
    goals: Goal[] = [],
  ): Promise<Row[]> => {
    const ours = [
      contestant('in a session', server, await inSession(server, tenant, method)),
      contestant('without a session', server, withoutSession(tenant, method)),
    ]
    const all = [...ours, ...rest, ...(await peersOf(method))]
    for (const { pid, run } of all) await warmUp(pid, run, warmUpRounds)
    const turns = await takeTurns(world.owner, all, rounds)
    return ours.map(({ name }, index) => ({
      what: `${what} ${name}, ${callers} callers`,
      figures: figuresOf(turns[index]!),
      peers: all
        .slice(ours.length)
        .map((peer, place) => peerOf(peer.name, turns[index]!, turns[ours.length + place]!)),
      goals,
    }))
  }
  const overRest = contestant(
    'the same over REST',
    server,
    get('/api/v1/growth/connection', tenant),
  )
  return [
    ...(await rows(
      'a call of a tool',
      'tools/call',
      [overRest],
      [{ of: 'costRatio', atLeast: 0.5 }],
    )),
    ...(await rows('the list of tools', 'tools/list', [])),
  ]
}
