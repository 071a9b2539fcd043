/** Calls of a tool a second over MCP, against the same operation over REST and against a server of the SDK that does nothing. */
import type { Result } from './load.ts'
import { callOf, listOf, openSession } from './mcp-request.ts'
import { cpuMs } from './meter.ts'
import { get } from './requests.ts'
import { load, type Running, startProcess } from './spawn.ts'
import { median, type Row, speed } from './table.ts'
import type { World } from './world.ts'

export interface McpSizes {
  /** Of one turn. */
  seconds: number
  rounds: number
  warmUpSeconds: number
}

const CALLERS = 16
/** Each with a session of its own. */
const CLIENTS = 16

type Contestant = 'mcp' | 'list' | 'rest' | 'bare'
const CONTESTANTS: Contestant[] = ['mcp', 'list', 'rest', 'bare']

interface Turn extends Result {
  server: number
}

const summary = (turns: Turn[]): string => {
  const rate = speed({
    perSecond: median(turns.map((one) => one.perSecond)),
    p50: median(turns.map((one) => one.p50)),
    p99: median(turns.map((one) => one.p99)),
  })
  const us = median(turns.map(({ server, count }) => (server * 1_000) / count))
  return `${rate}, ${Math.round(us)} µs of the server, ${Math.round(median(turns.map(({ bytes }) => bytes)))} B`
}

const requestsOf = async ({ tenants }: World, server: Running, bare: Running): Promise<Record<Contestant, string[]>> => {
  const clients = tenants.slice(0, CLIENTS)
  const ours = await Promise.all(
    clients.map(async ({ key }) => {
      const authorization = `Bearer ${key}`
      return { authorization, 'mcp-session-id': await openSession(server.port, { authorization }) }
    }),
  )
  const theirs = await Promise.all(clients.map(async () => ({ 'mcp-session-id': await openSession(bare.port, {}) })))
  return {
    mcp: ours.map((headers) => callOf('growth_connection_status', headers)),
    list: ours.map(listOf),
    rest: clients.map((tenant) => get('/api/v1/growth/connection', tenant)),
    bare: theirs.map((headers) => callOf('status', headers)),
  }
}

export async function mcp(world: World, server: Running, { seconds, rounds, warmUpSeconds }: McpSizes): Promise<Row[]> {
  await using bare = await startProcess([process.execPath, 'test/bench/peer-mcp.ts'], {})
  const requests = await requestsOf(world, server, bare)
  const turn = async (name: Contestant, lasts: number): Promise<Turn> => {
    const { port, pid } = name === 'bare' ? bare : server
    const before = cpuMs(pid) ?? Number.NaN
    const result = await load({ port, callers: CALLERS, seconds: lasts, warmUpSeconds: 0, requests: requests[name] })
    return { ...result, server: (cpuMs(pid) ?? Number.NaN) - before }
  }
  for (const name of CONTESTANTS) await turn(name, warmUpSeconds / CONTESTANTS.length)
  const turns: Record<Contestant, Turn[]> = { mcp: [], list: [], rest: [], bare: [] }
  for (let round = 0; round < rounds; round++)
    for (let index = 0; index < CONTESTANTS.length; index++) {
      const name = CONTESTANTS[(index + round) % CONTESTANTS.length]!
      turns[name].push(await turn(name, seconds))
    }
  const ratio = (one: Contestant, peer: Contestant) =>
    median(turns[one].map(({ perSecond }, round) => perSecond / turns[peer][round]!.perSecond))
  const row = (what: string, one: Contestant, { peer, named }: { peer: Contestant; named: string }): Row => ({
    what: `${what}: sessions ${CLIENTS}, callers ${CALLERS}`,
    result: summary(turns[one]),
    peer: `${named} ${summary(turns[peer])}`,
    ratio: ratio(one, peer),
  })
  return [
    row('MCP tools/call growth_connection_status', 'mcp', { peer: 'rest', named: 'the same operation over REST' }),
    row('MCP tools/call growth_connection_status', 'mcp', { peer: 'bare', named: "the SDK's own server, a constant answer" }),
    row('MCP tools/list', 'list', { peer: 'bare', named: "the SDK's own server, tools/call" }),
  ]
}
