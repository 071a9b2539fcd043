/** The export of a workspace over HTTP, compared with the tables of the database. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { exportKinds } from '#contract/app/workspace'
import { exportSources } from '#store/app/export'
import { notExported } from '#store/app/not-exported'
import { markOf, type Rows, writeRows } from '#test/support/database/rows'
import { insertItems } from '#test/support/database/writes'
import { tokenOf } from '#test/support/session'
import { jsonLines } from '#test/support/texts/lines'
import { useApp } from '#test/support/use'

interface Line {
  kind: string
  record: Record<string, unknown>
}

let tenantId: string
let rows: Rows
let other: string
const app = useApp()
beforeAll(async () => {
  const filled = async () => {
    const workspace = await app.newWorkspace()
    await app.owner`delete from connection where tenant_id = ${workspace.tenantId}`
    return { ...workspace, rows: await writeRows(app.owner, workspace.tenantId) }
  }
  ;({ tenantId, rows } = await filled())
  other = (await filled()).tenantId
})

const PATH = '/api/v1/app/workspace/export'
const exportBy = async (key: string) => {
  const { status, text, headers } = await app.send('GET', PATH, { key })
  return { status, headers, text, lines: jsonLines(text) as Line[] }
}

/** The table whose row in test/support/database/rows.ts a record of this kind shows. */
const tableOf = (kind: (typeof exportKinds)[number]) =>
  (kind in rows ? kind : exportSources[kind].table) as keyof Rows

describe('an export', () => {
  test('begins with its workspace and time, has a line for each record in the documented order, and ends with counts', async () => {
    const { status, lines } = await exportBy(await tokenOf(app, tenantId))
    expect(status).toBe(200)
    expect(lines[0]).toEqual({
      kind: 'export',
      record: {
        format: 'tendril-export/v1',
        at: expect.any(String),
        workspace_id: tenantId,
        kinds: [...exportKinds],
      },
    })
    const middle = lines.slice(1, -1)
    const kinds = middle.map(({ kind }) => kind)
    expect([...new Set(kinds)]).toEqual([...exportKinds])
    expect(kinds).toEqual(
      [...kinds].sort((a, b) => exportKinds.indexOf(a as never) - exportKinds.indexOf(b as never)),
    )
    const counts = Object.fromEntries(
      exportKinds.map((kind) => [kind, kinds.filter((one) => one === kind).length]),
    )
    expect(lines.at(-1)).toEqual({ kind: 'end', record: { counts } })
    for (const kind of exportKinds) {
      const records = middle.filter((line) => line.kind === kind)
      for (const { record } of records)
        expect([kind, Object.keys(record)]).toEqual([kind, [...exportSources[kind].columns]])
      const row = rows[tableOf(kind)]
      if (row && 'id' in row) expect(records.map(({ record }) => record.id)).toContain(row.id)
    }
    expect(middle.find(({ kind }) => kind === 'workspace')!.record).toMatchObject({
      id: tenantId,
      paused: false,
      plan: expect.any(String),
    })
    expect(middle.find(({ kind }) => kind === 'member')!.record).toMatchObject({
      email: expect.any(String),
      role: 'owner',
    })
  })

  test('contains nothing of another workspace', async () => {
    const { text } = await exportBy(await tokenOf(app, tenantId))
    expect(text).toContain(markOf(tenantId))
    expect(text).not.toContain(other)
  })

  test('contains no secret, no hash and no sealed bytes', async () => {
    await app.newKey(['api:read'], tenantId)
    const secrets = await app.owner<
      { secret: Buffer }[]
    >`select hash as secret from api_key where tenant_id = ${tenantId}
      union all select token_hash from invitation where tenant_id = ${tenantId}
      union all select secret from webhook_endpoint where tenant_id = ${tenantId}
      union all select convert_to(password_hash, 'utf8') from person
        where id in (select person_id from member where tenant_id = ${tenantId})`
    expect(secrets.length).toBeGreaterThan(4)
    const { text, lines } = await exportBy(await tokenOf(app, tenantId))
    expect(lines.filter(({ kind }) => kind === 'key').length).toBeGreaterThan(1)
    const names = new Set(lines.flatMap(({ record }) => Object.keys(record)))
    // Models count tokens of another kind.
    for (const name of names)
      expect(name).not.toMatch(/hash|secret|(?<!^(?:input|cached|output|reserved)_)token|password/)
    // The secrets are marks in this test; look for their bytes in every encoding.
    for (const { secret } of secrets)
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(secret.toString(form))
    expect(text).not.toContain('"type":"Buffer"')
  })

  test('is complete when its records fill several pages', async () => {
    const { tenantId: full } = await app.newWorkspace()
    const count = 450
    await insertItems(app, full, { count, body: 'Item' })
    await app.owner`insert into learning (id, tenant_id, kind, note, status, created_at, updated_at)
      select gen_random_uuid(), ${full}, 'worked', 'Note ' || n, case n % 2 when 0 then 'active'
        else 'retired' end, now(), now()
      from generate_series(1, ${count}) n`
    await app.owner`insert into outbox (id, tenant_id, type, data, created_at)
      select gen_random_uuid(), ${full}, 'test', '{}', now()
      from generate_series(1, ${count})`
    const [item] = await app.owner`select id from item where tenant_id = ${full} limit 1`
    const [connection] = await app.owner`select id from connection where tenant_id = ${full}`
    await app.owner`insert into attempt (id, tenant_id, sendable, item_id, number, connection_id,
      body_sha, origin, state, intent_at, lease_until)
      select gen_random_uuid(), ${full}, 'post', ${item!.id}, n, ${connection!.id}, '', 'manual',
        'failed', now(), now() from generate_series(1, ${count}) n`
    const { lines } = await exportBy(await tokenOf(app, full))
    for (const kind of ['item', 'learning', 'event', 'attempt'])
      expect([
        kind,
        new Set(lines.filter((line) => line.kind === kind).map(({ record }) => record.id)).size,
      ]).toEqual([kind, count])
    expect(lines.at(-1)!.record.counts).toMatchObject({
      item: count,
      learning: count,
      event: count,
      attempt: count,
    })
  })

  test('is recorded in the audit trail with the person who took it', async () => {
    const { tenantId: own } = await app.newWorkspace()
    await exportBy(await tokenOf(app, own))
    const [person] = await app.owner`select person_id from member where tenant_id = ${own}`
    const audited =
      await app.owner`select operation, actor_kind, actor_id from audit where tenant_id = ${own}
        and operation like 'app.%'`
    expect(audited.map((row) => ({ ...row }))).toEqual([
      { operation: 'app.workspace.export', actor_kind: 'person', actor_id: person!.person_id },
    ])
  })

  test('ends midway when the reader loses access', async () => {
    const { tenantId: ownTenantId } = await app.newWorkspace()
    await insertItems(app, ownTenantId, { count: 2_000, body: 'x'.repeat(20_000) })
    const token = await tokenOf(app, ownTenantId)
    const reply = await fetch(app.url + PATH, {
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'left' },
    })
    const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value!
    await app.owner`update session set revoked_at = now() where tenant_id = ${ownTenantId}`
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += chunk.value
    const lines = text.trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toEqual({
      error: { code: 'unauthenticated', message: expect.any(String), request_id: 'left' },
    })
    expect(lines.length).toBeLessThan(2000)
  })
})

