/** What a poll for due work reads: the plan of its statement, and which row it finds. */
import { beforeEach, expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { apply } from '#store/engine/apply-effects'
import { openDb, type Transaction } from '#store/engine/db'
import { gate } from '#store/engine/gate'
import { loadNow } from '#store/engine/load'
import { type ClaimView, LONGEST_NAP_MS, type NextDue, nextDue } from '#store/engine/next-due'
import { workById } from '#store/engine/work'
import { actorStore } from '#test/support/actors/actors'
import { byTest, workOn } from '#test/support/actors/letters'
import { planAsRun } from '#test/support/database/plans'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))
let tenant: string
beforeEach(async () => {
  tenant = await store.newTenant()
})

const [owner, epoch] = [newId(), 1]
const inTenant = async <T>(body: (sql: Transaction, now: Date) => Promise<T>): Promise<T> => {
  await store.owner`update actor set owner = ${owner}, epoch = ${epoch} where tenant_id = ${tenant}`
  return db.letter(tenant, async (sql) =>
    body(sql, (await gate(sql, { tenantId: tenant, owner, epoch }, { hook: gateHook }))!.now),
  )
}

const DEFAULT_KEY = 'of the default'
const view = (more: Partial<ClaimView> = {}): ClaimView => ({
  kinds: {
    awaited: ['send'],
    atOnce: {},
    share: {},
    whileHeld: ['send'],
    inVain: {},
    laneOrder: [],
    keyWhenClaimed: (sql) => sql`${DEFAULT_KEY}::text`,
  },
  at: { now: new Date(), paused: false },
  running: [],
  excluded: [],
  ...more,
})
const poll = async (sql: Transaction, more: Partial<ClaimView> = {}): Promise<NextDue> =>
  (await loadNow(sql, { found: nextDue(view(more)) })).found
const runningWith = (...keys: string[]): ClaimView['running'] =>
  keys.map((concurrency_key) => ({
    id: newId(),
    kind: 'send',
    origin: 'automatic',
    concurrency_key,
  }))
const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000)

/**
 * Rows of other workspaces, and of this one those that are due in an hour and those that wait for
 * what runs.
 */
const manyRows = async (): Promise<void> => {
  const rows = (
    tenantId: string,
    count: number,
    { origin, minutes, key }: { origin: string; minutes: number; key: string | null },
  ) =>
    store.owner`insert into work (id, tenant_id, lane, kind, concurrency_key, ref_id,
      origin, run_at)
      select gen_random_uuid(), ${tenantId}, 'publish', 'send', ${key}, gen_random_uuid(),
        ${origin}, now() + ${minutes} * interval '1 minute'
      from generate_series(1, ${count})`
  for (let other = 0; other < 4; other++)
    await rows(await store.newTenant(), 2_000, { origin: 'automatic', minutes: -60, key: 'a' })
  await rows(tenant, 10_000, { origin: 'automatic', minutes: 60, key: 'a' })
  await rows(tenant, 10_000, { origin: 'automatic', minutes: 60, key: null })
  await rows(tenant, 100, { origin: 'automatic', minutes: -60, key: 'a' })
  await rows(tenant, 100, { origin: 'manual', minutes: 60, key: 'a' })
  await store.owner`analyze work`
}

test('a claim among twenty thousand rows reads the first ones of an index, also where what runs is in the way of most', async () => {
  await manyRows()
  await inTenant(async (sql) => {
    for (const [paused, busy] of [
      [false, []] as const,
      [true, []] as const,
      [false, ['a', DEFAULT_KEY]] as const,
    ]) {
      const { query } = nextDue(
        view({ at: { now: new Date(), paused }, running: runningWith(...busy) }),
      )
      const nodes = await planAsRun(sql, query(sql))
      const scans = nodes.filter((node) => node['Relation Name'] === 'work')
      expect(scans.length).toBe(paused ? 4 : 7)
      for (const scan of scans) {
        expect(scan).toMatchObject({ 'Node Type': 'Index Scan', 'Index Name': 'work_due' })
        expect(scan['Index Cond']).toMatch(
          /^\(\(tenant_id = .*\) AND \(origin = '(manual|automatic)'::text\)/,
        )
      }
      // It passes what is due and must wait, also for the row that it finds, and what people asked
      // for later: a hundred rows of each.
      const [whole] = nodes
      expect(whole!['Shared Hit Blocks'] + whole!['Shared Read Blocks']).toBeLessThan(400)
    }
  })
})

test('the next due time of an actor among twenty thousand rows is read from an index', async () => {
  await manyRows()
  const [plan] = await inTenant(async (sql, now) => {
    const plans: string[] = []
    const explaining = new Proxy(sql, {
      apply(target, self, args) {
        const text = (args[0] as Partial<TemplateStringsArray>).raw?.[0] ?? ''
        const made = Reflect.apply(target as never, self, args) as never
        return text.startsWith('with ') ? explained(made) : made
      },
    })
    const explained = async (query: never) => {
      const rows = await sql<{ 'QUERY PLAN': string }>`explain ${query}`
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return rows
    }
    await apply(explaining, { settled: [newId()] }, { now, wakeAt: null, provenance: byTest })
    return plans
  })
  expect(plan).toContain('Index Only Scan using work_due')
  expect(plan).not.toContain('Seq Scan on work')
})

test('a row without a key takes that of the moment, also where it is in the way of others', async () => {
  const [unbound, bound, other] = [
    workOn(newId(), { key: null, runAt: ago(3) }),
    workOn(newId(), { key: DEFAULT_KEY, runAt: ago(2) }),
    workOn(newId(), { key: 'another', runAt: ago(1) }),
  ]
  await inTenant(async (sql, now) => {
    await apply(sql, { work: [unbound, bound, other] }, { now, wakeAt: null, provenance: byTest })
    // The second row waits for the first, and the third does not.
    expect(await poll(sql)).toMatchObject({
      work: { id: unbound.id, concurrency_key: DEFAULT_KEY },
      wait: expect.closeTo(-60_000, -4),
    })
    expect(await poll(sql, { running: runningWith('another') })).toMatchObject({
      work: { id: unbound.id },
      wait: LONGEST_NAP_MS,
    })
    expect((await poll(sql, { running: runningWith(DEFAULT_KEY) })).work?.id).toBe(other.id)
    const blocked = await poll(sql, { running: runningWith(DEFAULT_KEY, 'another') })
    expect(blocked).toMatchObject({
      work: undefined,
      wait: LONGEST_NAP_MS,
      dueIn: expect.closeTo(-180_000, -4),
    })
    expect((await workById(sql, unbound.id))?.concurrency_key).toBeNull()
  })
})

test('a row that goes back to the queue keeps its key unless it is given another', async () => {
  const row = workOn(newId(), { key: 'first' })
  const keyAfter = (more: { key?: string | null }) =>
    inTenant(async (sql, now) => {
      await apply(
        sql,
        { requeued: [{ id: row.id, runAt: now, ...more }] },
        { now, wakeAt: null, provenance: byTest },
      )
      return (await workById(sql, row.id))?.concurrency_key
    })
  await inTenant((sql, now) =>
    apply(sql, { work: [row] }, { now, wakeAt: null, provenance: byTest }),
  )
  expect(await keyAfter({})).toBe('first')
  expect(await keyAfter({ key: 'second' })).toBe('second')
  expect(await keyAfter({ key: null })).toBeNull()
})
