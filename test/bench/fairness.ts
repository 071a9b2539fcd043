/** What one tenant's flood costs another: its p99 without and with the flood, in turns, on our server and on a bare one. */

import type { Result } from './load.ts'
import { PROFILE_PATCH } from './peer-sql.ts'
import { get, put } from './requests.ts'
import { load, type Running, startProcess } from './spawn.ts'
import { median, ms, type Row } from './table.ts'
import type { World } from './world.ts'

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

const pairs = async ({ port }: Running, asks: { other: string; flood: string }, { seconds, repeats }: Sizes): Promise<Pair[]> => {
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

const ratioOf = (all: Pair[]): number => median(all.map(({ quiet, flooded }) => flooded.p99 / quiet.p99))

const described = (all: Pair[]): string => {
  const of = (which: 'quiet' | 'flooded', part: 'p50' | 'p99') => ms(median(all.map((pair) => pair[which][part])))
  return `p99 ${of('quiet', 'p99')} → ${of('flooded', 'p99')}, p50 ${of('quiet', 'p50')} → ${of('flooded', 'p50')}`
}

/** The load generators are processes of their own: one floods, one sends the other tenant's requests one at a time. */
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
      const theirs = await pairs(bare, question, { ...sizes, repeats: Math.ceil(sizes.repeats / 2) })
      const rate = Math.round(median(ours.map(({ flood }) => flood.perSecond))).toLocaleString('en')
      rows.push({
        what: `a tenant's ${kind}, one at a time, while another floods ${name} (${FLOOD_CALLERS} callers, ${rate}/s); medians of ${sizes.repeats}`,
        result: described(ours),
        peer: `bare Elysia ${described(theirs)} (${ratioOf(theirs).toFixed(2)})`,
        ratio: ratioOf(ours),
        goal: 'p99 ≤ 2 ×',
      })
    }
  return rows
}
