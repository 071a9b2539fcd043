/** Requests a second over HTTP, compared with bare servers and with the database client alone, in turns. */

import type { Result } from './load.ts'
import { cpuMs, databaseCpuMs } from './meter.ts'
import type { LoopPlan } from './peer-loop.ts'
import { type Asked, type Kind, PROFILE_PATCH } from './peer-sql.ts'
import { get, post, put, requestOf } from './requests.ts'
import { load, type Running, startProcess, startWorker, type Worker } from './spawn.ts'
import { median, type Row, speed } from './table.ts'
import { addDrafts, type Tenant, type World } from './world.ts'

export interface Sizes {
  /** Duration of one turn. */
  seconds: number
  rounds: number
  callers: number[]
  /** New code is several times slower in its first seconds. */
  warmUpSeconds: number
}

interface Case extends Asked {
  request: string
}

const cases: Record<Exclude<Kind, 'approve'>, (tenant: Tenant) => Case> = {
  items: (tenant) => ({ tenantId: tenant.id, request: get('/api/v1/growth/items?limit=5', tenant) }),
  connection: (tenant) => ({ tenantId: tenant.id, request: get('/api/v1/growth/connection', tenant) }),
  profile: (tenant) => ({ tenantId: tenant.id, request: put('/api/v1/growth/profile', tenant, PROFILE_PATCH), body: PROFILE_PATCH }),
}

const names: Record<Kind, string> = {
  items: 'GET items, 5',
  connection: 'GET connection',
  profile: 'PUT profile, with an Idempotency-Key',
  approve: 'POST approve, with an Idempotency-Key',
}

type Server = 'tendril' | 'elysia' | 'hono'

interface Contest {
  world: World
  servers: Record<Server, Running>
  loop: Worker<LoopPlan, Result>
}

type Contestant = Server | 'client'
const CONTESTANTS: Contestant[] = ['tendril', 'elysia', 'hono', 'client']

interface Question {
  kind: Kind
  callers: number
  seconds: number
  rounds: number
  /** An item can be approved once, so each contestant gets its own. */
  cases(): Promise<Case[]>
  once?: boolean
}

/** One contestant's result in one round, with the processor time of its parts in milliseconds. */
interface Turn extends Result {
  server: number
  database: number
}

const turn = async ({ world, servers, loop }: Contest, name: Contestant, question: Question): Promise<Turn> => {
  const { kind, callers, seconds, once = false } = question
  const all = await question.cases()
  const pid = name === 'client' ? loop.pid : servers[name].pid
  const used = async () => [cpuMs(pid) ?? Number.NaN, (await databaseCpuMs(world.owner)) ?? Number.NaN] as const
  const plan = { callers, seconds, once, warmUpSeconds: 0 }
  const before = await used()
  const result =
    name === 'client'
      ? await loop.ask({ ...plan, kind, asked: all.map(({ request: _, ...asked }) => asked) })
      : await load({ ...plan, port: servers[name].port, requests: all.map(({ request }) => request) })
  const after = await used()
  return { ...result, server: after[0] - before[0], database: after[1] - before[1] }
}

const sum = (turns: Turn[], part: 'server' | 'database' | 'cpuMs' | 'count'): number => turns.reduce((all, one) => all + one[part], 0)

/** In microseconds a request. */
const costs = (turns: Turn[]) => {
  const each = (part: 'server' | 'database' | 'cpuMs') => (sum(turns, part) * 1_000) / sum(turns, 'count')
  return { server: each('server'), database: each('database'), generator: each('cpuMs') }
}

const medianSpeed = (turns: Turn[]): string =>
  speed({
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    p50: median(turns.map(({ p50 }) => p50)),
    p99: median(turns.map(({ p99 }) => p99)),
  })

const described = (turns: Turn[]): string => {
  const { server, database, generator } = costs(turns)
  const parts = `${Math.round(server)} + ${Math.round(database)} + ${Math.round(generator)} µs`
  return `${medianSpeed(turns)}, ${parts}, ${Math.round(median(turns.map(({ bytes }) => bytes)))} B`
}

/** Every contestant has a turn in each round, in another order each time, so that other load affects all alike. */
const compare = async (contest: Contest, question: Question): Promise<Row> => {
  const turns: Record<Contestant, Turn[]> = { tendril: [], elysia: [], hono: [], client: [] }
  for (let round = 0; round < question.rounds; round++)
    for (let index = 0; index < CONTESTANTS.length; index++) {
      const name = CONTESTANTS[(index + round) % CONTESTANTS.length]!
      turns[name].push(await turn(contest, name, question))
    }
  const { tendril, elysia, hono, client } = turns
  const ratioTo = (peer: Turn[]) => median(tendril.map(({ perSecond }, round) => perSecond / peer[round]!.perSecond))
  const total = ({ server, database }: ReturnType<typeof costs>) => server + database
  const tenants = new Set((await question.cases()).map(({ tenantId }) => tenantId)).size
  return {
    what: `${names[question.kind]}: tenants ${tenants}, callers ${question.callers}`,
    result: described(tendril),
    peer: `bare Elysia ${described(elysia)}; bare Hono ${medianSpeed(hono)} (${ratioTo(hono).toFixed(2)}); bare postgres.js, no HTTP, ${medianSpeed(client)} (${ratioTo(client).toFixed(2)})`,
    ratio: ratioTo(elysia),
    costRatio: total(costs(elysia)) / total(costs(tendril)),
    goal: '≥ 0.8',
  }
}

