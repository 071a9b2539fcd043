/** Which letters are decided in one transaction with those of other workspaces. */
import { afterEach, expect, test } from 'bun:test'
import type { Letter } from '#actors/engine/letter'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { type Db, openDb, type Sql } from '#store/engine/db'
import { NotShared } from '#store/engine/shared'
import { type Actors, actorStore, actorsOn } from '#test/support/actors/actors'
import { letterOf, newGate } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const transactionOf = async (sql: Sql): Promise<string> =>
  (await sql<{ id: string }>`select pg_current_xact_id()::text as id`)[0]!.id
const change = { spend: [{ key: 'n', period: 'test', amount: 1 }] }
/** Its reply is the transaction in which it was decided. */
const seen: Letter<string> = letterOf(async (sql) => ({
  reply: await transactionOf(sql),
  effects: change,
}))

interface Stage extends AsyncDisposable {
  actors: Actors
  tenants: string[]
}

/** One transaction at a time is shared, and is open to others for as long as a test takes. */
const stage = async (): Promise<Stage> => {
  await using stack = new AsyncDisposableStack()
  const db = stack.use(
    openDb({ ...store.options, max: 4, patience: { joinMs: 10_000, silentMs: 10_000 } }),
  )
  // Time that stands still closes no group.
  const clock = { ...systemClock, monotonic: () => 0 }
  const actors = stack.use(await actorsOn(store, { db, clock, lanes: [] }))
  const tenants = await Promise.all([1, 2, 3].map(() => store.newTenant()))
  for (const tenant of tenants) await actors.runtime.ask(tenant, seen)
  const owned = stack.move()
  return { actors, tenants, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A letter that has the shared transaction to itself until it is freed. */
const holding = async ({ runtime }: Actors, tenant: string) => {
  const [begun, gate] = [newGate(), newGate()]
  const result = runtime.ask(
    tenant,
    letterOf(
      async (sql) => {
        begun.open()
        await gate.opened
        return { reply: await transactionOf(sql), effects: change }
      },
      // A kind of its own, as one that takes long would share no more.
      { name: 'holding' },
    ),
  )
  await begun.opened
  return { result, free: gate.open }
}

test('those of other workspaces that wait', async () => {
  await using all = await stage()
  const [x, a, b] = all.tenants
  const first = await holding(all.actors, x!)
  const others = [a, b].map((tenant) => all.actors.runtime.ask(tenant!, seen))
  first.free()
  const shared = await first.result
  expect(await Promise.all(others)).toEqual([shared, shared])
})

test('no letter that is not a command, once another workspace is in it', async () => {
  await using all = await stage()
  const [x, a] = all.tenants
  const first = await holding(all.actors, x!)
  const command = all.actors.runtime.ask(a!, seen)
  const timer = all.actors.runtime.ask(a!, { ...seen, priority: 'background' })
  first.free()
  const shared = await first.result
  expect(await command).toBe(shared)
  expect(await timer).not.toBe(shared)
})

test('another letter of the first workspace, which keeps others out', async () => {
  await using all = await stage()
  const [x, a] = all.tenants
  const first = await holding(all.actors, x!)
  const timer = all.actors.runtime.ask(x!, { ...seen, priority: 'background' })
  const command = all.actors.runtime.ask(a!, seen)
  first.free()
  const shared = await first.result
  expect(await timer).toBe(shared)
  expect(await command).not.toBe(shared)
})

test('no letter behind a workspace for which the kill switch waits', async () => {
  await using all = await stage()
  const [x, a] = all.tenants
  const first = await holding(all.actors, x!)
  const command = all.actors.runtime.ask(a!, seen)
  const urgent = all.actors.runtime.ask(x!, { ...seen, priority: 'control', alone: true })
  first.free()
  const shared = await first.result
  expect(await command).not.toBe(shared)
  expect(await urgent).not.toBe(shared)
})

test('a letter that meets the fence costs the others nothing', async () => {
  await using all = await stage()
  const [x, a, b] = all.tenants
  const first = await holding(all.actors, x!)
  const others = [a, b].map((tenant) => all.actors.runtime.ask(tenant!, seen))
  await store.owner`update actor set epoch = epoch + 1 where tenant_id = ${a!}`
  first.free()
  const shared = await first.result
  const [fenced, last] = await Promise.all(others)
  expect(fenced).not.toBe(shared)
  expect(last).toBe(shared)
})

test('a workspace whose row is locked keeps its owner', async () => {
  await using all = await stage()
  const [x] = all.tenants
  const epochOf = async () =>
    (await store.owner`select epoch from actor where tenant_id = ${x!}`)[0]!.epoch
  const before = await epochOf()
  let waiting: Promise<string> | undefined
  await store.owner.begin(async (sql) => {
    await sql`select from actor where tenant_id = ${x!} for update`
    waiting = all.actors.runtime.ask(x!, seen)
    await Bun.sleep(50)
  })
  await waiting
  expect(await epochOf()).toBe(before)
})

test('letters that must be decided by themselves fail together while the database is away', async () => {
  await using real = openDb({ ...store.options, max: 4 })
  let own = 0
  let isAway = false
  const letter: Db['letter'] = async (tenantId, body, demand, kind) => {
    if (!isAway) return await real.letter(tenantId, body, demand, kind)
    if (kind === undefined && own++ < 10) throw new AppError('unavailable', 'away')
    return await real.letter(tenantId, async (sql) => {
      await body(sql)
      throw new NotShared()
    })
  }
  await using actors = await actorsOn(store, {
    db: Object.assign(Object.create(real), { letter }),
    lanes: [],
    // However slow the machine is, they have the time to join one transaction.
    clock: { ...systemClock, monotonic: () => 0 },
  })
  const tenant = await store.newTenant()
  await actors.runtime.ask(tenant, seen)
  isAway = true
  const asked = await Promise.allSettled(
    [1, 2, 3, 4, 5].map(() => actors.runtime.ask(tenant, seen)),
  )
  expect(asked.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  // One of them, and the recovery after it.
  expect(own).toBeLessThanOrEqual(2)
})
