import { afterEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { type ActorsOptions, actorStore, counters, fakeLane } from '#test/support/actors/actors'
import { BEAT_MS, beat, type Frozen, frozenOn, passing, warm } from '#test/support/actors/frozen'
import { addWork, bump, workOn } from '#test/support/actors/letters'
import type { ManualClock } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

/** A process whose time is the test's: it beats when it is told to. */
const frozen = (options: ActorsOptions = {}): Promise<Frozen> => frozenOn(store, options)

const nodes = async (): Promise<string[]> =>
  (await store.owner`select incarnation from node order by 1`).map((row) => row.incarnation)
const ownerOf = async (tenant: string) =>
  (await store.owner`select owner, epoch::int from actor where tenant_id = ${tenant}`)[0]
const lockSessions = () =>
  store.owner`select pid from pg_stat_activity where application_name = 'tendril-node'
    and datname = current_database()`
/** Ends them, and waits until the database has. */
const cutLockSessions = async (): Promise<void> => {
  const pids = (await lockSessions()).map(({ pid }) => pid)
  for (const pid of pids) await store.owner`select pg_terminate_backend(${pid})`
  await eventually(lockSessions, (left) => !left.some(({ pid }) => pids.includes(pid)))
}
const locks = () => store.owner`select 1 from pg_locks l join node n on (l.classid::bigint << 32) |
    l.objid::bigint = n.lock_key
  where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database
    where datname = current_database())`

describe('while its owner lives', () => {
  test('a tenant is served by one process, and another answers unavailable with a retry time', async () => {
    await using one = await frozen()
    await using other = await frozen()
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    await expect(other.runtime.ask(tenant, bump('n'))).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: 2,
    })
    await one.runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
  })

  test('a lock session that the database cuts is opened again before the others notice', async () => {
    await using one = await frozen()
    await using other = await frozen()
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    const [before] = [await nodes()]
    await cutLockSessions()
    expect(await eventually(locks, ({ length }) => length === 2)).toHaveLength(2)
    for (let i = 0; i < 3; i++) await Promise.all([beat(one), beat(other)])
    expect(await nodes()).toEqual(before)
    await one.runtime.ask(tenant, bump('n'))
    expect(await ownerOf(tenant)).toMatchObject({ epoch: 1 })
  })

  test('a lock that could not be taken again at once is taken with the next beat', async () => {
    await using one = await frozen()
    await warm(one)
    expect(await locks()).toHaveLength(1)
    {
      await using _shut = await store.shut()
      await cutLockSessions()
      // Its pools are connected already; only the lock needs a new connection.
      await beat(one)
      expect(await locks()).toHaveLength(0)
    }
    await beat(one)
    expect(await eventually(locks, ({ length }) => length === 1)).toHaveLength(1)
    expect(await nodes()).toHaveLength(1)
  })
})

test('a letter under an old claim is sent again under a new one, even if the same process holds both', async () => {
  await using one = await frozen()
  const tenant = await store.newTenant()
  await one.runtime.ask(tenant, bump('n'))
  await store.owner`update actor set epoch = epoch + 1 where tenant_id = ${tenant}`
  await one.runtime.ask(tenant, bump('n'))
  expect(await counters(store, tenant)).toEqual({ n: 2 })
  expect(await ownerOf(tenant)).toMatchObject({ epoch: 3 })
})

describe('a process whose lease has ended', () => {
  /** What it logs with its next beat. */
  const toldAfter = async (
    end: (incarnation: string) => Promise<unknown>,
  ): Promise<string | undefined> => {
    const told: string[] = []
    const log = createLog('warn', { write: (line) => void told.push(JSON.parse(line).msg) })
    await using one = await frozen({ log })
    const [incarnation] = await nodes()
    await end(incarnation!)
    await one.clock.advance(BEAT_MS)
    await eventually(nodes, (now) => now.some((other) => other !== incarnation))
    return told[0]
  }

  test('says that it was late, if nobody else had a hand in it', async () => {
    const late = (incarnation: string) =>
      store.owner`update node set expires_at = now() where incarnation = ${incarnation}`
    expect(await toldAfter(late)).toContain('did not renew its lease in time')
  })

  test('says that others declared it dead, if it was in time', async () => {
    const removed = (incarnation: string) =>
      store.owner`delete from node where incarnation = ${incarnation}`
    expect(await toldAfter(removed)).toContain('other processes declared this one dead')
  })
})