/** Wakes each tenant's actor; that cost is measured elsewhere. */
export const wakeAll = async ({ tenants }: World, { port }: Running): Promise<void> => {
  const requests = tenants.map((tenant) => cases.profile(tenant).request)
  await load({ port, callers: 16, seconds: 120, warmUpSeconds: 0, once: true, requests })
}

const warmUp = async (
  { servers, loop }: Contest,
  kind: Exclude<Kind, 'approve'>,
  { world, seconds }: { world: World; seconds: number },
) => {
  const all = world.tenants.map(cases[kind])
  const plan = { callers: 32, warmUpSeconds: 0, requests: all.map(({ request }) => request) }
  for (const { port, seconds: share } of [
    { ...servers.tendril, seconds },
    { ...servers.elysia, seconds: seconds / 3 },
    { ...servers.hono, seconds: seconds / 3 },
  ])
    await load({ ...plan, port, seconds: share })
  await loop.ask({ kind, callers: 32, seconds: seconds / 3, warmUpSeconds: 0, asked: all.map(({ request: _, ...asked }) => asked) })
}

/** Whether the load generator, which shares the machine, could send more: measured on a server that only answers. */
const ceiling = async ({ servers }: Contest, { seconds, rounds }: Sizes): Promise<Row> => {
  const requests = [requestOf('GET /health', {})]
  const all: Result[] = []
  for (let round = 0; round < rounds; round++)
    all.push(await load({ port: servers.elysia.port, callers: 32, seconds, warmUpSeconds: 0, requests }))
  const perSecond = median(all.map((one) => one.perSecond))
  const share = median(all.map(({ cpuMs: used, count }) => (used * 1_000) / count))
  return {
    what: "the load generator's own ceiling: bare Elysia without a query, callers 32",
    result: `${Math.round(perSecond).toLocaleString('en')}/s; ${share.toFixed(0)} µs a request in the load generator`,
  }
}

const approvals = (contest: Contest, { seconds, rounds }: Sizes): Promise<Row> => {
  const { owner, tenants } = contest.world
  const prepared = async (): Promise<Case[]> =>
    (await addDrafts(owner, tenants, 1)).map(({ id, tenant }) => ({
      tenantId: tenant.id,
      itemId: id,
      request: post(`/api/v1/growth/items/${id}/approve`, tenant),
    }))
  return compare(contest, { kind: 'approve', callers: 32, seconds: seconds * 30, rounds, once: true, cases: prepared })
}

/** Separate peers for reads and for commands, as the database takes 60 connections and each peer would keep those of both. */
const among = async (world: World, server: Running, body: (contest: Contest) => Promise<Row[]>): Promise<Row[]> => {
  const peer = 'test/bench/peer-http.ts'
  await using elysia = await startProcess([process.execPath, peer], world.env)
  await using hono = await startProcess([process.execPath, peer], { ...world.env, PEER: 'hono' })
  await using loop = startWorker<LoopPlan, Result>('test/bench/peer-loop.ts', world.env)
  return await body({ world, servers: { tendril: server, elysia, hono }, loop })
}

export async function throughput(world: World, server: Running, sizes: Sizes): Promise<Row[]> {
  const compared = async (contest: Contest, kind: Exclude<Kind, 'approve'>): Promise<Row[]> => {
    await warmUp(contest, kind, { world, seconds: sizes.warmUpSeconds })
    const rows: Row[] = []
    for (const tenants of [world.tenants.slice(0, 1), world.tenants])
      for (const callers of kind === 'connection' ? [32] : sizes.callers) {
        const asked = tenants.map(cases[kind])
        rows.push(await compare(contest, { kind, callers, seconds: sizes.seconds, rounds: sizes.rounds, cases: async () => asked }))
      }
    return rows
  }
  const reads = await among(world, server, async (contest) => [
    ...(await compared(contest, 'items')),
    ...(await compared(contest, 'connection')),
  ])
  const commands = await among(world, server, async (contest) => [
    ...(await compared(contest, 'profile')),
    await approvals(contest, sizes),
    await ceiling(contest, sizes),
  ])
  return [...reads, ...commands]
}
