/** Background jobs a second, compared with job queues for Postgres on the same database, in turns. */
import { startWorker, type Worker } from './spawn.ts'
import { median, type Row } from './table.ts'
import { addTenants, type World } from './world.ts'

export interface QueuePlan {
  engine: 'tendril' | 'graphile-worker' | 'pg-boss'
  jobs: number
  tenants: string[]
  /** One job at a time per tenant, as actors always promise. */
  serial?: boolean
}

export interface QueueResult {
  jobs: number
  /** From the first job until the last is settled in the database. */
  ms: number
  /** Processor time of this process and of the database, in milliseconds. */
  cpuMs: number
}

interface Sizes {
  jobs: number
  rounds: number
}

const speedOf = (results: QueueResult[]): number => median(results.map(({ jobs, ms }) => (jobs * 1_000) / ms))
const costOf = (results: QueueResult[]): number => median(results.map(({ jobs, cpuMs }) => (cpuMs * 1_000) / jobs))

const described = (results: QueueResult[]): string =>
  `${Math.round(speedOf(results)).toLocaleString('en')}/s, ${Math.round(costOf(results))} µs`

export async function background(world: World, { jobs, rounds }: Sizes): Promise<Row[]> {
  // New tenants, without other due work.
  const tenants = (await addTenants(world.owner, world.tenants.length)).map(({ id }) => id)
  await using ours = startWorker<QueuePlan, QueueResult>('test/bench/queue-ours.ts', world.env)
  await using peers = startWorker<QueuePlan, QueueResult>('test/bench/queue-peers.ts', world.env)
  const contestants = {
    tendril: () => ours.ask({ engine: 'tendril', jobs, tenants }),
    graphile: () => peers.ask({ engine: 'graphile-worker', jobs, tenants }),
    graphileSerial: () => peers.ask({ engine: 'graphile-worker', jobs, tenants, serial: true }),
    boss: () => peers.ask({ engine: 'pg-boss', jobs, tenants }),
  }
  const names = Object.keys(contestants) as (keyof typeof contestants)[]
  const results: Record<keyof typeof contestants, QueueResult[]> = { tendril: [], graphile: [], graphileSerial: [], boss: [] }
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round++)
    for (let index = 0; index < names.length; index++) {
      const name = names[(index + round + names.length) % names.length]!
      const result = await contestants[name]()
      if (round >= 0) results[name].push(result)
    }
  const { tendril, graphile, graphileSerial, boss } = results
  const best = speedOf(graphile) > speedOf(boss) ? graphile : boss
  const row: Row = {
    what: `background work: ${jobs.toLocaleString('en')} no-op jobs of ${tenants.length.toLocaleString('en')} tenants; claimed, run and settled by fenced letters, one at a time per tenant`,
    result: described(tendril),
    peer: `graphile-worker with its local queue ${described(graphile)}, with a queue per tenant (as serial as ours) ${described(graphileSerial)} (${(speedOf(tendril) / speedOf(graphileSerial)).toFixed(2)}); pg-boss ${described(boss)}`,
    ratio: speedOf(tendril) / speedOf(best),
    costRatio: costOf(best) / costOf(tendril),
    goal: '> 1',
  }
  return [row, await onTwo(world, ours, { jobs, rounds })]
}

type Queue = Worker<QueuePlan, QueueResult>

/** The same work by one process, and by two that own half of the tenants each. */
const onTwo = async (world: World, one: Queue, { jobs, rounds }: Sizes): Promise<Row> => {
  await using other = startWorker<QueuePlan, QueueResult>('test/bench/queue-ours.ts', world.env)
  const all = (await addTenants(world.owner, world.tenants.length * 2)).map(({ id }) => id)
  const third = Math.floor(all.length / 4)
  const [ofOne, ofTwo, alone] = [all.slice(0, third), all.slice(third, 2 * third), all.slice(2 * third)]
  const ask = (queue: Queue, tenants: string[], count: number) => queue.ask({ engine: 'tendril', jobs: count, tenants })
  const ratios: number[] = []
  let [rate, aloneRate] = [0, 0]
  for (let round = -1; round < rounds; round++) {
    const single = await ask(one, alone, jobs)
    const both = await Promise.all([ask(one, ofOne, jobs / 2), ask(other, ofTwo, jobs / 2)])
    if (round < 0) continue
    aloneRate = (single.jobs * 1_000) / single.ms
    rate = ((both[0].jobs + both[1].jobs) * 1_000) / Math.max(both[0].ms, both[1].ms)
    ratios.push(rate / aloneRate)
  }
  const text = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`
  return {
    what: 'background work by two processes on one Postgres, each owner of half of the tenants',
    result: text(rate),
    peer: `one process ${text(aloneRate)}`,
    ratio: median(ratios),
  }
}
