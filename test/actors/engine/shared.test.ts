/**
 * Transactions that letters of many workspaces share: each letter has the result that it would have
 * alone, whatever the others in its transaction do.
 */
import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Letter } from '#actors/engine/letter'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { type ConnectionOptions, openDb, type Query, type Sql } from '#store/engine/db'
import { type Actors, actorStore, actorsOn } from '#test/support/actors/actors'
import { letterOf } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { runs } from '#test/support/property'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.owner`delete from outbox`.then())

const note =
  (id: string, tenant: string): Query =>
  (sql) =>
    sql`insert into outbox (id, type, data, created_at)
      values (${id}, 'note', jsonb_build_object('tenant', ${tenant}::text), now())`

interface Told {
  id: string
  kind: Kind
  /** The reply, or the error. */
  said: string
}

/** Statements that are sent once their letter is over, and the tenant under which each ran. */
const late: Promise<{ own: string; under: string }>[] = []
const askLater = async (sql: Sql, own: string): Promise<{ own: string; under: string }> => {
  await Bun.sleep(Math.random() * 5)
  const under = await sql<{ tenant: string }>`select current_setting('app.tenant') as tenant`.then(
    ([row]) => row!.tenant,
    () => own,
  )
  return { own, under }
}

/** Letters by what they do. */
const letters = {
  change: (id, tenant) =>
    letterOf(() => ({ reply: 'done', effects: { writes: [note(id, tenant)] } })),
  changeFirst: (id, tenant) =>
    letterOf(() => ({ reply: 'done', effects: { first: [note(id, tenant)] } })),
  look: () => letterOf(() => ({ reply: 'seen' })),
  read: () => letterOf(async (sql) => ({ reply: String((await sql`select 1 as n`).length) })),
  refuse: () =>
    letterOf<string>(() => {
      throw new AppError('conflict', 'no', { reason: 'wrong_state' })
    }),
  fail: () =>
    letterOf<string>(() => {
      throw new Error('a mistake')
    }),
  breakStatement: () => letterOf(async (sql) => ({ reply: String(await sql`select 1 / 0`) })),
  breakWrite: (id, tenant) =>
    letterOf(() => ({
      reply: 'done',
      effects: { writes: [note(id, tenant), (sql) => sql`select 1 / 0`] },
    })),
  hang: (id, tenant) =>
    letterOf(async (sql) => {
      await sql`select pg_sleep(0.4)`
      return { reply: 'done', effects: { writes: [note(id, tenant)] } }
    }),
  idle: (id, tenant) =>
    letterOf(async () => {
      await Bun.sleep(400)
      return { reply: 'done', effects: { writes: [note(id, tenant)] } }
    }),
  outlive: (id, tenant) =>
    letterOf((sql) => {
      late.push(askLater(sql, tenant))
      return { reply: 'done', effects: { writes: [note(id, tenant)] } }
    }),
} satisfies Record<string, (id: string, tenant: string) => Letter<string>>
type Kind = keyof typeof letters

const CHANGES: Kind[] = ['change', 'changeFirst', 'hang', 'idle', 'outlive']
const weights: Record<Kind, number> = {
  change: 24,
  changeFirst: 8,
  look: 12,
  read: 8,
  refuse: 8,
  fail: 1,
  breakStatement: 1,
  breakWrite: 1,
  hang: 1,
  idle: 1,
  outlive: 8,
}
const kinds = Object.entries(weights).flatMap(([kind, n]) => Array<Kind>(n).fill(kind as Kind))

/** How often each letter was decided and not undone. */
const decided = new Map<string, number>()
const ask = async (
  { runtime }: Actors,
  tenant: string,
  kind: Kind,
  name: string = kind,
): Promise<Told> => {
  const id = newId()
  const letter = letters[kind](id, tenant)
  const counted: Letter<string> = {
    ...letter,
    name,
    decide(...args) {
      decided.set(id, (decided.get(id) ?? 0) + 1)
      return letter.decide(...args)
    },
    undone: () => void decided.set(id, (decided.get(id) ?? 0) - 1),
  }
  const said = await runtime.ask(tenant, counted).catch((cause: Error) => cause.message)
  return { id, kind, said }
}

const WORKSPACES = 50
const EACH = 12

interface Stage extends AsyncDisposable {
  actors: Actors
  tenants: string[]
  /** What was sent on the connections of letters. */
  sent: string[]
}

