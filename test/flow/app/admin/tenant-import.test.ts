/**
 * `tendril admin tenant import`: of what `tenant export` has made, on the same and on another
 * deployment, and of what somebody else has written.
 */
import { beforeAll, expect, test } from 'bun:test'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeArtifact } from '#test/support/agent/artifacts'
import {
  type ArchiveLine,
  exportedItem,
  listAgain,
  recordsOf,
  writeArchive,
} from '#test/support/archives'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { fill } from '#test/support/database/filled'
import { openWire, type Wire } from '#test/support/database/lost-commit'
import { rowsOfTenant } from '#test/support/database/tenant-rows'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { runAdmin } from '#test/support/processes/server'
import { tokenOf } from '#test/support/session'
import { jsonLines } from '#test/support/texts/lines'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
/** A deployment with the same secret, to which this workspace was never known. */
const otherDb = use(freshDb)
const folder = use(temporaryFolder)
const app = useApp(() => ({ database: db.options }))

const to = (name: string): string => join(folder.path, name)
const on = (database: typeof db, secret = TEST_SECRET) => ({
  key: app.key,
  database: database.options,
  secret: secret.toString('base64'),
})
const run = (...args: string[]) => runAdmin(on(db), 'tenant', ...args)
const runOnOther = (...args: string[]) => runAdmin(on(otherDb), 'tenant', ...args)

interface Told {
  kind: string
  id: string
  new_id?: string
  left_out?: string
}
const told = (name: string): Told[] => jsonLines(readFileSync(to(name), 'utf8'))

const BYTES = new Uint8Array(1_500_000).map((_, at) => (at * 7_919) % 251)
let tenantId: string
let due: string
let artifact: { id: string }

beforeAll(async () => {
  const filled = await fill(app)
  tenantId = filled.tenantId
  due = filled.item
  artifact = await makeArtifact({ app, tenantId }, { bytes: BYTES })
  expect((await run('export', to('one'), '--workspace', tenantId)).code).toBe(0)
}, 60_000)

const ofKind = (records: ArchiveLine[], kind: string) =>
  records.filter((line) => line.kind === kind).map(({ record }) => record)

const recordsAfter = async (
  runOn: typeof run,
  workspace: string,
  name: string,
): Promise<ArchiveLine[]> => {
  expect((await runOn('export', to(name), '--workspace', workspace)).code).toBe(0)
  return recordsOf(to(name))
}

