/** What a claim reads: the plans of its two statements, and which row they find. */
import { beforeEach, expect, test } from 'bun:test'
import { gateHook } from '#decisions/gate'
import { newId } from '#kernel/ids'
import { openDb, type Sql } from '#store/engine/db'
import { apply, gate } from '#store/engine/letter'
import { type ClaimView, firstDueWork, firstWait, nextDue, untilNextDue, workById } from '#store/engine/work'
import { actorStore } from '#test/support/actors'
import { byTest, workOn } from '#test/support/letters'
import { use } from '#test/support/use'

const store = use(actorStore)
const db = use(() => openDb({ ...store.options, max: 1 }))
let tenant: string
beforeEach(async () => {
  tenant = await store.newTenant()
})

const [owner, epoch] = [newId(), 1]
const inTenant = async <T>(body: (sql: Sql, now: Date) => Promise<T>): Promise<T> => {
  await store.owner`update actor set owner = ${owner}, epoch = ${epoch} where tenant_id = ${tenant}`
  return db.letter(tenant, async (sql) => body(sql, (await gate(sql, { tenantId: tenant, owner, epoch }, { hook: gateHook }))!.now))
}

const DEFAULT_KEY = 'of the default'
const view = (more: Partial<ClaimView> = {}): ClaimView => ({
  kinds: { awaited: ['send'], atOnce: {}, keyWhenClaimed: (sql) => sql`${DEFAULT_KEY}::text` },
  ...{ now: new Date(), busy: [], full: { manual: [], automatic: [] }, paused: false, excluded: [] },
  ...more,
})
const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000)

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Rows of other workspaces, and of this one those that are due in an hour and those that wait for what runs. */
const manyRows = async (): Promise<void> => {
  const rows = (tenantId: string, count: number, { origin, minutes, key }: { origin: string; minutes: number; key: string | null }) =>
    store.owner`insert into work (id, tenant_id, lane, kind, concurrency_key, ref_id, origin, run_at)
      select gen_random_uuid(), ${tenantId}, 'publish', 'send', ${key}, gen_random_uuid(), ${origin}, now() + ${minutes} * interval '1 minute'
      from generate_series(1, ${count})`
  for (let other = 0; other < 4; other++) await rows(await store.newTenant(), 2_000, { origin: 'automatic', minutes: -60, key: 'a' })
  await rows(tenant, 10_000, { origin: 'automatic', minutes: 60, key: 'a' })
  await rows(tenant, 10_000, { origin: 'automatic', minutes: 60, key: null })
  await rows(tenant, 100, { origin: 'automatic', minutes: -60, key: 'a' })
  await rows(tenant, 100, { origin: 'manual', minutes: 60, key: 'a' })
  await store.owner`analyze work`
}

test('a claim among twenty thousand rows reads the first ones of an index, also where what runs is in the way of most', async () => {
  await manyRows()
  await inTenant(async (sql) => {
    for (const [query, looks] of [[firstDueWork, 3] as const, [firstWait, 5] as const])
      for (const [paused, busy] of [[false, []] as const, [true, []] as const, [false, ['a', DEFAULT_KEY]] as const]) {
        const [row] = await sql`explain (analyze, buffers, format json) ${query(sql, view({ paused, busy: [...busy] }))}`
        const plan = row!['QUERY PLAN'][0].Plan as PlanNode
        const scans = nodesOf(plan).filter((node) => node['Relation Name'] === 'work')
        expect(scans.length).toBe(paused ? Math.ceil(looks / 2) : looks)
        for (const scan of scans) {
          expect(scan).toMatchObject({ 'Node Type': 'Index Scan', 'Index Name': 'work_due' })
          expect(scan['Index Cond']).toMatch(/^\(\(tenant_id = .*\) AND \(origin = '(manual|automatic)'::text\)/)
        }
        // A look passes what is due and must wait, and what people have asked for later: a hundred rows of each.
        expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(busy.length > 0 ? 300 : 60)
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
      const rows = await sql`explain ${query}`
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return rows
    }
    await apply(explaining, { settled: [newId()] }, { now, provenance: byTest })
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
    await apply(sql, { work: [unbound, bound, other] }, { now, provenance: byTest })
    expect(await nextDue(sql, view())).toMatchObject({ id: unbound.id, concurrency_key: DEFAULT_KEY })
    expect((await nextDue(sql, view({ busy: [DEFAULT_KEY] })))?.id).toBe(other.id)
    expect(await nextDue(sql, view({ busy: [DEFAULT_KEY, 'another'] }))).toBeUndefined()
    expect(await untilNextDue(sql, view({ busy: [DEFAULT_KEY, 'another'] }))).toBeUndefined()
    expect((await workById(sql, unbound.id))?.concurrency_key).toBeNull()
  })
})

test('a row that goes back to the queue keeps its key unless it is given another', async () => {
  const row = workOn(newId(), { key: 'first' })
  const keyAfter = (more: { key?: string | null }) =>
    inTenant(async (sql, now) => {
      await apply(sql, { requeued: [{ id: row.id, runAt: now, ...more }] }, { now, provenance: byTest })
      return (await workById(sql, row.id))?.concurrency_key
    })
  await inTenant((sql, now) => apply(sql, { work: [row] }, { now, provenance: byTest }))
  expect(await keyAfter({})).toBe('first')
  expect(await keyAfter({ key: 'second' })).toBe('second')
  expect(await keyAfter({ key: null })).toBeNull()
})