/** Tables that hold rows of tenants, with their columns. */
const columnsOfTenants = async () => {
  const found = await app.owner<{ name: string; columns: string[] }[]>`select c.relname as name,
      array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      and not a.attisdropped
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and (c.relname = 'tenant' or exists (select 1 from pg_attribute t where t.attrelid = c.oid
        and t.attname = 'tenant_id')) group by 1 order by 1`
  return Object.fromEntries(found.map(({ name, columns }) => [name, columns]))
}

test('every table and column of tenants is exported, or listed with the reason why not', async () => {
  expect(Object.keys(exportSources).toSorted()).toEqual([...exportKinds].toSorted())
  const tables = await columnsOfTenants()
  const exported = new Map<string, string[]>()
  for (const { table, columns } of Object.values(exportSources))
    exported.set(table, [...(exported.get(table) ?? []), ...columns])
  for (const [table, columns] of Object.entries(tables)) {
    const source = exported.get(table)
    if (!source) expect(Object.keys(notExported)).toContain(table)
    for (const column of source ? columns : [])
      if (column !== 'tenant_id' && !source!.includes(column))
        expect(Object.keys(notExported)).toContain(`${table}.${column}`)
  }
  for (const name of Object.keys(notExported)) {
    const [table, column] = name.split('.')
    expect([
      name,
      column === undefined
        ? table! in tables && !exported.has(table!)
        : tables[table!]?.includes(column),
    ]).toEqual([name, true])
  }
})