const countsOf = (lines: readonly { kind: string }[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { kind } of lines) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

const operator = { kind: 'system', id: 'operator' }

/** Kinds that arrive as they were, but for these fields. */
const asExpected: Record<string, (record: Record<string, unknown>) => object> = {
  profile: ({ written_by }) => ({ written_by: written_by && operator }),
  profile_revision: ({ written_by }) => ({ written_by: written_by && operator }),
  channel: () => ({}),
  product: () => ({}),
  learning: () => ({}),
  metric: () => ({}),
  batch: () => ({}),
  revision: ({ written_by }) => ({ written_by: written_by && operator }),
  comment: () => ({ written_by: operator }),
  rule: () => ({ status: 'paused', day: '', used: 0, over: 0 }),
  memory: () => ({ job_id: null }),
  document: () => ({ author: expect.anything(), updated_at: expect.anything() }),
  artifact: () => ({ job_id: null, conversation_id: null, created_by_user_id: null }),
  item: ({ status, written_by, source_kind, post_at, proposed_at }) => ({
    decision: null,
    on_missed: null,
    post_at: null,
    account_id: null,
    ...(status === 'approved'
      ? { status: 'drafted', proposed_at: post_at ?? proposed_at, account_external_id: null }
      : {}),
    ...(source_kind === 'batch' ? {} : { source_kind: 'system', source_id: null }),
    written_by: written_by && operator,
  }),
}

test('on a deployment that never had it, all that is taken over arrives field by field, under its own ids', async () => {
  const made = await runOnOther('import', to('one'), '--report', to('one.report'))
  expect(made).toMatchObject({ code: 0, json: { name: 'Test', sealed: true, ids: 'kept' } })
  const [before, after] = [
    recordsOf(to('one')),
    await recordsAfter(runOnOther, made.json.workspace_id, 'two'),
  ]
  for (const [kind, changes] of Object.entries(asExpected)) {
    const expected = ofKind(before, kind).map((record) => ({ ...record, ...changes(record) }))
    if (kind === 'document')
      for (const one of expected) Object.assign(one, { status: 'queued', passages: 0 })
    expect([kind, ofKind(after, kind)]).toEqual([kind, expected])
  }
  for (const kind of ['item', 'document', 'memory', 'comment', 'revision'])
    expect(ofKind(before, kind)).not.toEqual([])
  expect(ofKind(before, 'item').map(({ status }) => status)).toContain('approved')
  expect(readFileSync(to(`two/files/${artifact.id}`)).equals(BYTES)).toBe(true)
  for (const kind of ['member', 'key', 'webhook', 'connection', 'attempt', 'conversation'])
    expect(ofKind(after, kind)).toEqual([])
  expect(ofKind(after, 'audit').map(({ operation }) => operation)).toContain(
    'operator.workspace.import',
  )
  // Every line is either made or left out, and named.
  const report = told('one.report')
  expect(countsOf(report)).toEqual(countsOf(before))
  for (const { new_id, left_out } of report)
    expect((new_id === undefined) === (left_out === undefined)).toBe(false)
})

test('where its ids are taken, all are new, the old workspace keeps its own, and nothing goes out', async () => {
  const posts = () => app.owner`select 1 from sandbox.posts`
  const [before, sent] = [await rowsOfTenant(app.owner, tenantId), (await posts()).length]
  const made = await run('import', to('one'), '--name', 'Again', '--report', to('again.report'))
  expect(made).toMatchObject({ code: 0, err: '', json: { name: 'Again', ids: 'new' } })
  const again = made.json.workspace_id as string
  const ids = new Map(told('again.report').map(({ id, new_id }) => [id, new_id]))
  const old = new Set(recordsOf(to('one')).map(({ record }) => record.id))
  const key = (await app.newKey(['api:read', 'workspace:use'], again)).api_key
  const items = await app.send('GET', '/api/v1/growth/items?limit=100', { key })
  expect(items.body.items).toHaveLength(ofKind(recordsOf(to('one')), 'item').length)
  for (const { id } of items.body.items) expect(old.has(id)).toBe(false)
  const one = await app.send('GET', `/api/v1/growth/items/${ids.get(due)}`, { key })
  expect(one.body.item).toMatchObject({ status: 'drafted', decision: null, post_at: null })
  expect(Date.parse(one.body.item.proposed_at)).toBeGreaterThan(Date.now())
  const found = await app.send('GET', '/api/v1/growth/items?q=upgrade', { key })
  expect(found.body.items.map(({ id }: { id: string }) => id)).toContain(ids.get(due)!)
  // Documents are read anew.
  await eventually(
    () => app.send('GET', '/api/v1/documents?status=ready', { key }),
    ({ body }) => body.documents.length === 1,
  )
  expect((await posts()).length).toBe(sent)
  const kinds = await app.owner`select distinct kind from work where tenant_id = ${again}`
  expect(kinds.map(({ kind }) => kind)).toEqual([])
  expect(await rowsOfTenant(app.owner, tenantId)).toEqual({
    ...before,
    'audit.tenant_id': expect.any(Number),
    // A sweep moves the words of its post.
    'item_word_move.tenant_id': expect.any(Number),
  })
})

test('its owner joins by a link, and sees who has brought it, from where', async () => {
  const made = await run(
    'import',
    to('one'),
    '--email',
    'owner@import.example',
    '--report',
    to('r'),
  )
  expect(made.json.sign_in_url).toMatch(/\/join\?token=inv_/)
  const owner = await tokenOf(app, made.json.workspace_id)
  const { body } = await app.send('GET', '/api/v1/app/audit?limit=100', { key: owner })
  const entry = body.entries.find(
    ({ operation }: { operation: string }) => operation === 'operator.workspace.import',
  )
  expect(entry).toMatchObject({
    who: operator,
    detail: { workspace_id: tenantId, name: 'Test', sealed: true, ids: 'new' },
  })
})

test('a dry run names the same, and makes nothing', async () => {
  const [{ count: before }] = (await app.owner`select count(*)::int from tenant`) as never as [
    { count: number },
  ]
  const planned = await run('import', to('one'), '--dry-run')
  expect(planned).toMatchObject({ code: 0, json: { dry_run: true, sealed: true } })
  const left = jsonLines(planned.err) as Told[]
  expect(left.every(({ left_out }) => left_out !== undefined)).toBe(true)
  expect({ ...countsOf(left), ...planned.json.made }).toEqual(countsOf(recordsOf(to('one'))))
  const [after] = await app.owner`select count(*)::int from tenant`
  expect(after!.count).toBe(before)
})

const edited = (name: string, edit: (path: string) => void): string => {
  cpSync(to('one'), to(name), { recursive: true })
  edit(to(name))
  return to(name)
}

const editLines =
  (change: (line: ArchiveLine) => ArchiveLine) =>
  (path: string): void => {
    const part = join(path, 'records/000001.ndjson')
    const lines = jsonLines(readFileSync(part, 'utf8')) as ArchiveLine[]
    writeFileSync(part, lines.map((line) => `${JSON.stringify(change(line))}\n`).join(''))
    listAgain(path)
  }

test('one that was edited has no seal: its ids are new, and it counts as said by people outside', async () => {
  const from = edited(
    'edited',
    editLines((line) =>
      line.kind === 'item' ? { ...line, record: { ...line.record, status: 'approved' } } : line,
    ),
  )
  const made = await runOnOther('import', from, '--report', to('edited.report'))
  expect(made).toMatchObject({ code: 0, json: { sealed: false, ids: 'new' } })
  const after = await recordsAfter(runOnOther, made.json.workspace_id, 'edited.after')
  for (const { status } of ofKind(after, 'item')) expect(status).toBe('drafted')
  expect(ofKind(after, 'memory').map(({ untrusted }) => untrusted)).toEqual([true])
})

test('once the old workspace is gone, its ids are free again, and of two imports one has them', async () => {
  const { tenantId: gone } = await app.newWorkspace()
  expect((await run('export', to('gone'), '--workspace', gone)).code).toBe(0)
  const erased = await run('erase', '--workspace', gone, '--name', 'Test', '--now')
  expect(erased).toMatchObject({ code: 0, json: { erased: true } })
  const first = await run('import', to('gone'), '--report', to('first'))
  const second = await run('import', to('gone'), '--report', to('second'))
  expect([first.json.ids, second.json.ids]).toEqual(['kept', 'new'])
  const forced = await runOnOther('import', to('gone'), '--new-ids', '--report', to('forced'))
  expect(forced.json.ids).toBe('new')
})

/** Imports an item through a wire that is cut as the import ends. */
const importCut = async (name: string, then: (wire: Wire) => unknown) => {
  await using wire = await openWire(db.options)
  // The audit of the last transaction names the operation.
  const cut = wire.loseCommitOf('operator.workspace.import').then(() => then(wire))
  const record = exportedItem()
  await writeArchive(to(name), { records: [{ kind: 'item', record }] })
  const over = { ...on(db), database: wire.options }
  const report = `${name}.report`
  const made = await runAdmin(over, 'tenant', 'import', to(name), '--report', to(report))
  await cut
  return { made, report: told(report), expected: [{ kind: 'item', id: record.id }] }
}

test('an import whose last answer is lost is complete all the same, with its report', async () => {
  const { made, report, expected } = await importCut('lost.tar.zst', () => {})
  expect(made).toMatchObject({ code: 0, json: { ids: 'new' } })
  expect(report).toMatchObject(expected)
  const [row] = await app.owner`select deletes_at from tenant where id = ${made.json.workspace_id}`
  expect(row).toEqual({ deletes_at: null })
})

test('where nobody can say whether the workspace is there, its report stays', async () => {
  const { made, report, expected } = await importCut('unknown.tar.zst', (wire) =>
    wire[Symbol.asyncDispose](),
  )
  expect(made.code).toBe(8)
  const [id = ''] = /(?<=--workspace )[0-9a-f-]{36}/.exec(made.err) ?? []
  expect((await run('get', '--workspace', id)).code).toBe(0)
  expect(report).toMatchObject(expected)
})
