/** What workspaces that sleep cost Postgres: two servers, with one workspace and with thousands. */
import type { Row } from '../figures.ts'
import { databaseCpuMs } from '../meter.ts'
import { addTenants, openWorld, startServer, type World } from '../world.ts'

interface Sizes {
  workspaces: number
  seconds: number
}

const MINUTE_S = 60

/** Milliseconds of Postgres in a minute. */
const costOf = async ({ owner }: World, seconds: number): Promise<number> => {
  const before = (await databaseCpuMs(owner)) ?? Number.NaN
  await Bun.sleep(seconds * 1_000)
  return (((await databaseCpuMs(owner)) ?? Number.NaN) - before) * (MINUTE_S / seconds)
}

/** Until nothing is to be swept: new workspaces are looked at once. */
const quiet = async ({ owner }: World): Promise<void> => {
  const due = async () => (await owner`select 1 from actor where sweep_at <= now() limit 1`).length
  while ((await due()) > 0) await Bun.sleep(1_000)
}

/** A Postgres of its own, in which nobody else sleeps. */
export const asleep = async ({ workspaces, seconds }: Sizes, durable: boolean): Promise<Row[]> => {
  await using world = await openWorld(1, { durable })
  const { owner } = world
  await using _one = await startServer(world)
  await using _other = await startServer(world)
  await quiet(world)
  const alone = await costOf(world, seconds)
  await addTenants(owner, workspaces)
  await owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
    select gen_random_uuid(), id, now(), 'key', 'bench', 'rest', 'bench'
      from tenant, generate_series(1, 20)`
  await owner`update actor set wake_at = now() + interval '1 hour',
    sweep_at = sweep_due(tenant_id, interval '400 days', interval '90 days')
    where wake_at is null`
  await owner`vacuum analyze tenant, actor, audit`
  const crowded = await costOf(world, seconds)
  const figures = { ms: Math.max(0, crowded - alone) }
  return [
    {
      what: 'Postgres in a minute for two servers with one workspace, which sleeps',
      figures: { ms: alone },
    },
    {
      what: `Postgres in a minute for two servers with ${workspaces.toLocaleString('en')} workspaces more, all asleep`,
      figures,
      goals: [{ of: 'ms', atMost: 200 }],
    },
  ]
}
