/**
 * In this process: letters through a mailbox, the memory that a tenant takes, and how long it takes
 * to wake one.
 */

import type { Letter } from '#actors/engine/letter'
import { Mailbox, type Posted } from '#actors/engine/mailbox'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { openWorkplace, type Workplace } from '#server/workplace'
import { wakeable } from '#store/engine/placement'
import type { Row } from '../figures.ts'
import { quantile } from '../load.ts'
import { addTenants, type Tenant, type World } from '../world.ts'

/** Changes nothing: only gate and commit. */
const letter: Letter<void> = {
  name: 'bench',
  priority: 'interactive',
  provenance: { principal: { kind: 'system', id: 'bench' }, surface: 'admin' },
  decide: async () => ({ reply: undefined }),
}

/**
 * Calls `body` with 0 … count - 1, so many at once; returns their times in milliseconds, sorted,
 * and the rate a second.
 */
const timed = async (count: number, callers: number, body: (index: number) => Promise<unknown>) => {
  const times = new Float64Array(count)
  let next = 0
  const started = performance.now()
  const caller = async () => {
    for (let index = next++; index < count; index = next++) {
      const before = performance.now()
      await body(index)
      times[index] = performance.now() - before
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { perSecond: (count * 1_000) / (performance.now() - started), sorted: times.sort() }
}

const resident = (): number => {
  Bun.gc(true)
  return process.memoryUsage.rss()
}

const mailbox = async (): Promise<Row> => {
  const box = new Mailbox<Posted & { done(): void }>(async ({ done }) => done())
  const post = () =>
    new Promise<void>((done) => box.post({ priority: 'interactive', alone: true, done }))
  const { perSecond } = await timed(200_000, 64, post)
  return { what: 'letters through a mailbox, 64 callers, no database', figures: { perSecond } }
}

const letters = async (
  { runtime, db }: Workplace,
  { owner }: World,
  count: number,
): Promise<Row> => {
  // The tenants of the world belong to the servers that the other benchmarks have left running.
  const [{ id }] = (await addTenants(owner, 1)) as [Tenant]
  await runtime.ask(id, letter)
  const { perSecond: asked } = await timed(count, 32, () => runtime.ask(id, letter))
  const bare = await timed(count, 1, () => db.letter(id, (sql) => sql`select 1`.then(() => {})))
  return {
    what: 'letters of one tenant that change nothing, one at a time',
    figures: { perSecond: asked },
    peers: [
      {
        name: 'begin, select, commit',
        figures: { perSecond: bare.perSecond },
        ratio: asked / bare.perSecond,
      },
    ],
  }
}

const known = async ({ db }: Workplace, { owner }: World, count: number): Promise<Row> => {
  const before = resident()
  await owner`with t as (insert into tenant (id, name, plan)
    select gen_random_uuid(), 'Known', 'free' from generate_series(1, ${count}) returning id)
    insert into actor (tenant_id, wake_at) select id, now() + interval '1 hour' from t`
  const { sorted } = await timed(50, 1, () => wakeable(db, crypto.randomUUID(), 16))
  const grown = Math.max(0, resident() - before)
  return {
    what: 'a known tenant that sleeps, of 100,000: memory of the process; a poll of the sweep',
    figures: { bytes: Math.round(grown / count), p50Ms: quantile(sorted, 0.5) },
    goals: [{ of: 'bytes', atMost: 8 }],
  }
}

const awake = async ({ runtime }: Workplace, { owner }: World, count: number): Promise<Row[]> => {
  const tenants = await addTenants(owner, count)
  const before = resident()
  const { sorted, perSecond } = await timed(count, 4, (index) =>
    runtime.ask(tenants[index]!.id, letter),
  )
  // Recovery and the first look for due work continue after the first letter.
  await timed(count, 16, (index) => runtime.ask(tenants[index]!.id, letter))
  if (runtime.awake < count) throw new Error(`${runtime.awake} of ${count} tenants are awake`)
  const kib = (resident() - before) / runtime.awake / 1_024
  return [
    {
      what: 'waking tenants until the first letter is answered, 4 at once',
      figures: { perSecond, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) },
    },
    { what: 'an active tenant, of 10,000 in one process', figures: { kib } },
  ]
}

export async function tenants(
  world: World,
  sizes: { letters: number; known: number; awake: number },
): Promise<Row[]> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', RATE_LIMITS: 'off' })
  const options = {
    log: createLog('silent'),
    secret: world.secret,
    overrides: { sweepMs: 0, idleMs: 3_600_000 },
  }
  await using workplace = await openWorkplace(config, world.options, options)
  return [
    await mailbox(),
    await letters(workplace, world, sizes.letters),
    await known(workplace, world, sizes.known),
    ...(await awake(workplace, world, sizes.awake)),
  ]
}
