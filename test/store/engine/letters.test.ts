/** Transactions that letters of several tenants share, statement by statement. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import { type Db, openDb, type Transaction } from '#store/engine/db'
import { Unchanged } from '#store/engine/shared'
import { newGate } from '#test/support/actors/letters'
import { freshDb } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const database = use(freshDb)
const sent: string[] = []
/** With four connections, one transaction at a time is shared. */
const db: Db = use(() =>
  openDb({
    ...database.options,
    max: 4,
    patience: { joinMs: 10_000, silentMs: 300 },
    onStatement: (_, text) => void sent.push(text.trim().split(' ')[0]!),
  }),
)
let owner: postgres.Sql
beforeAll(() => {
  owner = postgres({ ...database.options, max: 1, onnotice: () => {} })
})
afterAll(() => owner.end())
beforeEach(async () => {
  await owner`delete from counter`
  sent.length = 0
})

const newTenant = async (): Promise<string> => {
  const id = newId()
  await owner`insert into tenant (id, name, plan) values (${id}, 'Test', 'free')`
  return id
}
/** Writes a row that names the tenant which wrote it. */
const add = (sql: Transaction, tenant: string) =>
  sql`with scope as (select set_config('app.tenant', ${tenant}, true) as ok)
    insert into counter (tenant_id, key, period, used)
    select current_setting('app.tenant')::uuid, ${tenant}, 'test', 1 from scope where ok is not null`
const kept = async (): Promise<string[]> =>
  (await owner`select key from counter where tenant_id::text = key`).map(({ key }) => key).sort()

type Body = (sql: Transaction) => Promise<unknown>
const sharing = (tenant: string, body: Body, kind: string = newId()): Promise<unknown> => {
  const running = db.letter(tenant, body, 'asked', kind)
  running.catch(() => {})
  return running
}
const nameOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'done',
    (cause: Error) => cause.name,
  )

/** A letter that has the only place, and changes something if it should, until it is freed. */
const holding = async (changes = true) => {
  const [tenant, begun, gate] = [await newTenant(), newGate(), newGate()]
  const result = sharing(tenant, async (sql) => {
    begun.open()
    await gate.opened
    if (!changes) throw new Unchanged()
    await add(sql, tenant)
  })
  await begun.opened
  return { tenant, result, free: () => gate.open() }
}
const terminate = () => owner`select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and application_name = 'tendril'`

test('letters that wait share a commit; each hears of its result after it', async () => {
  const [first, a, b] = [await holding(), await newTenant(), await newTenant()]
  const visible: string[][] = []
  const unchanged = sharing(a, async () => {
    throw new Unchanged('', { cause: new RangeError('refused') })
  }).catch(async (cause: Error) => {
    visible.push(await kept())
    throw cause
  })
  const changed = sharing(b, (sql) => add(sql, b).then())
  first.free()
  expect(await Promise.all([first.result, unchanged, changed].map(nameOf))).toEqual([
    'done',
    'RangeError',
    'done',
  ])
  expect(visible).toEqual([[first.tenant, b].sort()])
  expect(sent).toEqual(['begin', 'with', 'with', 'commit'])
})

test('a letter that nobody follows commits with its statement, unless others have changed something', async () => {
  for (const changes of [false, true]) {
    sent.length = 0
    const [first, a] = [await holding(changes), await newTenant()]
    let isLast: boolean | undefined
    const second = sharing(a, async (sql) => {
      await sql`select 1`
      isLast = sql.sharing!.isLast()
      await (isLast ? sql.committing(add(sql, a)) : add(sql, a))
    })
    first.free()
    expect(await Promise.all([first.result, second].map(nameOf))).toEqual([
      changes ? 'done' : 'Unchanged',
      'done',
    ])
    expect(isLast).toBe(!changes)
    expect(sent).toEqual(
      changes
        ? ['begin', 'with', 'select', 'with', 'commit']
        : ['begin', 'select', 'with', 'commit'],
    )
  }
})

test('if all that share a transaction change nothing, it is rolled back', async () => {
  const [first, a] = [await holding(false), await newTenant()]
  const second = sharing(a, async (sql) => {
    await sql`select 1`
    throw new Unchanged()
  })
  first.free()
  expect(await Promise.all([first.result, second].map(nameOf))).toEqual(['Unchanged', 'Unchanged'])
  await eventually(
    () => sent,
    (all) => all.join() === 'begin,select,rollback',
  )
})

test('what one letter breaks is undone for all, who are told to be decided elsewhere', async () => {
  const [first, a, b] = [await holding(), await newTenant(), await newTenant()]
  const broken = sharing(a, (sql) => sql`select 1 / 0`.then())
  const third = sharing(b, (sql) => add(sql, b).then())
  first.free()
  expect(await Promise.all([first.result, broken].map(nameOf))).toEqual(['NotShared', 'NotShared'])
  expect(await nameOf(third)).toBe('done')
  expect(await kept()).toEqual([b])
  // For a while, its workspace shares with nobody; that of the other one does.
  const shares = (tenant: string) => sharing(tenant, async (sql) => sql.sharing !== undefined)
  expect(await shares(a)).toBe(false)
  expect(await shares(first.tenant)).toBe(true)
})

test('an error that a letter hides is undone for all too', async () => {
  const [first, a] = [await holding(), await newTenant()]
  const hidden = sharing(a, (sql) =>
    sql`select 1 / 0`.then(
      () => {},
      () => {},
    ),
  )
  first.free()
  expect(await Promise.all([first.result, hidden].map(nameOf))).toEqual(['NotShared', 'NotShared'])
  expect(await sharing(a, async (sql) => sql.sharing)).toBeUndefined()
  expect(await kept()).toEqual([])
})