describe('a process that was declared dead', () => {
  /** `one` owned the tenant and does not know yet that `other` does now. */
  const takenOver = async (options: ActorsOptions = {}) => {
    await using stack = new AsyncDisposableStack()
    const one = stack.use(await frozen(options))
    const other = stack.use(await frozen({ lanes: [fakeLane()] }))
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    const takeOver = async () => {
      await store.owner`delete from node where incarnation = ${(await ownerOf(tenant))!.owner}`
      await other.runtime.ask(tenant, bump('n'))
    }
    const owned = stack.move()
    return { one, other, tenant, takeOver, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  }

  test('can change nothing', async () => {
    await using world = await takenOver()
    const { one, tenant } = world
    await world.takeOver()
    const [before] = await store.owner`select a.*, (select jsonb_agg(c) from counter c
        where c.tenant_id = a.tenant_id) as counters
      from actor a where tenant_id = ${tenant}`
    const late = Array.from({ length: 5 }, () =>
      one.runtime.ask(tenant, bump('n', { work: [workOn(newId())], paused: true })),
    )
    const outcomes = await passing(store, one.clock, Promise.allSettled(late))
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
      Array(5).fill('unavailable'),
    )
    const [after] = await store.owner`select a.*, (select jsonb_agg(c) from counter c
        where c.tenant_id = a.tenant_id) as counters
      from actor a where tenant_id = ${tenant}`
    expect(after).toEqual(before)
  })

  test('stops its lanes, and their outcomes are dropped', async () => {
    const lane = fakeLane({ deaf: true })
    await using world = await takenOver({ lanes: [lane] })
    const { one, tenant } = world
    const ref = newId()
    await one.runtime.ask(tenant, addWork(workOn(ref)))
    const run = await lane.runOf(ref)
    await world.takeOver()
    const orphaned = await eventually(
      () => counters(store, tenant),
      (counts) => counts[`orphaned:${ref}`] === 1,
    )
    expect(orphaned).toMatchObject({ [`orphaned:${ref}`]: 1 })
    run.finish()
    await eventually(() => run.context.signal.aborted, Boolean)
    expect(run.context.signal.aborted).toBe(true)
    expect(await counters(store, tenant)).toEqual({ n: 2, [`orphaned:${ref}`]: 1 })
    expect(one.runtime.awake).toBe(0)
  })

  test('joins again as another incarnation, and works', async () => {
    await using world = await takenOver()
    const { one, other, tenant } = world
    await world.takeOver()
    await beat(one)
    expect(one.runtime.awake).toBe(0)
    expect(await nodes()).toHaveLength(2)
    expect(await locks()).toHaveLength(2)
    expect(await lockSessions()).toHaveLength(2)
    const fresh = await store.newTenant()
    await one.runtime.ask(fresh, bump('n'))
    await other.runtime[Symbol.asyncDispose]()
    await one.runtime.ask(tenant, bump('n'))
    expect([await counters(store, fresh), await counters(store, tenant)]).toEqual([
      { n: 1 },
      { n: 3 },
    ])
  })

  test('stays one process, however often that happens', async () => {
    await using one = await frozen()
    for (let i = 0; i < 3; i++) {
      await store.owner`delete from node`
      await beat(one)
    }
    expect(
      [await nodes(), await locks(), await lockSessions()].map(({ length }) => length),
    ).toEqual([1, 1, 1])
  })
})

describe('an orderly stop', () => {
  test('hands its tenants over at once', async () => {
    const one = await frozen()
    await using other = await frozen()
    const tenant = await store.newTenant()
    await one.runtime.ask(tenant, bump('n'))
    await one[Symbol.asyncDispose]()
    await other.runtime.ask(tenant, bump('n'))
    expect(await counters(store, tenant)).toEqual({ n: 2 })
  })

  test('leaves no place, session or timer behind, not even in the middle of joining again or of a cut', async () => {
    const clocks: ManualClock[] = []
    // Each is stopped at another moment of its beat.
    for (let ms = 0; ms < 8; ms++) {
      const one = await frozen()
      await store.owner`delete from node`
      await one.clock.advance(BEAT_MS)
      await Bun.sleep(ms)
      await one[Symbol.asyncDispose]()
      clocks.push(one.clock)
    }
    const cut = await frozen()
    await cutLockSessions()
    await cut[Symbol.asyncDispose]()
    expect([await nodes(), await eventually(lockSessions, ({ length }) => length === 0)]).toEqual([
      [],
      [],
    ] as never)
    expect([...clocks, cut.clock].map(({ pending }) => pending)).toEqual(Array(9).fill(0))
  })
})
