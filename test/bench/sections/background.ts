/**
 * Background jobs a second, compared with job queues for Postgres on the same database, in turns.
 */
import { costOf } from '../contest.ts'
import { type Figures, median, type Peer, type Row } from '../figures.ts'
import type { Used } from '../meter.ts'
import { startWorker, type Worker } from '../spawn.ts'
import { addTenants, type World } from '../world.ts'

export interface QueuePlan {
  engine: 'tendril' | 'graphile-worker' | 'pg-boss'
  jobs: number
  tenants: string[]
  /** One job at a time per tenant, as actors always promise. */
  serial?: boolean
}

/** Processor time is that of the queue's process and of the database. */
export interface QueueResult extends Used {
  jobs: number
  /** From the first job until the last is settled in the database. */
  ms: number
}

interface Sizes {
  jobs: number
  rounds: number
}

const figuresOf = (results: QueueResult[]): Figures => {
  const middle = (part: (one: QueueResult) => number) => median(results.map(part))
  return {
    perSecond: middle(({ jobs, ms }) => (jobs * 1_000) / ms),
    serverUs: middle(({ jobs, serverMs }) => (serverMs * 1_000) / jobs),
    postgresUs: middle(({ jobs, databaseMs }) => (databaseMs * 1_000) / jobs),
  }
}

const peerOf = (name: string, ours: Figures, figures: Figures): Peer => ({
  name,
  figures,
  ratio: ours.perSecond! / figures.perSecond!,
  costRatio: costOf(figures) / costOf(ours),
})

/**
 * The job queues are ceilings without a goal: a job of theirs is a row deleted, not a decision
 * behind a fence.
 */
export async function background(world: World, { jobs, rounds }: Sizes): Promise<Row[]> {
  // New tenants, without other due work.
  const tenants = (await addTenants(world.owner, world.tenants.length)).map(({ id }) => id)
  await using queue = startWorker<QueuePlan, QueueResult>(
    'test/bench/sections/queue-ours.ts',
    world.env,
  )
  await using peers = startWorker<QueuePlan, QueueResult>(
    'test/bench/sections/queue-peers.ts',
    world.env,
  )
  const contestants = {
    tendril: () => queue.ask({ engine: 'tendril', jobs, tenants }),
    graphile: () => peers.ask({ engine: 'graphile-worker', jobs, tenants }),
    graphileSerial: () => peers.ask({ engine: 'graphile-worker', jobs, tenants, serial: true }),
    boss: () => peers.ask({ engine: 'pg-boss', jobs, tenants }),
  }
  const names = Object.keys(contestants) as (keyof typeof contestants)[]
  const results: Record<keyof typeof contestants, QueueResult[]> = {
    tendril: [],
    graphile: [],
    graphileSerial: [],
    boss: [],
  }
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round++)
    for (let index = 0; index < names.length; index++) {
      const name = names[(index + round + names.length) % names.length]!
      const result = await contestants[name]()
      if (round >= 0) results[name].push(result)
    }
  const ours = figuresOf(results.tendril)
  const row: Row = {
    what: 'no-op jobs of many tenants; claimed, run and settled by fenced letters, one at a time per tenant',
    figures: ours,
    peers: [
      peerOf('graphile-worker, a queue per tenant', ours, figuresOf(results.graphileSerial)),
      peerOf('graphile-worker, local queue', ours, figuresOf(results.graphile)),
      peerOf('pg-boss', ours, figuresOf(results.boss)),
    ],
  }
  return [row, await onTwo(world, queue, { jobs, rounds })]
}

type Queue = Worker<QueuePlan, QueueResult>

/** The same work by one process, and by two that own half of the tenants each. */
const onTwo = async (world: World, one: Queue, { jobs, rounds }: Sizes): Promise<Row> => {
  await using other = startWorker<QueuePlan, QueueResult>(
    'test/bench/sections/queue-ours.ts',
    world.env,
  )
  const all = (await addTenants(world.owner, world.tenants.length * 2)).map(({ id }) => id)
  const third = Math.floor(all.length / 4)
  const [ofOne, ofTwo, alone] = [
    all.slice(0, third),
    all.slice(third, 2 * third),
    all.slice(2 * third),
  ]
  const ask = (queue: Queue, tenants: string[], count: number) =>
    queue.ask({ engine: 'tendril', jobs: count, tenants })
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
  const peer = { name: 'one process', figures: { perSecond: aloneRate }, ratio: median(ratios) }
  return {
    what: 'by two processes, each owner of half of the tenants',
    figures: { perSecond: rate },
    peers: [peer],
  }
}
