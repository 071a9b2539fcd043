/** `tendril admin tenant import` of archives that somebody has written to reach what is others'. */
import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '#kernel/ids'
import { type ArchiveLine, exportedItem, writeArchive } from '#test/support/archives'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { type Rows, writeRows } from '#test/support/database/rows'
import { rowsOfTenant } from '#test/support/database/tenant-rows'
import { temporaryFolder } from '#test/support/folder'
import { runAdmin } from '#test/support/processes/server'
import { openS3 } from '#test/support/s3/server'
import { jsonLines } from '#test/support/texts/lines'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const folder = use(temporaryFolder)
const s3 = use(openS3)
const app = useApp(() => ({ database: db.options }))

const to = (name: string): string => join(folder.path, name)
const runWith = (env: Record<string, string>, ...args: string[]) =>
  runAdmin(
    { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64'), env },
    ...['tenant', ...args],
  )
const run = (...args: string[]) => runWith({}, ...args)

/** Somebody else's workspace, with a row in each table. */
let victim: { tenantId: string; rows: Rows }
beforeAll(async () => {
  const { tenantId } = await app.newWorkspace()
  await app.owner`delete from connection where tenant_id = ${tenantId}`
  victim = { tenantId, rows: await writeRows(app.owner, tenantId) }
})

test('an archive names no workspace, person, key, file or record that is here', async () => {
  const { tenantId, rows } = victim
  const [other] = await app.owner`select person_id from member where tenant_id = ${tenantId}`
  const person = other?.person_id ?? rows.invitation.id
  const by = { kind: 'person', id: person }
  const [item, comment] = [newId(), newId()]
  const records: ArchiveLine[] = [
    {
      kind: 'item',
      record: exportedItem({
        id: item,
        batch_id: rows.batch.id,
        resurfaced_from: rows.item.id,
        source_kind: 'batch',
        source_id: rows.batch.id,
        account_id: rows.connection.id,
        learnings: [rows.learning.id],
        written_by: by,
        decision: { what: 'approved', by, at: new Date() },
        status: 'approved',
      }),
    },
    { kind: 'item', record: exportedItem({ id: rows.item.id }) },
    {
      kind: 'comment',
      record: {
        id: comment,
        item_id: rows.item.id,
        kind: 'comment',
        body: 'mine',
        written_by: by,
        created_at: new Date(),
      },
    },
  ]
  const before = await rowsOfTenant(app.owner, tenantId)
  await writeArchive(to('foreign.tar.zst'), { records })
  const made = await run('import', to('foreign.tar.zst'), '--report', to('foreign.report'))
  expect(made).toMatchObject({ code: 0, json: { sealed: false, ids: 'new', made: { item: 2 } } })
  expect(await rowsOfTenant(app.owner, tenantId)).toEqual(before)
  const arrived = JSON.stringify(
    await app.owner`select to_jsonb(i) as item, to_jsonb(c) as comment
    from item i left join comment c on c.tenant_id = i.tenant_id and c.item_id = i.id
    where i.tenant_id = ${made.json.workspace_id}`,
  )
  expect(arrived).toContain('mine')
  for (const { id } of [rows.item, rows.batch, rows.connection, rows.learning, { id: item }])
    expect(arrived).not.toContain(id)
  for (const id of [person, comment, tenantId]) expect(arrived).not.toContain(id)
})

const artifactOf = (id: string, bytes: Uint8Array, changes: object = {}): ArchiveLine => ({
  kind: 'artifact',
  record: {
    id,
    job_id: null,
    conversation_id: null,
    created_by_user_id: null,
    source: 'capability',
    kind: 'report',
    file_name: '../../etc/passwd',
    mime_type: 'text/markdown',
    byte_size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    metadata: {},
    untrusted: false,
    created_at: new Date(Date.now() - Math.floor(Math.random() * 1e9)),
    deleted_at: null,
    ...changes,
  },
})

test('files are taken over if their bytes are those of their artifact, and there is room', async () => {
  const [good, wrong, gone, large, alone] = [newId(), newId(), newId(), newId(), newId()]
  const text = Buffer.from('# Docks\n')
  const much = new Uint8Array(5 * 2 ** 20)
  const records = [
    artifactOf(good, text),
    artifactOf(wrong, text, { sha256: '0'.repeat(64) }),
    artifactOf(gone, text),
    artifactOf(large, much),
  ]
  const files = { [good]: text, [wrong]: text, [large]: much, [alone]: text }
  await writeArchive(to('files.tar.zst'), { records, files })
  const made = await run('import', to('files.tar.zst'), '--report', to('files.report'))
  expect(made).toMatchObject({ code: 0, json: { made: { artifact: 1 } } })
  const reasons = new Map(
    (
      jsonLines(readFileSync(to('files.report'), 'utf8')) as { id: string; left_out?: string }[]
    ).map(({ id, left_out }) => [id, left_out]),
  )
  expect(reasons.get(wrong)).toContain('do not match its sha256')
  expect(reasons.get(gone)).toContain('not in the archive')
  expect(reasons.get(large)).toContain('at most')
  expect(reasons.get(alone)).toContain('no artifact')
  const key = (await app.newKey(['api:read', 'workspace:use'], made.json.workspace_id)).api_key
  const { body } = await app.send('GET', '/api/v1/artifacts', { key })
  expect(body.artifacts).toHaveLength(1)
  expect(body.artifacts[0].fileName).not.toContain('/')
  const got = await app.send('GET', `/api/v1/artifacts/${body.artifacts[0].id}/download`, { key })
  expect(got.text).toBe('# Docks\n')
  const stored = await app.owner`select 1 from file where tenant_id = ${made.json.workspace_id}`
  expect(stored).toHaveLength(1)
})

test('where files are kept in S3, they go there, and an import that fails removes them again', async () => {
  const [one, two] = [newId(), newId()]
  const much = Buffer.alloc(5 * 2 ** 20, 'docks')
  const records = [artifactOf(one, much), artifactOf(two, much)]
  await writeArchive(to('s3.tar.zst'), { records, files: { [one]: much, [two]: much } })
  const made = await runWith(s3.env, 'import', to('s3.tar.zst'), '--report', to('s3.report'))
  expect(made).toMatchObject({ code: 0, json: { made: { artifact: 2 } } })
  const keys = await s3.disk.keys()
  expect(keys.map((key) => key.split('/').at(-2))).toEqual([
    made.json.workspace_id,
    made.json.workspace_id,
  ])
  let sent = 0
  s3.fault = ({ method }) =>
    method === 'PUT' && ++sent > 1 ? { status: 403, code: 'AccessDenied' } : undefined
  const before = await app.owner`select id from tenant order by id`
  const failed = await runWith(s3.env, 'import', to('s3.tar.zst'), '--report', to('failed.report'))
  expect(failed.code).toBe(8)
  // Otherwise the next try would be refused for it.
  expect(existsSync(to('failed.report'))).toBe(false)
  expect(await app.owner`select id from tenant order by id`).toEqual(before)
  const removals = await app.owner<{ key: string }[]>`select key from file_removal`
  for (const key of (await s3.disk.keys()).filter((one) => !keys.includes(one)))
    expect(removals.some((removal) => key.endsWith(removal.key))).toBe(true)
  expect(removals.length).toBeGreaterThan(0)
})

test('a name that hides something is refused, and another one can be given', async () => {
  await writeArchive(to('strange'), { records: [], name: 'Do\u202ecks' })
  expect(await run('import', to('strange'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('give another by --name'),
  })
  expect(await run('import', to('strange'), '--name', 'Docks')).toMatchObject({
    code: 0,
    json: { name: 'Docks' },
  })
})

test('a report overwrites nothing, and what is no archive is said to be none', async () => {
  writeFileSync(to('there'), 'precious')
  await writeArchive(to('empty'), { records: [] })
  for (const args of [
    ['import', to('empty'), '--report', to('there')],
    ['import', to('empty'), '--report', to('nowhere/report')],
    ['import', to('empty'), '--report', to('there/report')],
    ['import', to('there')],
    ['import', to('nothing')],
    ['import', folder.path],
  ])
    expect([2, 6]).toContain((await run(...args)).code)
  expect(readFileSync(to('there'), 'utf8')).toBe('precious')
})
