/**
 * Transactions over sessions: what travels together, what is taken back, and what a lost connection
 * can do.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { type Db, openDb, type Transaction } from '#store/engine/db'
import { cancel } from '#store/engine/sql'
import { openSessions, type Sessions } from '#store/engine/transaction'
import { freshDb } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const database = use(freshDb)
const sent: string[] = []
const db: Db = use(() =>
  openDb({
    ...database.options,
    max: 1,
    onStatement: (_, text) => void sent.push(text.trim().split(' ')[0]!),
  }),
)
let owner: postgres.Sql
beforeAll(() => {
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
})
afterAll(() => owner.end())

const inLetter = <T>(body: (sql: Transaction) => PromiseLike<T>): Promise<T> =>
  db.letter(newId(), body)
const add = (
  sql: Transaction,
  key: string,
) => sql`with tenant as (select set_config('app.tenant', ${TENANT}, true) as ok)
  insert into counter (tenant_id, key, period, used) select ${TENANT}::uuid, ${key}, 'test', 1
    from tenant`
const TENANT = newId()
const kept = async (): Promise<string[]> =>
  (await owner`select key from counter where tenant_id = ${TENANT} order by key`).map(
    ({ key }) => key,
  )
const begin = async (): Promise<void> => {
  await owner`insert into tenant (id, name, plan) values (${TENANT}, 'Test', 'free') on conflict
    do nothing`
  await owner`delete from counter where tenant_id = ${TENANT}`
  sent.length = 0
}
/** Returns once their processes have ended: on a busy machine that takes a while. */
const terminate = () => owner`select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name = 'tendril'`

describe('a transaction', () => {
  test('begins with its first statement and commits after its last', async () => {
    await begin()
    await inLetter((sql) => add(sql, 'a').then(() => add(sql, 'b')))
    expect(sent).toEqual(['begin', 'with', 'with', 'commit'])
    expect(await kept()).toEqual(['a', 'b'])
  })

  test('without statements sends nothing', async () => {
    await begin()
    expect(await inLetter(async () => 1)).toBe(1)
    expect(sent).toEqual([])
  })

  test('can commit with a statement; a failing one changes nothing', async () => {
    await begin()
    await inLetter(async (sql) => {
      await sql`select 1`
      await sql.committing(add(sql, 'a'))
    })
    const failing = inLetter(async (sql) => {
      await sql`select 1`
      await sql.committing(
        sql`with e as (${add(sql, 'b')} returning 1) select 1 / (count(*)::int - 1) from e`,
      )
    })
    await expect(failing).rejects.toThrow('division by zero')
    expect(await kept()).toEqual(['a'])
    expect(await inLetter(async (sql) => (await sql<{ n: number }>`select 1 as n`)[0]?.n)).toBe(1)
  })

  test('that fails is rolled back, and the next one begins anew', async () => {
    await begin()
    await expect(
      inLetter((sql) => add(sql, 'a').then(() => Promise.reject(new Error('no')))),
    ).rejects.toThrow('no')
    await inLetter((sql) => add(sql, 'b'))
    expect(await kept()).toEqual(['b'])
  })

  test('whose body goes on after a failed statement does not pretend to commit', async () => {
    await begin()
    const swallowed = inLetter(async (sql) => {
      await add(sql, 'a')
      await sql`select 1 / 0`.then(undefined, () => {})
    })
    await expect(swallowed).rejects.toThrow('division by zero')
    expect(await kept()).toEqual([])
  })

  test('sends nothing after its end', async () => {
    await begin()
    const late = Promise.withResolvers<Transaction>()
    await inLetter(async (sql) => late.resolve(sql))
    const sql = await late.promise
    await expect(Promise.resolve(sql`select 1`)).rejects.toThrow('the transaction has ended')
  })
})

test('a statement that the body gives up waiting for is cancelled', async () => {
  await begin()
  const asleep = async (): Promise<number> =>
    (
      await owner`select pid from pg_stat_activity where datname = current_database()
        and state = 'active' and query like 'select pg_sleep%'`
    ).length
  const givenUp = inLetter(async (sql) => {
    await add(sql, 'a')
    sql`select pg_sleep(60)`.then(undefined, () => {})
    await eventually(asleep, (count) => count === 1)
    throw new Error('no more')
  })
  await expect(givenUp).rejects.toThrow('no more')
  await eventually(asleep, (count) => count === 0)
  expect(await kept()).toEqual([])
})