test('a letter that was alone in its transaction has its own error', async () => {
  expect(await nameOf(sharing(await newTenant(), (sql) => sql`select 1 / 0`.then()))).toBe(
    'PostgresError',
  )
})

test('a letter that is silent while others wait is given up; a commit never is', async () => {
  const [first, a, b] = [await holding(), await newTenant(), await newTenant()]
  const waiting = sharing(a, (sql) => add(sql, a).then())
  expect(await nameOf(first.result)).toBe('NotShared')
  expect(await nameOf(waiting)).toBe('done')
  const slow = sharing(b, async (sql) => {
    await sql`select 1`
    const statement = sql`with done as (${add(sql, b)} returning 1) select pg_sleep(0.8) from done`
    return await sql.committing(statement)
  })
  const next = sharing(a, async () => 'next')
  expect(await nameOf(slow)).toBe('done')
  expect(await next).toBe('next')
  expect(await kept()).toEqual([a, b].sort())
})

test('a connection that is lost before the commit has changed nothing; at the commit, all are uncertain', async () => {
  const [first, a] = [await holding(), await newTenant()]
  const [written, gate] = [newGate(), newGate()]
  const second = sharing(a, async (sql) => {
    await add(sql, a)
    written.open()
    await gate.opened
  })
  first.free()
  await written.opened
  await terminate()
  expect(await Promise.all([first.result, second].map(nameOf))).toEqual(['NotShared', 'NotShared'])
  gate.open()
  expect(await kept()).toEqual([])

  const [unchanged, b] = [await holding(false), await newTenant()]
  const committing = sharing(b, async (sql) => {
    await sql`select 1`
    return await sql.committing(sql`select pg_sleep(3)`)
  })
  unchanged.free()
  await eventually(
    () => owner`select from pg_stat_activity where query like '%pg_sleep(3)%'
    and pid <> pg_backend_pid()`,
    (rows) => rows.length > 0,
  )
  await terminate()
  expect(await Promise.all([unchanged.result, committing].map(nameOf))).toEqual([
    'AppError',
    'AppError',
  ])
})

test('a letter can send nothing once it has ended', async () => {
  const [first, a] = [await holding(), await newTenant()]
  let kept: Transaction | undefined
  const second = sharing(a, async (sql) => {
    kept = sql
    await add(sql, a)
  })
  const third = sharing(await newTenant(), async () => {
    const ways = [() => kept!`select 1`.then(), () => kept!.savepoint(async () => {})]
    for (const way of ways) expect(await nameOf((async () => way())())).toBe('DeadlineError')
    throw new Unchanged()
  })
  first.free()
  expect(await Promise.all([first.result, second, third].map(nameOf))).toEqual([
    'done',
    'done',
    'Unchanged',
  ])
})

test('what a letter sends without waiting is answered before the next one begins', async () => {
  const [first, a] = [await holding(), await newTenant()]
  const second = sharing(a, async (sql) => {
    await sql`select 1`
    void sql`select pg_sleep(0.1)`.then(() => order.push('answered'))
  })
  const order: string[] = []
  const third = sharing(await newTenant(), async () => void order.push('begun'))
  first.free()
  await Promise.all([first.result, second, third])
  expect(order).toEqual(['answered', 'begun'])
})

test('a letter whose transaction was lost takes nobody along once it ends', async () => {
  const [a, b] = [await newTenant(), await newTenant()]
  const [first, begun, gate] = [await holding(), newGate(), newGate()]
  const lost = sharing(a, async (sql) => {
    await add(sql, a)
    begun.open()
    await gate.opened
  })
  first.free()
  await begun.opened
  await terminate()
  expect(await nameOf(lost)).toBe('NotShared')
  const second = await holding()
  const order: string[] = []
  const third = sharing(b, async () => void order.push('third'))
  gate.open()
  // Were a place free now, the third would begin in this time.
  await Bun.sleep(20)
  order.push('second')
  second.free()
  expect(await Promise.all([second.result, third].map(nameOf))).toEqual(['done', 'done'])
  expect(order).toEqual(['second', 'third'])
})

test('nobody joins a transaction for whose tenant something urgent waits', async () => {
  for (const isWaiting of [false, true]) {
    const [a, b] = [await newTenant(), await newTenant()]
    const first = await holding()
    const second = sharing(a, (sql) => add(sql, a).then())
    const third = sharing(b, (sql) => add(sql, b).then())
    sent.length = 0
    db.urgent(isWaiting ? a : first.tenant)
    first.free()
    await Promise.all([first.result, second, third])
    const together = isWaiting ? [2, 1] : [1, 2]
    expect(sent).toEqual(
      together.flatMap((count) => ['begin', ...Array<string>(count).fill('with'), 'commit']),
    )
  }
})

test('kinds of letters that are slow share with nobody, not even those that wait', async () => {
  const kind = newId()
  const first = await holding()
  const tenants = [await newTenant(), await newTenant(), await newTenant(), await newTenant()]
  const slow = tenants.slice(1).map((tenant) => sharing(tenant, () => Bun.sleep(250), kind))
  first.free()
  expect(await Promise.all(slow.map(nameOf))).toEqual(['done', 'done', 'NotShared'])
  const later = sharing(tenants[0]!, async (sql) => sql.sharing, kind)
  expect(await later).toBeUndefined()
})
