/**
 * What receivers that never answer cost another workspace: the time from an event's commit to its
 * arrival, with and without them.
 */

import { createSealer } from '#kernel/sealer'
import { soleKey } from '#kernel/secret-keys'
import { newWebhookSecret } from '#port/webhook'
import { secretRow } from '#store/app/webhooks'
import { openReceiver, type Receiver } from '../../support/http/receiver.ts'
import { ask } from '../client.ts'
import { median, type Row } from '../figures.ts'
import type { Running } from '../spawn.ts'
import { addDrafts, addTenants, startServer, type Tenant, type World } from '../world.ts'

interface Sizes {
  /** Events measured in each round, one after the other. */
  events: number
  /** How many other workspaces have a receiver that accepts and never answers. */
  silent: number[]
}

const LATE_MS = 30_000

/** Sets an endpoint that wants every event. */
export const setEndpoint = async (
  { owner, secret }: World,
  tenant: Tenant,
  url: string,
): Promise<void> => {
  const sealed = createSealer(soleKey(secret)).seal(newWebhookSecret(), secretRow(tenant.id))
  await owner`insert into webhook_endpoint (tenant_id, id, url, events, secret, status, created_at,
    updated_at)
    values (${tenant.id}, gen_random_uuid(), ${url}, '{}', ${sealed}, 'active', now(), now())`
}

/** Causes an event of the workspace; the item is posted by hand, so no network takes part. */
const happen = async (server: Running, tenant: Tenant, itemId: string): Promise<void> => {
  await ask(server, tenant, 'POST', `growth/items/${itemId}/approve`, {})
  await ask(server, tenant, 'POST', `growth/items/${itemId}/posted`, {})
}

const arrival = async (receiver: Receiver, count: number): Promise<number> => {
  const until = performance.now() + LATE_MS
  while (receiver.requests.length < count) {
    if (performance.now() > until) throw new Error(`an event did not arrive within ${LATE_MS} ms`)
    await Bun.sleep(1)
  }
  return performance.now()
}

/** For each event, the milliseconds from its command's answer to its arrival. */
const delays = async (
  server: Running,
  receiver: Receiver,
  { tenant, items }: { tenant: Tenant; items: string[] },
): Promise<number[]> => {
  const all: number[] = []
  for (const id of items) {
    const before = receiver.requests.length
    await happen(server, tenant, id)
    const committed = performance.now()
    all.push(Math.max(0, (await arrival(receiver, before + 1)) - committed))
  }
  return all
}

const figuresOf = (all: number[]) => ({ p50Ms: median(all), longestMs: Math.max(...all) })

const beside = async (world: World, count: number, events: number): Promise<Row> => {
  await using live = await openReceiver()
  await using silent = await openReceiver()
  silent.answer = { hang: 'before' }
  const [tenant, ...others] = (await addTenants(world.owner, count + 1)) as [Tenant, ...Tenant[]]
  await setEndpoint(world, tenant, live.url)
  for (const other of others) await setEndpoint(world, other, silent.url)
  const items = (await addDrafts(world.owner, [tenant], 2 * events)).map(({ id }) => id)
  const theirs = await addDrafts(world.owner, others, 1)
  const pairs = [live, silent].map(({ url }) => new URL(url).host).join()
  await using server = await startServer(world, { EGRESS_ALLOW: pairs })
  const alone = await delays(server, live, { tenant, items: items.slice(0, events) })
  for (const { id, tenant: other } of theirs) await happen(server, other, id)
  const held = await delays(server, live, { tenant, items: items.slice(events) })
  const hanging = silent.requests.length
  if (hanging === 0) throw new Error('no receiver was left without an answer')
  return {
    what: `an event's way to its receiver; other workspaces whose receivers never answer: ${count}`,
    figures: figuresOf(held),
    peers: [{ name: 'alone', figures: figuresOf(alone), ratio: median(alone) / median(held) }],
    goals: [{ of: 'longestMs', atMost: 1_000 }],
  }
}

export async function delivery(world: World, { events, silent }: Sizes): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of silent) rows.push(await beside(world, count, events))
  return rows
}
