/**
 * Requests a second over HTTP, compared with bare servers and with the database client alone, in
 * turns.
 */

import { figuresOf, peerOf, takeTurns, warmUp } from '../contest.ts'
import { median, type Row } from '../figures.ts'
import type { Result } from '../load.ts'
import type { LoopPlan } from '../peer-loop.ts'
import { type Asked, type Kind, PROFILE_PATCH } from '../peer-sql.ts'
import { get, post, put, requestOf } from '../requests.ts'
import { load, type Running, sendOnce, startProcess, startWorker, type Worker } from '../spawn.ts'
import { addDrafts, type Tenant, type World } from '../world.ts'
import { besidePostgraphile } from './postgraphile.ts'

export interface Sizes {
  /** Duration of one turn. */
  seconds: number
  rounds: number
  callers: number[]
  /** For each contestant and kind of request, at most. */
  warmUpSeconds: number
}

const WARM_UP_TURN_S = 2
/** Approvals, which are sent once each, are warmed up by rounds of a thousand. */
const WARM_UP_APPROVALS = 4

interface Case extends Asked {
  request: string
}

const cases: Record<Exclude<Kind, 'approve'>, (tenant: Tenant) => Case> = {
  items: (tenant) => ({
    tenantId: tenant.id,
    request: get('/api/v1/growth/items?limit=5', tenant),
  }),
  connection: (tenant) => ({
    tenantId: tenant.id,
    request: get('/api/v1/growth/connection', tenant),
  }),
  profile: (tenant) => ({
    tenantId: tenant.id,
    request: put('/api/v1/growth/profile', tenant, PROFILE_PATCH),
    body: PROFILE_PATCH,
  }),
}

const names: Record<Kind, string> = {
  items: 'GET 5 items',
  connection: 'GET connection',
  profile: 'PUT profile with an Idempotency-Key',
  approve: 'POST approve with an Idempotency-Key',
}

/** Shares of the bare server's processor time. A command is compared with the bare transaction. */
const GOALS: Record<Kind, number> = { items: 0.6, connection: 0.6, profile: 0.65, approve: 0.65 }

type Server = 'tendril' | 'elysia' | 'hono'

interface Contest {
  world: World
  servers: Record<Server, Running>
  loop: Worker<LoopPlan, Result>
}

type Name = Server | 'client'
const NAMES: Name[] = ['tendril', 'elysia', 'hono', 'client']
const titles: Record<Name, string> = {
  tendril: 'Tendril',
  elysia: 'bare Elysia',
  hono: 'bare Hono',
  client: 'postgres.js without HTTP',
}

interface Question {
  kind: Kind
  callers: number
  seconds: number
  rounds: number
  /** An item can be approved once, so each contestant gets its own. */
  cases(): Promise<Case[]>
  once?: boolean
  warmUpRounds?: number
}

/** What is asked of one contestant in a turn. */
const ask = async ({ servers, loop }: Contest, name: Name, question: Question): Promise<Result> => {
  const { kind, callers, seconds, once = false } = question
  const all = await question.cases()
  const plan = { callers, seconds, once, warmUpSeconds: 0 }
  if (name === 'client')
    return await loop.ask({ ...plan, kind, asked: all.map(({ request: _, ...asked }) => asked) })
  return await load({
    ...plan,
    port: servers[name].port,
    requests: all.map(({ request }) => request),
  })
}

const compare = async (contest: Contest, question: Question): Promise<Row> => {
  const contestants = NAMES.map((name) => ({
    name: titles[name],
    pid: name === 'client' ? contest.loop.pid : contest.servers[name].pid,
    run: () => ask(contest, name, question),
  }))
  for (const { pid, run } of contestants) await warmUp(pid, run, question.warmUpRounds ?? 0)
  const [ours, ...theirs] = await takeTurns(contest.world.owner, contestants, question.rounds)
  const tenants = new Set((await question.cases()).map(({ tenantId }) => tenantId)).size
  const callers = question.callers === 1 ? '1 caller' : `${question.callers} callers`
  return {
    what: `${names[question.kind]}, ${tenants === 1 ? 'one tenant' : 'many tenants'}, ${callers}`,
    figures: figuresOf(ours!),
    peers: theirs.map((turns, index) => peerOf(contestants[index + 1]!.name, ours!, turns)),
    goals: [{ of: 'costRatio', atLeast: GOALS[question.kind] }],
  }
}

interface List {
  items: object[]
}

