/** Tool calls a second, compared with the same operation over REST and with bare servers of the SDK. */
import { MCP_PATH } from '#edge/mcp/endpoint'
import { opening, rpc } from '../support/mcp.ts'
import type { Result } from './load.ts'
import { cpuMs } from './meter.ts'
import { get, requestOf } from './requests.ts'
import { load, type Running, startProcess } from './spawn.ts'
import { median, type Row, speed } from './table.ts'
import type { Tenant, World } from './world.ts'

export interface McpSizes {
  seconds: number
  rounds: number
  callers: number
  warmUpSeconds: number
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
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
  const headers = { authorization: `Bearer ${key}`, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25', ...HEADERS }
  return requestOf(`POST ${MCP_PATH}`, headers, message(method))
}

const withoutSession = ({ key }: Tenant, method: Method): string => {
  const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(method === 'tools/call' ? { 'mcp-name': TOOL } : {}) }
  return requestOf(`POST ${MCP_PATH}`, { authorization: `Bearer ${key}`, ...standard, ...HEADERS }, message(method, { _meta: ENVELOPE }))
}

interface Contestant {
  name: string
  server: Running
  request: string
}

interface Turn extends Result {
  server: number
}

const turn = async ({ server, request }: Contestant, { seconds, callers }: McpSizes): Promise<Turn> => {
  const before = cpuMs(server.pid) ?? Number.NaN
  const result = await load({ port: server.port, callers, seconds, warmUpSeconds: 0, requests: [request] })
  return { ...result, server: (cpuMs(server.pid) ?? Number.NaN) - before }
}

const described = (turns: Turn[]): string => {
  const one = { perSecond: 0, p50: 0, p99: 0 }
  for (const name of ['perSecond', 'p50', 'p99'] as const) one[name] = median(turns.map((each) => each[name]))
  const cost = median(turns.map(({ server, count }) => (server * 1_000) / count))
  return `${speed(one)}, ${Math.round(cost)} µs in the server, ${Math.round(median(turns.map(({ bytes }) => bytes)))} B`
}

/** In turns, in another order each round; compares the first contestant with the others. */
const compare = async (what: string, contestants: Contestant[], sizes: McpSizes): Promise<Row> => {
  const turns = contestants.map((): Turn[] => [])
  for (const one of contestants) await turn(one, { ...sizes, seconds: sizes.warmUpSeconds })
  for (let round = 0; round < sizes.rounds; round++)
    for (let index = 0; index < contestants.length; index++) {
      const place = (index + round) % contestants.length
      turns[place]!.push(await turn(contestants[place]!, sizes))
    }
  const [ours, ...peers] = turns
  const ratio = (peer: Turn[]) => median(ours!.map(({ perSecond }, round) => perSecond / peer[round]!.perSecond))
  const compared = peers.map((peer, index) => `${contestants[index + 1]!.name} ${described(peer)} (${ratio(peer).toFixed(2)})`)
  return { what: `${what}, callers ${sizes.callers}`, result: described(ours!), peer: compared.join('; '), ratio: ratio(peers[0]!) }
}

export async function mcp(world: World, server: Running, sizes: McpSizes): Promise<Row[]> {
  const tenant = world.tenants[0]!
  await world.owner`update api_key set scopes = array['api:read', 'api:write', 'mcp:use'] where tenant_id = ${tenant.id}`
  await using bare = await startProcess([process.execPath, 'test/bench/peer-mcp.ts'], {})
  await using before = await startProcess([process.execPath, 'test/bench/peer-mcp.ts'], { PEER: '1' })
  const row = async (what: string, method: Method, rest: Contestant[]): Promise<Row> =>
    compare(
      what,
      [
        { name: 'in a session', server, request: await inSession(server, tenant, method) },
        ...rest,
        { name: 'without a session', server, request: withoutSession(tenant, method) },
        { name: 'bare SDK 2.4', server: bare, request: await inSession(bare, tenant, method) },
        { name: 'bare SDK 1.32', server: before, request: await inSession(before, tenant, method) },
      ],
      sizes,
    )
  const overRest = { name: 'REST', server, request: get('/api/v1/growth/connection', tenant) }
  return [
    await row(`MCP, a call of ${TOOL} in a session`, 'tools/call', [overRest]),
    await row('MCP, a list of tools in a session', 'tools/list', []),
  ]
}