test('a statement that cannot be cancelled, because the database takes no connections, ends no process', async () => {
  const refused = Promise.reject(new Error('connect ECONNREFUSED'))
  cancel({ canceller: () => refused } as never)
  // A rejection that nobody has handled by then fails the test.
  await Bun.sleep(0)
  expect(Bun.peek.status(refused)).toBe('rejected')
})

describe('a savepoint', () => {
  test('takes back its own changes only', async () => {
    await begin()
    await inLetter(async (sql) => {
      await add(sql, 'a')
      const broken = sql.savepoint(async () => {
        await add(sql, 'b')
        await sql`select 1 / 0`
      })
      await expect(broken).rejects.toThrow('division by zero')
      await add(sql, 'c')
    })
    expect(await kept()).toEqual(['a', 'c'])
  })

  test('keeps its changes if it succeeds, and costs nothing if it sends nothing', async () => {
    await begin()
    await inLetter(async (sql) => {
      await add(sql, 'a')
      await sql.savepoint(async () => {})
      await sql.savepoint(() => add(sql, 'b').then(() => {}))
    })
    expect(await kept()).toEqual(['a', 'b'])
    expect(sent).toEqual(['begin', 'with', 'savepoint', 'with', 'commit'])
  })
})

describe('a lost connection', () => {
  test('ends the transaction: nothing more of it runs, on any connection', async () => {
    await begin()
    const broken = inLetter(async (sql) => {
      await add(sql, 'a')
      await terminate()
      await Bun.sleep(50)
      await add(sql, 'b')
    })
    await expect(broken).rejects.toThrow('the database is not available')
    expect(await kept()).toEqual([])
    await inLetter((sql) => add(sql, 'c'))
    expect(await kept()).toEqual(['c'])
  })

  test('between transactions is not noticed', async () => {
    await begin()
    await inLetter((sql) => add(sql, 'a'))
    await terminate()
    await Bun.sleep(50)
    await inLetter((sql) => add(sql, 'b'))
    expect(await kept()).toEqual(['a', 'b'])
  })
})

test('connections that are lost time and again keep no transaction waiting until its deadline', async () => {
  await using several = openDb({ ...database.options, max: 4 })
  const late: unknown[] = []
  let isOver = false
  const working = async () => {
    while (!isOver) {
      await several
        .letter(newId(), (sql) => sql`select 1`.then(() => sql`select 2`))
        .catch(({ cause }) => cause?.name === 'DeadlineError' && late.push(cause))
      await Bun.sleep(5)
    }
  }
  const workers = Array.from({ length: 4 }, working)
  for (let n = 0; n < 25; n++) {
    await terminate()
    await Bun.sleep(50)
  }
  isOver = true
  await Promise.all(workers)
  expect(late).toEqual([])
}, 120_000)

test('a connection that has lived long enough is replaced between transactions', async () => {
  let made = 0
  const connect = (onclose: () => void) => {
    made++
    return postgres({
      ...database.options,
      max: 1,
      onnotice: () => {},
      fetch_types: false,
      onclose,
    })
  }
  const backendOf = (sessions: Sessions) =>
    sessions.transaction(async (sql) => {
      const [first] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
      await Bun.sleep(15)
      const [second] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
      expect(second).toEqual(first!)
      return first!.pid
    })
  {
    await using short = openSessions(1, connect, 5)
    const backends = [await backendOf(short), await backendOf(short), await backendOf(short)]
    expect(new Set(backends).size).toBe(3)
    const open = async () =>
      (
        await owner<{ pid: number }[]>`select pid from pg_stat_activity
          where pid = any(${backends})`
      ).map(({ pid }) => pid)
    expect(await eventually(open, ({ length }) => length === 1)).toEqual([backends[2]!])
  }
  made = 0
  await using long = openSessions(1, connect, 60_000)
  expect(await backendOf(long)).toBe(await backendOf(long))
  expect(made).toBe(1)
})
