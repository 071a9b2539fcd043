/** Requests a second over HTTP, against a bare server and against the database's client alone. */

import type { Result } from './load.ts'
import type { LoopPlan } from './peer-loop.ts'
import { type Asked, type Kind, PROFILE_PATCH } from './peer-sql.ts'
import { get, post, put } from './requests.ts'
import { cpuMs, databaseCpuMs, load, type Running, runProcess, startProcess } from './spawn.ts'
import { type Row, speed } from './table.ts'
import { addDrafts, type Tenant, type World } from './world.ts'

export interface Sizes {
  seconds: number
  callers: number[]
}

interface Case extends Asked {
  request: string
}

const WARM_UP_SECONDS = 0.3

const cases: Record<Exclude<Kind, 'approve'>, (tenant: Tenant) => Case> = {
  items: (tenant) => ({ tenantId: tenant.id, request: get('/api/v1/growth/items?limit=5', tenant) }),
  connection: (tenant) => ({ tenantId: tenant.id, request: get('/api/v1/growth/connection', tenant) }),
  profile: (tenant) => ({ tenantId: tenant.id, request: put('/api/v1/growth/profile', tenant, PROFILE_PATCH) }),
}

const names: Record<Kind, string> = {
  items: 'GET items, 5',
  connection: 'GET connection',
  profile: 'PUT profile, with an Idempotency-Key',
  approve: 'POST approve, with an Idempotency-Key',
}

/** No two runs use the same Idempotency-Key. */
let from = 0
const nextRun = (): number => {
  from += 10_000_000
  return from
}

interface Peers {
  world: World
  server: Running
  bare: Running
}

interface Question {
  kind: Kind
  callers: number
  seconds: number
  /** For each of the three of its own: what one has approved, another cannot approve. */
  asked: [Case[], Case[], Case[]]
  once?: boolean
}

/** Of the server and its database together; not a number where the system does not say. */
const processorMs = async ({ owner }: World, pid: number): Promise<number> =>
  (cpuMs(pid) ?? Number.NaN) + ((await databaseCpuMs(owner)) ?? Number.NaN)

const compare = async ({ world, server, bare }: Peers, { kind, callers, seconds, asked, once = false }: Question): Promise<Row> => {
  const plan = { callers, seconds, warmUpSeconds: once ? 0 : WARM_UP_SECONDS, once }
  const over = async ({ port, pid }: Running, all: Case[]) => {
    const before = await processorMs(world, pid)
    const result = await load({ ...plan, port, from: nextRun(), warmUpSeconds: 0, requests: all.map(({ request }) => request) })
    return { ...result, cost: (((await processorMs(world, pid)) - before) * 1_000) / result.count }
  }
  const ours = await over(server, asked[0])
  const theirs = await over(bare, asked[1])
  const loop: LoopPlan = { ...plan, options: world.options, kind, asked: asked[2].map(({ tenantId, itemId }) => ({ tenantId, itemId })) }
  const alone = await runProcess<Result>('test/bench/peer-loop.ts', loop)
  const tenants = new Set(asked[0].map(({ tenantId }) => tenantId)).size
  return {
    what: `${names[kind]}: tenants ${tenants}, callers ${callers}`,
    result: `${speed(ours)}, ${Math.round(ours.cost)} µs`,
    peer: `bare Elysia ${speed(theirs)}, ${Math.round(theirs.cost)} µs; database client alone ${speed(alone)}`,
    ratio: ours.perSecond / theirs.perSecond,
    costRatio: theirs.cost / ours.cost,
    goal: '≥ 0.8',
  }
}

/** Each tenant's actor wakes once; what that costs is measured elsewhere. */
export const wakeAll = async ({ tenants }: World, { port }: Running): Promise<void> => {
  const requests = tenants.map((tenant) => cases.profile(tenant).request)
  await load({ port, callers: 16, seconds: 120, warmUpSeconds: 0, once: true, from: nextRun(), requests })
}

const approvals = async (peers: Peers, { seconds }: Sizes): Promise<Row> => {
  const { owner, tenants } = peers.world
  const prepared = async (): Promise<Case[]> =>
    (await addDrafts(owner, tenants, 2)).map(({ id, tenant }) => ({
      tenantId: tenant.id,
      itemId: id,
      request: post(`/api/v1/growth/items/${id}/approve`, tenant),
    }))
  return compare(peers, {
    kind: 'approve',
    callers: 32,
    seconds: seconds * 10,
    once: true,
    asked: [await prepared(), await prepared(), await prepared()],
  })
}

/** Code that runs for the first time is slow, and so is the first plan of a statement. */
const warmUp = async ({ server, bare }: Peers, all: Case[]): Promise<void> => {
  const plan = { callers: 32, seconds: WARM_UP_SECONDS, warmUpSeconds: 0, requests: all.map(({ request }) => request) }
  for (const { port } of [server, bare]) await load({ ...plan, port, from: nextRun() })
}

export async function throughput(world: World, server: Running, sizes: Sizes): Promise<Row[]> {
  await using bare = await startProcess([process.execPath, 'test/bench/peer-http.ts'], world.env)
  const peers = { world, server, bare }
  const rows: Row[] = []
  for (const kind of ['items', 'connection', 'profile'] as const) {
    await warmUp(peers, world.tenants.map(cases[kind]))
    for (const tenants of [world.tenants.slice(0, 1), world.tenants])
      for (const callers of sizes.callers) {
        const asked = tenants.map(cases[kind])
        rows.push(await compare(peers, { kind, callers, seconds: sizes.seconds, asked: [asked, asked, asked] }))
      }
  }
  return [...rows, await approvals(peers, sizes)]
}
