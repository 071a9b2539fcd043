/** The list of what waits reads little, however much waits. */
import { expect, test } from 'bun:test'
import { inboxKinds } from '#contract/agent/inbox'
import { newId } from '#kernel/ids'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { inboxPage } from '#store/agent/inbox'
import { withTenant } from '#store/engine/read-scope'
import { planAsRun, planOf, type RunNode, vacuum } from '#test/support/database/plans'
import { useApp } from '#test/support/use'

const app = useApp({ newDatabase: true })
const as = {
  role: 'owner',
  personId: null,
  tools: [],
  allBut: true,
} as const
const all = { kinds: inboxKinds, words: [], as }

const letter = <T>(
  tenantId: string,
  run: Parameters<typeof app.workplace.db.letter<T>>[1],
  { bitmaps }: { bitmaps: 'on' | 'off' },
) =>
  app.workplace.db.letter(tenantId, async (sql) => {
    // A table so small would be read whole.
    await sql`select set_config('app.tenant', ${tenantId}, true),
      set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', ${bitmaps}, true)`
    return await run(sql)
  })

/**
 * Adds drafts of batches to one workspace, among those of many small ones: Postgres then takes any
 * workspace to have few drafts, which lie far apart.
 */
const addDrafts = async (tenantId: string, batches: string[]): Promise<void> => {
  const small = Array.from({ length: 200 }, newId)
  await app.owner`insert into tenant (id, name, plan) select id, 'Small', 'pro'
    from unnest(${small}::uuid[]) id`
  await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
    select id, ${tenantId}, 'ready', '', 60, now(), now() from unnest(${batches}::uuid[]) id`
  await app.owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale,
    stories, learnings, length, batch_id, source_kind, source_id, created_at, updated_at)
    select gen_random_uuid(), tenant_id, 'post', 'drafted', 'x', 'point', 'claim', '', '[]', '[]',
      1, b, 'batch', coalesce(b, gen_random_uuid()), now(), now()
    from (select ${tenantId}::uuid as tenant_id, b
        from unnest(${batches}::uuid[]) b, generate_series(1, 60)
      union all select id, null from unnest(${small}::uuid[]) id, generate_series(1, 20)) d
    order by random()`
  await vacuum(app.owner, 'item')
}

test('a page reads no more drafts than it shows, wherever it begins, and each table by its tenant', async () => {
  const tenantId = await createWorkspace(app.workplace.db, 'Large')
  const batches = Array.from({ length: 100 }, () => newId())
  await addDrafts(tenantId, batches)
  const middle = { kind: 6, source: 1, key: batches[50]!, id: newId() }
  for (const after of [undefined, middle]) {
    const query = inboxPage(all, { limit: 26, after })
    const nodes = await letter(tenantId, (sql) => planAsRun(sql, query(sql)), { bitmaps: 'on' })
    const isCount = (node: RunNode) => node['Actual Rows'] === 1_000
    const read = nodes.filter((node) => node['Relation Name'] === 'item' && !isCount(node))
    expect(read.length).toBeGreaterThan(2)
    for (const node of read)
      expect(
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      ).toBeLessThanOrEqual(26)
    const [found] = await app.workplace.db.read({ tenantId }, query)
    expect([found!.places!.length, found!.item!.length, found!.counts.draft]).toEqual([
      26, 26, 1_000,
    ])
  }
  const filters = [all, { ...all, words: ['x'], source: 'person', account: newId() }] as const
  for (const filter of filters) {
    const nodes = await letter(
      tenantId,
      (sql) => planOf(sql, withTenant(sql, { tenantId }, inboxPage(filter, { limit: 26 })(sql))),
      { bitmaps: 'off' },
    )
    const found = nodes.flatMap((node) =>
      node['Index Name'] ? `${node['Index Name']}: ${node['Index Cond']}` : [],
    )
    expect(found.length).toBeGreaterThan(10)
    for (const condition of found)
      expect(condition).toMatch(/^(\w+: \(+tenant_id = |person_pkey: \(+id = )/)
  }
})
