/**
 * Places among the processes while the database's clock steps: what a step leaves of their leases.
 */
import { afterEach, expect, test } from 'bun:test'
import { NODE_LEASE_MS } from '#store/engine/nodes'
import { actorStore, counters } from '#test/support/actors/actors'
import { BEAT_MS, beat, type Frozen, frozenOn, passing } from '#test/support/actors/frozen'
import { bump } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const frozen = (): Promise<Frozen> => frozenOn(store)
const nodes = async (): Promise<string[]> =>
  (await store.owner`select incarnation from node order by 1`).map((row) => row.incarnation)
const ownerOf = async (tenant: string): Promise<string> =>
  (await store.owner`select owner from actor where tenant_id = ${tenant}`)[0]!.owner

test('one that only stopped beating does not gain the hour that the clock steps back', async () => {
  await using one = await frozen()
  await using other = await frozen()
  const tenant = await store.newTenant()
  await one.runtime.ask(tenant, bump('n'))
  const first = await ownerOf(tenant)
  // What a step of the database's clock by an hour back leaves of both leases.
  await store.owner`update node set expires_at = expires_at + interval '1 hour'`
  for (let ms = 0; ms < NODE_LEASE_MS; ms += BEAT_MS) await beat(other)
  expect(await nodes()).toContain(first)
  await beat(other)
  expect(await nodes()).not.toContain(first)
  await other.runtime.ask(tenant, bump('n'))
  expect(await counters(store, tenant)).toEqual({ n: 2 })
})

test('a clock that steps back costs nobody who still beats its place', async () => {
  await using one = await frozen()
  await using other = await frozen()
  const before = await nodes()
  await store.owner`update node set expires_at = expires_at + interval '1 hour'`
  for (let ms = 0; ms <= 2 * NODE_LEASE_MS; ms += BEAT_MS) {
    await beat(other)
    await beat(one)
  }
  expect(await nodes()).toEqual(before)
})

test('keeps the letters that wait for a workspace, and runs them once it has joined again', async () => {
  await using one = await frozen()
  const tenant = await store.newTenant()
  // What a step of the database's clock by two days forward makes of its lease.
  await store.owner`update node set expires_at = now()`
  await passing(store, one.clock, one.runtime.ask(tenant, bump('n')))
  expect(await counters(store, tenant)).toEqual({ n: 1 })
})
