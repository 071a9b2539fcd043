/**
 * What one tenant's flood costs another: its p99 without and with the flood, in turns, on our
 * server and on a bare one.
 */

import { type Figures, median, type Row } from '../figures.ts'
import type { Result } from '../load.ts'
import { PROFILE_PATCH } from '../peer-sql.ts'
import { get, put } from '../requests.ts'
import { load, type Running, startProcess } from '../spawn.ts'
import type { World } from '../world.ts'

const FLOOD_CALLERS = 256
/** Time for a flood to reach its height. */
const RISE_MS = 300
const PATH = '/api/v1/growth/items?limit=5'

type Kind = 'reads' | 'commands'

interface Sizes {
  /** Duration of one phase. */
  seconds: number
  /** Pairs of a quiet and a flooded phase. */
  repeats: number
}

interface Pair {
  quiet: Result
  flooded: Result
  flood: Result
}

const pairs = async (
  { port }: Running,
  asks: { other: string; flood: string },
  { seconds, repeats }: Sizes,
): Promise<Pair[]> => {
  const run = (request: string, callers: number, lasts: number) =>
    load({ port, callers, seconds: lasts, warmUpSeconds: 0, requests: [request] })
  const all: Pair[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    const quiet = await run(asks.other, 1, seconds)
    const flooding = run(asks.flood, FLOOD_CALLERS, seconds + (2 * RISE_MS) / 1_000)
    await Bun.sleep(RISE_MS)
    const flooded = await run(asks.other, 1, seconds)
    all.push({ quiet, flooded, flood: await flooding })
  }
  return all
}

const figuresOf = (all: Pair[]): Figures => ({
  quietP99Ms: median(all.map(({ quiet }) => quiet.p99)),
  p99Ms: median(all.map(({ flooded }) => flooded.p99)),
  slowdown: median(all.map(({ quiet, flooded }) => flooded.p99 / quiet.p99)),
  floodPerSecond: median(all.map(({ flood }) => flood.perSecond)),
})

/**
 * The load generators are processes of their own: one floods, one sends the other tenant's requests
 * one at a time.
 */
export async function fairness(world: World, server: Running, sizes: Sizes): Promise<Row[]> {
  const [flooding, other] = world.tenants
  if (!flooding || !other) throw new Error('fairness needs two tenants')
  await using bare = await startProcess([process.execPath, 'test/bench/peer-http.ts'], world.env)
  const requests = (tenant: typeof flooding): Record<Kind, string> => ({
    reads: get(PATH, tenant),
    commands: put('/api/v1/growth/profile', tenant, PROFILE_PATCH),
  })
  const [floods, asks] = [requests(flooding), requests(other)]
  const rows: Row[] = []
  for (const kind of ['reads', 'commands'] as const)
    for (const name of ['reads', 'commands'] as const) {
      const question = { other: asks[kind], flood: floods[name] }
      const ours = await pairs(server, question, sizes)
      const theirs = await pairs(bare, question, {
        ...sizes,
        repeats: Math.ceil(sizes.repeats / 2),
      })
      rows.push({
        what: `a tenant's ${kind}, one at a time, while another floods ${name} from ${FLOOD_CALLERS} callers`,
        figures: figuresOf(ours),
        peers: [{ name: 'bare Elysia', figures: figuresOf(theirs) }],
        goals: [{ of: 'slowdown', atMost: 2 }],
      })
    }
  return rows
}
