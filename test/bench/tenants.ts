/** In this process: letters through a mailbox, the memory that a tenant takes, and how long it takes to wake one. */

import type { Letter } from '#actors/engine/letter'
import { Mailbox, type Posted } from '#actors/engine/mailbox'
import { createLog } from '#kernel/log'
import { openWorkplace, type Workplace } from '#server/server'
import { readConfig } from '#src/config'
import { wakeable } from '#store/engine/placement'
import { quantile } from './load.ts'
import { ms, type Row } from './table.ts'
import { addTenants, type Tenant, type World } from './world.ts'

/** Changes nothing: only gate and commit. */
const letter: Letter<void> = {
  name: 'bench',
  priority: 'interactive',
  provenance: { principal: { kind: 'system', id: 'bench' }, surface: 'admin' },
  decide: async () => ({ reply: undefined }),
}

/** Calls `body` with 0 … count - 1, so many at once; returns their times in milliseconds, sorted, and the rate a second. */
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

const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`

const mailbox = async (): Promise<Row> => {
  const box = new Mailbox<Posted & { done(): void }>(async ({ done }) => done())
  const post = () => new Promise<void>((done) => box.post({ priority: 'interactive', alone: true, done }))
  const { perSecond: posts } = await timed(200_000, 64, post)
  return { what: 'letters through a mailbox, 64 callers, no database', result: perSecond(posts) }
}

const letters = async ({ runtime, db }: Workplace, { owner }: World, count: number): Promise<Row> => {
  // The tenants of the world belong to the servers that the other benchmarks have left running.
  const [{ id }] = (await addTenants(owner, 1)) as [Tenant]
  await runtime.ask(id, letter)
  const { perSecond: asked } = await timed(count, 32, () => runtime.ask(id, letter))
  const bare = await timed(count, 1, () => db.letter(id, (sql) => sql`select 1`.then(() => {})))
  return {
    what: 'letters of one tenant that change nothing, one at a time',
    result: perSecond(asked),
    peer: `begin, select, commit, one at a time ${perSecond(bare.perSecond)}`,
    ratio: asked / bare.perSecond,
  }
}

const known = async ({ db }: Workplace, { owner }: World, count: number): Promise<Row> => {
  const before = resident()
  await owner`with t as (insert into tenant (id, name, plan) select gen_random_uuid(), 'Known', 'free' from generate_series(1, ${count}) returning id)
    insert into actor (tenant_id, wake_at) select id, now() + interval '1 hour' from t`
  const { sorted } = await timed(50, 1, () => wakeable(db, crypto.randomUUID(), 16))
  const grown = Math.max(0, resident() - before)
  return {
    what: `${count.toLocaleString('en')} known tenants that sleep`,
    result: `${Math.round(grown / count)} bytes each in the process; the sweep's poll takes ${ms(quantile(sorted, 0.5))}`,
    goal: 'nothing',
  }
}

const awake = async ({ runtime }: Workplace, { owner }: World, count: number): Promise<Row[]> => {
  const tenants = await addTenants(owner, count)
  const before = resident()
  const { sorted, perSecond: woken } = await timed(count, 4, (index) => runtime.ask(tenants[index]!.id, letter))
  // Recovery and the first look for due work continue after the first letter.
  await timed(count, 16, (index) => runtime.ask(tenants[index]!.id, letter))
  const each = (resident() - before) / count
  return [
    {
      what: `waking ${count.toLocaleString('en')} tenants, until the first letter is answered, 4 at once`,
      result: `${perSecond(woken)} (p50 ${ms(quantile(sorted, 0.5))}, p99 ${ms(quantile(sorted, 0.99))})`,
    },
    {
      what: `an active tenant, of ${runtime.awake.toLocaleString('en')}`,
      result: `${(each / 1_024).toFixed(1)} KiB; 10,000 of them ${Math.round((each * 10_000) / 2 ** 20)} MiB`,
      goal: '10,000 fit one process',
    },
  ]
}

export async function tenants(world: World, sizes: { letters: number; known: number; awake: number }): Promise<Row[]> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: 'silent', RATE_LIMITS: 'off' })
  const options = { log: createLog('silent'), secret: world.secret, overrides: { sweepMs: 0, idleMs: 3_600_000 } }
  await using workplace = await openWorkplace(config, world.options, options)
  return [
    await mailbox(),
    await letters(workplace, world, sizes.letters),
    await known(workplace, world, sizes.known),
    ...(await awake(workplace, world, sizes.awake)),
  ]
}
