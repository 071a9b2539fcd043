/** What readers of hints cost the commands of their workspace, with and without them in turns. */
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { type Figures, median, type Row } from '../figures.ts'
import type { ReadersPlan, ReadersResult } from '../hint-readers.ts'
import type { Result } from '../load.ts'
import { cpuMs, databaseCpuMs, type Used } from '../meter.ts'
import { post } from '../requests.ts'
import { load, type Running, startWorker, type Worker } from '../spawn.ts'
import { addDrafts, startServer, type Tenant, type World } from '../world.ts'

interface Sizes {
  readers: number
  /** Duration of one turn. */
  seconds: number
  rounds: number
}

/** A credential has at most 20 streams. */
const STREAMS_EACH = 20
const RATE = 300
/** The share of the rate that must be reached. */
const RATE_REACHED = 0.95
const RATE_ALONE = 20
/** Readers add at most a quarter to the processor time of a command. */
const LEAST_SHARE = 0.8
const WARM_UP_S = 4

const newKeys = async ({ owner }: World, { id }: Tenant, count: number): Promise<string[]> => {
  const keys = Array.from({ length: count }, newApiKey)
  for (const key of keys)
    await owner`insert into api_key (id, tenant_id, name, hash, last4, scopes)
      values (${newId()}, ${id}, 'reader', ${hashApiKey(key)}, 'last', '{api:read,workspace:use}')`
  return keys
}

type Turn = Result & Used

const usedBy = async ({ owner }: World, { pid }: Running): Promise<Used> => ({
  serverMs: cpuMs(pid) ?? Number.NaN,
  databaseMs: (await databaseCpuMs(owner)) ?? Number.NaN,
})

/** Processor time of one approval, in the server and in Postgres. */
const costOf = ({ serverMs, databaseMs, count }: Turn): number => (serverMs + databaseMs) / count

/** Approves drafts evenly at a rate. */
const approving =
  (world: World, server: Running, tenant: Tenant) =>
  async ({ rate, seconds }: { rate: number; seconds: number }): Promise<Turn> => {
    const drafts = await addDrafts(world.owner, [tenant], Math.ceil(rate * seconds))
    const requests = drafts.map(({ id }) => post(`/api/v1/growth/items/${id}/approve`, tenant, {}))
    const before = await usedBy(world, server)
    const callers = rate < RATE ? 1 : 16
    const more = { once: true, rate, warmUpSeconds: 0 }
    const result = await load({
      port: server.port,
      callers,
      seconds: seconds * 4,
      requests,
      ...more,
    })
    const after = await usedBy(world, server)
    return {
      ...result,
      serverMs: after.serverMs - before.serverMs,
      databaseMs: after.databaseMs - before.databaseMs,
    }
  }

const figuresOf = (turns: readonly Turn[]): Figures => ({
  perSecond: median(turns.map(({ perSecond }) => perSecond)),
  p50Ms: median(turns.map(({ p50 }) => p50)),
  p99Ms: median(turns.map(({ p99 }) => p99)),
  serverUs: median(turns.map(({ serverMs, count }) => (serverMs * 1_000) / count)),
  postgresUs: median(turns.map(({ databaseMs, count }) => (databaseMs * 1_000) / count)),
})

interface Contest {
  run(): Promise<Turn>
  readers: Worker<ReadersPlan, ReadersResult>
  plan: ReadersPlan
  rounds: number
}

const inTurns = async ({ run, readers, plan, rounds }: Contest) => {
  const turns: Record<'without' | 'beside', Turn[]> = { without: [], beside: [] }
  for (let round = 0; round < rounds; round++) {
    turns.without.push(await run())
    await readers.ask(plan)
    turns.beside.push(await run())
    const { bytes } = await readers.ask({ ...plan, keys: [] })
    if (bytes === 0) throw new Error('the readers have got nothing')
  }
  const pairs = turns.beside.map((beside, nth) => [beside, turns.without[nth]!] as const)
  const [figures, without] = [figuresOf(turns.beside), figuresOf(turns.without)]
  const costRatio = median(pairs.map(([one, other]) => costOf(other) / costOf(one)))
  const addedMs = median(pairs.map(([one, other]) => Math.max(0, one.p50 - other.p50)))
  return { figures, peer: { name: 'without readers', figures: without, costRatio }, addedMs }
}

export async function hints(
  world: World,
  { readers: count, seconds, rounds }: Sizes,
): Promise<Row[]> {
  const tenant = world.tenants[0]!
  await using server = await startServer(world)
  await using readers = startWorker<ReadersPlan, ReadersResult>('test/bench/hint-readers.ts')
  const few = await newKeys(world, tenant, Math.ceil(count / STREAMS_EACH))
  const keys = Array.from({ length: count }, (_, nth) => few[nth % few.length]!)
  const plan = { port: server.port, keys }
  const approve = approving(world, server, tenant)
  await approve({ rate: RATE, seconds: WARM_UP_S })
  const contest = (rate: number) =>
    inTurns({ run: () => approve({ rate, seconds }), readers, plan, rounds })
  const [many, alone] = [await contest(RATE), await contest(RATE_ALONE)]
  return [
    {
      what: `approvals at ${RATE} a second, beside ${count} readers of hints`,
      figures: many.figures,
      peers: [many.peer],
      goals: [
        { of: 'costRatio', atLeast: LEAST_SHARE },
        // Each delivery costs the same however many hints it has, so at another rate the ratio is
        // another one.
        { of: 'perSecond', atLeast: RATE * RATE_REACHED },
      ],
    },
    {
      what: `an approval alone, beside ${count} readers of hints: what they add to it`,
      figures: { ...alone.figures, ms: alone.addedMs },
      peers: [alone.peer],
      goals: [{ of: 'ms', atMost: 2 }],
    },
  ]
}
