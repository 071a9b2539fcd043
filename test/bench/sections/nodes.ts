/**
 * One and two processes on one database: commands sent to the owner of their tenant, to either
 * process, and to the wrong one; reads.
 */

import { costOf } from '../contest.ts'
import { type Figures, median, type Row } from '../figures.ts'
import type { Result } from '../load.ts'
import { cpuMs, databaseCpuMs } from '../meter.ts'
import { PROFILE_PATCH } from '../peer-sql.ts'
import { get, put } from '../requests.ts'
import { load, type Running, sendOnce } from '../spawn.ts'
import { addTenants, startServer, type Tenant, type World } from '../world.ts'

interface Sizes {
  seconds: number
  rounds: number
  tenants: number
  warmUpSeconds: number
}

const CALLERS = 32

const read = (tenant: Tenant): string => get('/api/v1/growth/items?limit=5', tenant)
const command = (tenant: Tenant): string => put('/api/v1/growth/profile', tenant, PROFILE_PATCH)

/** The requests that each process gets. */
type Way = [Running, string[]][]

interface Outcome {
  perSecond: number
  p50: number
  p99: number
  /** Microseconds a request. */
  servers: number
  database: number
}

const measure = async ({ owner }: World, way: Way, seconds: number): Promise<Outcome> => {
  const used = async () =>
    [
      way.reduce((sum, [{ pid }]) => sum + (cpuMs(pid) ?? Number.NaN), 0),
      (await databaseCpuMs(owner)) ?? Number.NaN,
    ] as const
  const callers = CALLERS / way.length
  const before = await used()
  const all: Result[] = await Promise.all(
    way.map(([{ port }, requests]) => load({ port, requests, callers, seconds, warmUpSeconds: 0 })),
  )
  const total = (part: (one: Result) => number) => all.reduce((sum, one) => sum + part(one), 0)
  const after = await used()
  const each = (part: 0 | 1): number =>
    ((after[part] - before[part]) * 1_000) / total(({ count }) => count)
  return {
    perSecond: total((one) => one.perSecond),
    p50: total(({ p50 }) => p50) / way.length,
    p99: Math.max(...all.map((one) => one.p99)),
    servers: each(0),
    database: each(1),
  }
}

const figuresOf = (all: Outcome[]): Figures => {
  const of = (part: keyof Outcome) => median(all.map((one) => one[part]))
  return {
    perSecond: of('perSecond'),
    p50Ms: of('p50'),
    p99Ms: of('p99'),
    serverUs: of('servers'),
    postgresUs: of('database'),
  }
}

/** Wakes each tenant in the process that is to own it. */
const settle = async (way: Way): Promise<void> => {
  for (const [{ port }, requests] of way) await sendOnce(port, 16, requests)
}

/**
 * Owners never change here: one process also owns as many other tenants, to be measured alone while
 * the other process is idle.
 */
export async function nodes(
  world: World,
  { seconds, rounds, tenants, warmUpSeconds }: Sizes,
): Promise<Row[]> {
  const all = await addTenants(world.owner, tenants * 2)
  const [ofAlone, ofPair] = [all.slice(0, tenants), all.slice(tenants)]
  const [ofA, ofB] = [ofPair.slice(0, tenants / 2), ofPair.slice(tenants / 2)]
  await using a = await startServer(world)
  await using b = await startServer(world)
  await settle([
    [a, [...ofAlone, ...ofA].map(command)],
    [b, ofB.map(command)],
  ])
  // Tenants of both in turn, so that each process owns half of those it gets.
  const mixed = ofA.flatMap((tenant, index) => [tenant, ofB[index]!])
  const ways: Record<string, Way> = {
    'commands, one process': [[a, ofAlone.map(command)]],
    'commands, two, sent to the owner': [
      [a, ofA.map(command)],
      [b, ofB.map(command)],
    ],
    'commands, two, sent to either': [
      [a, mixed.map(command)],
      [b, mixed.map(command)],
    ],
    'commands, two, always sent to the other': [
      [a, ofB.map(command)],
      [b, ofA.map(command)],
    ],
    'reads, one process': [[a, ofAlone.map(read)]],
    'reads, two, sent to either': [
      [a, mixed.map(read)],
      [b, mixed.map(read)],
    ],
  }
  const outcomes = new Map(Object.keys(ways).map((name): [string, Outcome[]] => [name, []]))
  for (const way of Object.values(ways)) await measure(world, way, warmUpSeconds / 2)
  for (let round = 0; round < rounds; round++)
    for (const [name, way] of Object.entries(ways))
      outcomes.get(name)!.push(await measure(world, way, seconds))
  const of = (name: string) => outcomes.get(name)!
  return [...outcomes].map(([name, found]) => {
    const reference = of(name.startsWith('reads') ? 'reads, one process' : 'commands, one process')
    const figures = figuresOf(found)
    if (found === reference) return { what: name, figures }
    const ratio = median(
      found.map(({ perSecond }, round) => perSecond / reference[round]!.perSecond),
    )
    const costRatio = costOf(figuresOf(reference)) / costOf(figures)
    return { what: name, figures, peers: [{ name: 'one process', figures: {}, ratio, costRatio }] }
  })
}
