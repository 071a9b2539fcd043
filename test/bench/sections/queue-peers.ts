/**
 * Job queues for Postgres for comparison, in a process of their own: no-op jobs, configured for
 * throughput as their documentation says.
 */
import { Logger, makeWorkerUtils, run as runWorker } from 'graphile-worker'
import PgBoss from 'pg-boss'
import { connectionOptionsOf } from '#server/database-url'
import { processorMs, type Used, usedSince } from '../meter.ts'
import { openPeer } from '../peer-sql.ts'
import { serveLines } from '../spawn.ts'
import type { QueuePlan, QueueResult } from './background.ts'

const connectionString = process.env.DATABASE_URL ?? ''
const owner = openPeer(connectionOptionsOf(connectionString))
const JOB = 'bench'

/** Measures from the first job that runs until the database has recorded all as done. */
class Tally {
  ran = 0
  #startedAt = 0

  constructor(private readonly before: Used) {}

  count(jobs: number): void {
    if (this.ran === 0) this.#startedAt = performance.now()
    this.ran += jobs
  }

  async until(expected: number, left: () => Promise<boolean>): Promise<QueueResult> {
    while (this.ran < expected || (await left())) await Bun.sleep(5)
    if (this.ran !== expected) throw new Error(`${expected} jobs ran ${this.ran} times`)
    const ms = performance.now() - this.#startedAt
    return { jobs: expected, ms, ...(await usedSince(owner, this.before)) }
  }
}

// From the page "Performance" of its documentation.
const GRAPHILE = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
const silent = new Logger(() => () => {})

const graphile = async ({ jobs, tenants, serial }: QueuePlan): Promise<QueueResult> => {
  const utils = await makeWorkerUtils({ connectionString, logger: silent })
  await utils.migrate()
  const specs = Array.from({ length: jobs }, (_, index) => {
    const tenant = tenants[index % tenants.length]!
    return { identifier: JOB, payload: { tenant, index }, ...(serial ? { queueName: tenant } : {}) }
  })
  await utils.addJobs(specs)
  await utils.release()
  await owner`vacuum analyze graphile_worker._private_jobs`
  const tally = new Tally(await processorMs(owner))
  const taskList = { [JOB]: () => tally.count(1) }
  const preset = { worker: { connectionString, ...GRAPHILE } }
  const runner = await runWorker({ preset, taskList, logger: silent, noHandleSignals: true })
  const result = await tally.until(
    jobs,
    async () => (await owner`select 1 from graphile_worker._private_jobs limit 1`).length > 0,
  )
  await runner.stop()
  return result
}

const BOSS = { batchSize: 200, loops: 4 }

/**
 * Its own workers pause for half a second after each batch, so this loop uses the calls that they
 * are made of.
 */
const boss = async ({ jobs, tenants }: QueuePlan): Promise<QueueResult> => {
  const pgBoss = new PgBoss({ connectionString, max: 25, supervise: false, schedule: false })
  await pgBoss.start()
  await pgBoss.createQueue(JOB)
  await pgBoss.insert(
    Array.from({ length: jobs }, (_, index) => ({
      name: JOB,
      data: { tenant: tenants[index % tenants.length], index },
    })),
  )
  await owner`vacuum analyze pgboss.job`
  const tally = new Tally(await processorMs(owner))
  const drain = async (): Promise<void> => {
    for (let batch = await fetchBatch(); batch.length > 0; batch = await fetchBatch()) {
      tally.count(batch.length)
      await pgBoss.complete(
        JOB,
        batch.map(({ id }) => id),
      )
    }
  }
  const fetchBatch = async () => (await pgBoss.fetch(JOB, { batchSize: BOSS.batchSize })) ?? []
  await Promise.all(Array.from({ length: BOSS.loops }, drain))
  const open = () =>
    owner`select 1 from pgboss.job where name = ${JOB} and state < 'completed' limit 1`
  const result = await tally.until(jobs, async () => (await open()).length > 0)
  await pgBoss.clearStorage()
  await pgBoss.stop({ graceful: false })
  return result
}

await serveLines((plan: QueuePlan) => (plan.engine === 'pg-boss' ? boss(plan) : graphile(plan)))
await owner.end()