/** The peers must say of an item whatever our answer says. */
const sayTheSame = async ({ world, servers }: Contest): Promise<void> => {
  const [tenant] = world.tenants
  const headers = { authorization: `Bearer ${tenant!.key}`, 'x-tenant': tenant!.id }
  const fields = async ({ port }: Running): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/growth/items?limit=5`, { headers })
    const { items } = (await answer.json()) as List
    return items.map((item) => Object.keys(item).sort()).join('; ')
  }
  const [ours, ...theirs] = await Promise.all(Object.values(servers).map(fields))
  for (const one of theirs)
    if (one !== ours) throw new Error(`a peer answers ${one}, where we answer ${ours}`)
}

/** Wakes each tenant's actor; that cost is measured elsewhere. */
export const wakeAll = async ({ tenants }: World, { port }: Running): Promise<void> => {
  const requests = tenants.map((tenant) => cases.profile(tenant).request)
  await sendOnce(port, 16, requests)
}

const compiled = async (
  { world, servers, loop }: Contest,
  kind: Exclude<Kind, 'approve'>,
  { warmUpSeconds }: Sizes,
): Promise<void> => {
  const all = world.tenants.map(cases[kind])
  const plan = { callers: 32, warmUpSeconds: 0, seconds: Math.min(WARM_UP_TURN_S, warmUpSeconds) }
  const most = warmUpSeconds / plan.seconds
  const requests = all.map(({ request }) => request)
  for (const { port, pid } of Object.values(servers))
    await warmUp(pid, () => load({ ...plan, port, requests }), most)
  await warmUp(
    loop.pid,
    () => loop.ask({ ...plan, kind, asked: all.map(({ request: _, ...asked }) => asked) }),
    most,
  )
}

/**
 * Whether the load generator, which shares the machine, could send more: measured on a server that
 * only answers.
 */
const ceiling = async ({ servers }: Contest, { seconds, rounds }: Sizes): Promise<Row> => {
  const requests = [requestOf('GET /health', {})]
  const all: Result[] = []
  for (let round = 0; round < rounds; round++)
    all.push(
      await load({ port: servers.elysia.port, callers: 32, seconds, warmUpSeconds: 0, requests }),
    )
  const perSecond = median(all.map((one) => one.perSecond))
  const generatorUs = median(all.map(({ cpuMs: used, count }) => (used * 1_000) / count))
  return {
    what: "the load generator's own ceiling: bare Elysia without a query, 32 callers",
    figures: { perSecond, generatorUs },
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
  return compare(contest, {
    kind: 'approve',
    callers: 32,
    seconds: seconds * 30,
    rounds,
    once: true,
    warmUpRounds: WARM_UP_APPROVALS,
    cases: prepared,
  })
}

/**
 * Separate peers for reads and for commands, as the database takes 60 connections and each peer
 * would keep those of both.
 */
const among = async (
  world: World,
  server: Running,
  body: (contest: Contest) => Promise<Row[]>,
): Promise<Row[]> => {
  const peer = 'test/bench/peer-http.ts'
  await using elysia = await startProcess([process.execPath, peer], world.env)
  await using hono = await startProcess([process.execPath, peer], { ...world.env, PEER: 'hono' })
  await using loop = startWorker<LoopPlan, Result>('test/bench/peer-loop.ts', world.env)
  return await body({ world, servers: { tendril: server, elysia, hono }, loop })
}

export async function throughput(world: World, server: Running, sizes: Sizes): Promise<Row[]> {
  const compared = async (contest: Contest, kind: Exclude<Kind, 'approve'>): Promise<Row[]> => {
    await compiled(contest, kind, sizes)
    const rows: Row[] = []
    for (const tenants of [world.tenants.slice(0, 1), world.tenants])
      for (const callers of kind === 'connection' ? [32] : sizes.callers) {
        const asked = tenants.map(cases[kind])
        rows.push(
          await compare(contest, {
            kind,
            callers,
            seconds: sizes.seconds,
            rounds: sizes.rounds,
            cases: async () => asked,
          }),
        )
      }
    return rows
  }
  const reads = await among(world, server, async (contest) => {
    await sayTheSame(contest)
    return [...(await compared(contest, 'items')), ...(await compared(contest, 'connection'))]
  })
  const commands = await among(world, server, async (contest) => [
    ...(await compared(contest, 'profile')),
    await approvals(contest, sizes),
    await ceiling(contest, sizes),
  ])
  return [...reads, await besidePostgraphile(world, server, sizes), ...commands]
}