const stage = async (): Promise<Stage> => {
  await using stack = new AsyncDisposableStack()
  const sent: string[] = []
  const onStatement: ConnectionOptions['onStatement'] = (pool, text) =>
    pool === 'letters' && void sent.push(text.trim())
  const db = stack.use(openDb({ ...store.options, max: 10, onStatement }))
  const actors = stack.use(await actorsOn(store, { db, lanes: [] }))
  const tenants = await Promise.all(Array.from({ length: WORKSPACES }, () => store.newTenant()))
  const owned = stack.move()
  return { actors, tenants, sent, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Random letters, all at once, in random workspaces. */
const askAll = async ({ actors, tenants }: Stage, among: Kind[]): Promise<Told[]> => {
  const size = WORKSPACES * EACH
  const letter = fc.record({ kind: fc.constantFrom(...among), tenant: fc.constantFrom(...tenants) })
  const [plan = []] = fc.sample(fc.array(letter, { minLength: size, maxLength: size }), {
    ...(runs(1) as fc.Parameters<{ kind: Kind; tenant: string }[]>),
    numRuns: 1,
  })
  return await Promise.all(plan.map(({ kind, tenant }) => ask(actors, tenant, kind)))
}

/** The rows that letters wrote, each of which names the tenant whose letter it was. */
const written = (): Promise<{ id: string; tenant_id: string; named: string }[]> => store.owner`
  select id, tenant_id, data ->> 'tenant' as named from outbox where type = 'note'`

test('letters of fifty workspaces have the results that they have alone', async () => {
  await using all = await stage()
  const alone = new Map<Kind, string>()
  for (const kind of Object.keys(letters) as Kind[])
    alone.set(kind, (await ask(all.actors, all.tenants[0]!, kind)).said)
  // All awake before: on a busy machine, fifty that wake at once take longer than callers wait.
  for (const tenant of all.tenants) await ask(all.actors, tenant, 'look')
  await store.owner`delete from outbox`
  all.sent.length = 0
  const told = await askAll(all, kinds)
  for (const { kind, said } of told) expect(`${kind}: ${said}`).toBe(`${kind}: ${alone.get(kind)}`)
  const rows = await written()
  for (const row of rows) expect(row.tenant_id).toBe(row.named)
  const changed = told.filter(({ kind }) => CHANGES.includes(kind))
  expect(rows.map(({ id }) => id).sort()).toEqual(changed.map(({ id }) => id).sort())
  for (const { own, under } of await Promise.all(late)) expect(under).toBe(own)
  for (const { id } of told) expect(decided.get(id)).toBeLessThanOrEqual(1)
})

test('while connections are cut, what was told to be done is, and nothing is done twice', async () => {
  await using all = await stage()
  let isOver = false
  let cuts = 0
  const commits = () => all.sent.filter((text) => text.endsWith('commit')).length
  const cutting = (async () => {
    while (!isOver) {
      const before = commits()
      await store.owner`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'tendril'
        order by random() limit 2`
      cuts++
      // A machine that takes longer to connect than this takes to cut again would commit nothing.
      await eventually(commits, (count) => isOver || count >= before + 6)
    }
  })()
  const told = await askAll(all, ['change', 'change', 'changeFirst', 'look', 'refuse'])
  isOver = true
  await cutting
  const rows = new Map((await written()).map((row) => [row.id, row]))
  for (const row of rows.values()) expect(row.tenant_id).toBe(row.named)
  for (const { id, kind, said } of told) {
    const isDone = said === 'done'
    if (isDone) expect(rows.has(id)).toBe(true)
    if (!CHANGES.includes(kind)) expect(rows.has(id)).toBe(false)
  }
  expect(told.filter(({ said }) => said === 'done').length).toBeGreaterThan(0)
  expect(cuts).toBeGreaterThan(3)
})

test('a workspace whose row is locked elsewhere delays no other', async () => {
  await using all = await stage()
  const [locked, ...others] = all.tenants
  await Promise.all(all.tenants.map((tenant) => ask(all.actors, tenant, 'look')))
  let isAnswered = false
  let waiting: Promise<unknown> | undefined
  all.sent.length = 0
  await store.owner.begin(async (sql) => {
    await sql`select from actor where tenant_id = ${locked!} for update`
    waiting = ask(all.actors, locked!, 'change').finally(() => {
      isAnswered = true
    })
    // Letters of the name of a slow one do not share for a while.
    await Promise.all(others.map((tenant) => ask(all.actors, tenant, 'change', tenant)))
    expect(isAnswered).toBe(false)
  })
  expect(await waiting).toMatchObject({ said: 'done' })
  // Each asks once among the others, and the locked one then alone. On a busy machine more do,
  // since a letter that is silent for too long takes down the transaction that it shares.
  const among = all.sent.filter((text) => text.includes('skip locked')).length
  const alone = all.sent.filter((text) => text.includes('no key update')).length - among
  expect(among).toBeLessThanOrEqual(WORKSPACES)
  expect(alone).toBeGreaterThan(0)
  expect(alone).toBeLessThan(WORKSPACES)
})
