/**
 * The peer of due posts: workflows of DBOS, in a process of its own, over a table of items of its
 * own and our sandbox.
 */
import { PRODUCTION, peerCommand } from '../peers.ts'
import { type Running, startProcess } from '../spawn.ts'
import { BODY, type World } from '../world.ts'
import type { Due, Sizes } from './due.ts'

/** Enough for its code to be compiled. */
const WARM_UP = 500

export const prepareItems = async (world: World): Promise<void> => {
  await world.owner`create schema if not exists peer`
  await world.owner`create table if not exists peer.item (id uuid primary key,
    tenant_id uuid not null, body text not null,
    status text not null default 'approved', external_id text, posted_at timestamptz)`
}

export const startWorkflows = async (world: World): Promise<Running> => {
  await prepareItems(world)
  return await startProcess(await peerCommand('dbos'), { ...world.env, ...PRODUCTION })
}

const enqueue = async ({ port }: Running, ids: string[], at: Date): Promise<void> => {
  const reply = await fetch(`http://127.0.0.1:${port}/posts`, {
    method: 'POST',
    body: JSON.stringify({ ids, at: at.getTime() }),
  })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
}

const addItems = async (
  { owner, tenants }: World,
  posts: number,
  among: number,
): Promise<string[]> => {
  const ids = tenants.slice(0, among).map(({ id }) => id)
  const rows = await owner<{ id: string }[]>`insert into peer.item (id, tenant_id, body)
    select id, (${ids}::uuid[])[1 + n % ${ids.length}], ${BODY} || ' ' || id
    from (select n, gen_random_uuid() as id from generate_series(1, ${posts}) n) i returning id`
  return rows.map(({ id }) => id)
}

export const workflowsLeft = async ({ owner }: World): Promise<boolean> =>
  (await owner`select 1 from dbos.workflow_status where status not in ('SUCCESS', 'ERROR') limit 1`)
    .length > 0

export const scheduleWorkflows = async (
  world: World,
  peer: Running,
  { posts, tenants }: Sizes,
): Promise<Due> => {
  const started = performance.now()
  await enqueue(peer, await addItems(world, WARM_UP, tenants), new Date())
  const each = (performance.now() - started) / WARM_UP
  while (await workflowsLeft(world)) await Bun.sleep(100)
  const ids = await addItems(world, posts, tenants)
  const at = new Date(Date.now() + posts * each * 2 + 3_000)
  await enqueue(peer, ids, at)
  await world.owner`vacuum analyze peer.item, dbos.workflow_status`
  return { ids, at, table: 'peer.item' }
}
