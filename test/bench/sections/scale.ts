/**
 * Queries over all tenants and of single ones among very many: a million actors, each with a
 * scheduled post (fewer in a quick run).
 */
import { gateHook } from '#decisions/gate'
import { workTable } from '#decisions/work'
import { openDb } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { loadNow } from '#store/engine/load'
import { nextDue } from '#store/engine/next-due'
import { register } from '#store/engine/nodes'
import { claimTenant, releaseTenant, wakeable } from '#store/engine/placement'
import type { Figures, Row } from '../figures.ts'
import { quantile } from '../load.ts'
import type { World } from '../world.ts'

const PROBES = 300
/** As many as the sweep requests. */
const WAKE_AT_ONCE = 16
const NOTHING_RUNS = { kinds: workTable, running: [], excluded: [] }

const times = async (
  count: number,
  body: (index: number) => Promise<unknown>,
): Promise<Figures> => {
  const all = new Float64Array(count)
  for (let index = 0; index < count; index++) {
    const before = performance.now()
    await body(index)
    all[index] = performance.now() - before
  }
  const sorted = all.sort()
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) }
}

/** Sleeping tenants with one post each, due within the coming month. */
const addSleepers = async ({ owner }: World, count: number): Promise<void> => {
  await owner.begin(async (sql) => {
    await sql`create temporary table sleeper on commit drop as
      select gen_random_uuid() as id, clock_timestamp() + interval '1 hour' + random() * interval
        '30 days' as at from generate_series(1, ${count})`
    await sql`insert into tenant (id, name, plan) select id, 'Sleeper', 'pro' from sleeper`
    await sql`insert into actor (tenant_id, epoch, wake_at) select id, 1, at from sleeper`
    await sql`insert into work (id, tenant_id, lane, kind, ref_id, origin, run_at)
      select gen_random_uuid(), id, 'publish', 'send', gen_random_uuid(), 'automatic', at
        from sleeper`
  })
  await owner`vacuum analyze tenant, actor, work`
}

const sizes = async ({ owner }: World): Promise<Row[]> => {
  const rows = await owner<{ name: string; bytes: number; rows: number }[]>`
    select relname as name, pg_total_relation_size(c.oid)::float8 as bytes,
      greatest(reltuples, 1)::float8 as rows
    from pg_class c where relname in ('tenant', 'actor', 'work') and relkind = 'r' order by relname`
  return rows.map(({ name, bytes, rows: count }) => ({
    what: `table \`${name}\` on disk with its indexes, in all and a row`,
    figures: { mib: bytes / 2 ** 20, bytes: bytes / count },
  }))
}

export async function scale(
  world: World,
  { sleepers, due }: { sleepers: number; due: number },
): Promise<Row[]> {
  await addSleepers(world, sleepers)
  const onDisk = await sizes(world)
  await using db = openDb(world.options)
  const self = crypto.randomUUID()
  await register(db, { incarnation: self, lockKey: 1n, url: 'http://127.0.0.1:9' })
  const some = await world.owner<
    { tenant_id: string }[]
  >`select tenant_id from actor where owner is null and wake_at is not null limit ${PROBES}`
  const idOf = (index: number): string => some[index % some.length]!.tenant_id
  const look = () => wakeable(db, self, WAKE_AT_ONCE)
  // Nothing renews this probe's lease, which must not end midway.
  const renew = () =>
    world.owner`update node set expires_at = clock_timestamp() + interval '1 minute'
      where incarnation = ${self}`
  await renew()
  await times(PROBES, look)
  const quiet = await times(PROBES, look)
  await world.owner`update actor set wake_at = clock_timestamp() - random() * interval '1 minute'
    where tenant_id in (select tenant_id from actor where wake_at is not null limit ${due})`
  const busy = await times(PROBES, look)
  await renew()
  const epochs: number[] = []
  const claim = await times(PROBES, async (index) => {
    epochs[index % some.length] = (await claimTenant(db, idOf(index), self))?.epoch ?? 0
  })
  const letter = await times(PROBES, (index) =>
    db.letter(idOf(index), async (sql) => {
      const open = await gate(
        sql,
        { tenantId: idOf(index), owner: self, epoch: epochs[index % some.length]! },
        { hook: gateHook },
      )
      if (!open) throw new Error('fenced')
      await loadNow(sql, {
        found: nextDue({ ...NOTHING_RUNS, at: { now: open.now, paused: false } }),
      })
    }),
  )
  const release = await times(PROBES, (index) =>
    releaseTenant(db, { tenantId: idOf(index), owner: self, epoch: epochs[index % some.length]! }),
  )
  await world.owner`delete from node where incarnation = ${self}`
  const rows: Record<string, Figures> = {
    "the sweeper's look, nothing due": quiet,
    "the sweeper's look, 10,000 due": busy,
    'claiming a tenant': claim,
    'a letter of a tenant that looks for due work': letter,
    'releasing a tenant': release,
  }
  return [...onDisk, ...Object.entries(rows).map(([what, figures]) => ({ what, figures }))]
}
