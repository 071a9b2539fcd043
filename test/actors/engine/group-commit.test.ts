/** Letters that share a transaction: each passes its own gate and has its own outcome. */
import { afterEach, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import type { Letter } from '#actors/engine/letter'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import { type Actors, actorStore, actorsOn, counters } from '#test/support/actors/actors'
import { bump, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { waitForLockWaiter } from '#test/support/database/locks'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

/** The transaction that a decision is made in. */
const transactionOf = async (sql: Sql): Promise<string> =>
  (await sql<{ id: string }>`select pg_current_xact_id()::text as id`)[0]!.id

interface Held extends AsyncDisposable {
  actors: Actors
  tenant: string
  /** Asks while the first letter still runs: all these wait together. */
  ask<R>(letter: Letter<R>): Promise<R>
  free(): Promise<void>
}

/** A tenant whose mailbox is held up by a letter that runs alone, until `free`. */
const held = async (): Promise<Held> => {
  // Time that stands still closes no group.
  const actors = await actorsOn(store, { clock: { ...systemClock, monotonic: () => 0 } })
  const tenant = await store.newTenant()
  const [begun, gate] = [newGate(), newGate()]
  const holding = letterOf(async () => {
    begun.open()
    await gate.opened
    return { reply: undefined }
  })
  const first = actors.runtime.ask(tenant, { ...holding, alone: true })
  await begun.opened
  return {
    actors,
    tenant,
    ask: (letter) => actors.runtime.ask(tenant, letter),
    async free() {
      gate.open()
      await first
    },
    [Symbol.asyncDispose]: () => actors[Symbol.asyncDispose](),
  }
}

const seen = letterOf(async (sql) => ({
  reply: await transactionOf(sql),
  effects: { spend: [{ key: 'n', period: 'test', amount: 1 }] },
}))
const readN = letterOf(async (_, gate) => ({ reply: gate.counters['n@test'] ?? 0 }))
const refused = letterOf<void>(() => {
  throw new AppError('conflict', 'no', { reason: 'wrong_state' })
})
const broken = letterOf<void>(async (sql) => {
  await sql`select 1 / 0`
  return { reply: undefined }
})
/** Its statement takes longer than the database allows, from the `nth` time on. */
const slow = (nth = 1) =>
  letterOf<void>(async (sql) => {
    if (--nth > 0)
      return { reply: undefined, effects: { spend: [{ key: 'n', period: 'test', amount: 1 }] } }
    await sql`select set_config('statement_timeout', '100', true)`
    await sql`select pg_sleep(60)`
    return { reply: undefined }
  })
const statuses = async (asked: Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map(({ status }) => status)

describe('letters that wait together', () => {
  test('share a commit, at most sixteen', async () => {
    await using mail = await held()
    const asked = Array.from({ length: 20 }, () => mail.ask(seen))
    await mail.free()
    const counts = Map.groupBy(await Promise.all(asked), (id) => id)
    expect([...counts.values()].map(({ length }) => length)).toEqual([16, 4])
    expect(await counters(store, mail.tenant)).toEqual({ n: 20 })
  })

  test('see the changes of earlier ones', async () => {
    await using mail = await held()
    const asked = [
      mail.ask(readN),
      mail.ask(bump('n')),
      mail.ask(readN),
      mail.ask(bump('n')),
      mail.ask(readN),
    ]
    await mail.free()
    expect(await Promise.all(asked)).toEqual([0, undefined, 1, undefined, 2])
  })

  test('are not affected by one that is refused', async () => {
    await using mail = await held()
    const asked = [mail.ask(bump('n')), mail.ask(refused), mail.ask(bump('n'))]
    await mail.free()
    expect(await statuses(asked)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await counters(store, mail.tenant)).toEqual({ n: 2 })
  })

  test('each happen once if one of them breaks the transaction', async () => {
    await using mail = await held()
    const work = workOn(newId(), { runAt: new Date(Date.now() + 60_000) })
    const unwritable = bump('n', { work: [work, { ...work, id: newId() }] })
    const asked = [
      mail.ask(bump('n')),
      mail.ask(broken),
      mail.ask(bump('n')),
      mail.ask(unwritable),
      mail.ask(bump('n')),
    ]
    await mail.free()
    expect(await statuses(asked)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await counters(store, mail.tenant)).toEqual({ n: 3 })
  })

  test('are not affected by one whose statement takes too long', async () => {
    await using mail = await held()
    const asked = [mail.ask(bump('n')), mail.ask(bump('n')), mail.ask(slow()), mail.ask(bump('n'))]
    await mail.free()
    expect(await statuses(asked)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    await expect(asked[2]).rejects.toThrow('the database is not available')
    expect(await counters(store, mail.tenant)).toEqual({ n: 3 })
  })

  test('fail with it if the statements of others take too long as well', async () => {
    await using mail = await held()
    const asked = [mail.ask(bump('n')), mail.ask(slow(2)), mail.ask(bump('n')), mail.ask(slow())]
    await mail.free()
    expect(await statuses(asked)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(await counters(store, mail.tenant)).toEqual({ n: 1 })
  })

  test('do not happen at all if the tenant is lost', async () => {
    await using mail = await held()
    const asked = [mail.ask(bump('n')), mail.ask(bump('n'))]
    // Waits for the lock of the letter that runs, and has it before the next one.
    const thief = postgres({ ...store.options, max: 1 })
    const taken =
      thief`update actor set epoch = epoch + 1 where tenant_id = ${mail.tenant}`.execute()
    await waitForLockWaiter(store.owner)
    await mail.free()
    await taken
    await thief.end()
    await Promise.allSettled(asked)
    // Each was asked once more under the epoch that this process then claimed.
    expect(await counters(store, mail.tenant)).toEqual({ n: 2 })
  })

  test('are not run again if it is unknown whether they were committed', async () => {
    await using mail = await held()
    const cut = letterOf(async (sql) => {
      const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
      await store.owner`select pg_terminate_backend(${row!.pid})`
      return { reply: undefined }
    })
    const asked = [mail.ask(bump('n')), mail.ask(cut), mail.ask(bump('n'))]
    await mail.free()
    const ends = await Promise.allSettled(asked)
    expect(ends.slice(0, 2).map((end) => end.status === 'rejected' && end.reason.code)).toEqual([
      'unavailable',
      'unavailable',
    ])
    const last: Record<string, number> = ends[2]!.status === 'fulfilled' ? { n: 1 } : {}
    expect(await counters(store, mail.tenant)).toEqual(last)
  })

  test('do not wait for one that runs alone', async () => {
    await using mail = await held()
    const alone = { ...seen, alone: true }
    const asked = [mail.ask(seen), mail.ask(alone), mail.ask(seen)]
    await mail.free()
    expect(new Set(await Promise.all(asked)).size).toBe(3)
  })
})

test('a decision that writes is refused and rolled back', async () => {
  await using actors = await actorsOn(store)
  const tenant = await store.newTenant()
  const writing = letterOf(async (sql) => {
    await sql`insert into counter (key, period, used) values ('half', 'test', 1)`
    return { reply: undefined }
  })
  await expect(actors.runtime.ask(tenant, writing)).rejects.toThrow(
    'a decision changes nothing itself',
  )
  expect(await counters(store, tenant)).toEqual({})
})

test('a letter that changes nothing leaves no transaction open', async () => {
  await using actors = await actorsOn(store)
  const tenant = await store.newTenant()
  await actors.runtime.ask(tenant, bump('n'))
  const actorRow = () => store.owner`select xmin, xmax from actor where tenant_id = ${tenant}`
  const looked = letterOf(async (sql) => {
    // Postgres would soon abort a transaction that was left open.
    await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`
    return { reply: await transactionOf(sql) }
  })
  const id = await actors.runtime.ask(tenant, looked)
  const status = async () =>
    (await store.owner<{ status: string }[]>`select pg_xact_status(${id}::xid8) as status`)[0]!
      .status
  // Nothing waits for the rollback.
  expect(await eventually(status, (now) => now !== 'in progress')).toBe('aborted')
  expect(await actorRow()).toHaveLength(1)
})
