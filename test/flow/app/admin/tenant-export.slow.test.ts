/** `tendril admin tenant export`, compared with the export that an owner downloads. */
import { beforeAll, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createZstdDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import type { Artifact } from '#domain/agent/knowledge/artifact'
import { newId } from '#kernel/ids'
import { deriveKey } from '#kernel/secret'
import { makeArtifact } from '#test/support/agent/artifacts'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { insertItems } from '#test/support/database/writes'
import { temporaryFolder } from '#test/support/folder'
import { runAdmin } from '#test/support/processes/server'
import { tokenOf } from '#test/support/session'
import { jsonLines } from '#test/support/texts/lines'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const folder = use(temporaryFolder)
const app = useApp(() => ({ database: db.options }))

const to = (name: string): string => join(folder.path, name)
const exportTo = (name: string, tenantId = app.tenantId) =>
  runAdmin(
    { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64') },
    ...['tenant', 'export', to(name), '--workspace', tenantId],
  )

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

interface Line {
  kind: string
  record: Record<string, unknown>
}

/** Each export adds an audit row. */
const comparable = (text: string): Line[] =>
  (jsonLines(text) as Line[]).filter(({ kind }) => !['export', 'audit', 'end'].includes(kind))

const BYTES = new Uint8Array(1_500_000).map((_, at) => (at * 7_919) % 251)
let owner: string
let kept: Artifact
let deleted: Artifact

beforeAll(async () => {
  const { tenantId } = app
  owner = await tokenOf(app, tenantId)
  kept = await makeArtifact({ app, tenantId }, { bytes: BYTES })
  deleted = await makeArtifact({ app, tenantId })
  expect((await app.send('DELETE', `/api/v1/artifacts/${deleted.id}`, { key: owner })).status).toBe(
    200,
  )
  await insertItems(app, tenantId, { count: 300, body: 'long '.repeat(4_000) })
})

const audited = async (): Promise<number> =>
  (
    await app.owner`select 1 from audit where actor_id = 'operator' and surface = 'admin'
      and operation = 'app.workspace.export' and tenant_id = ${app.tenantId}`
  ).length

const unpacked = async (path: string): Promise<Map<string, Buffer>> => {
  const parts = new Map<string, Buffer>()
  const entries = extract()
  const packed = createReadStream(path).pipe(createZstdDecompress())
  packed.pipe(entries as unknown as NodeJS.WritableStream)
  for await (const entry of entries)
    parts.set(
      entry.header.name,
      Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>)),
    )
  return parts
}

const recordsIn = (parts: Map<string, Buffer>): string =>
  [...parts]
    .filter(([path]) => path.startsWith('records/'))
    .map(([, bytes]) => bytes.toString())
    .join('')

test('the archive has the records that an owner downloads, the bytes of the files, and a listing of its parts with a seal', async () => {
  const before = await audited()
  const { code, json } = await exportTo('one.tar.zst')
  expect([code, json.files, json.missing]).toEqual([0, 1, []])
  const parts = await unpacked(to('one.tar.zst'))
  const paths = [...parts.keys()]
  expect(paths[0]).toBe('tenant.json')
  expect(JSON.parse(String(parts.get('tenant.json')))).toMatchObject({
    format: 'tendril-tenant/v1',
    workspace_id: app.tenantId,
    name: 'Test',
  })
  expect(paths.slice(-2)).toEqual(['listing.json', 'seal.json'])
  expect(paths.filter((path) => path.startsWith('records/')).length).toBeGreaterThan(1)
  expect(parts.get(`files/${kept.id}`)?.equals(BYTES)).toBe(true)
  expect(parts.has(`files/${deleted.id}`)).toBe(false)
  const text = String(parts.get('listing.json'))
  const listing = JSON.parse(text)
  expect(listing.parts).toEqual(
    paths.slice(0, -2).map((path) => {
      const bytes = parts.get(path)!
      return { path, size: bytes.length, sha256: sha256(bytes) }
    }),
  )
  const sealing = createHmac('sha256', deriveKey(TEST_SECRET, 'archives of workspaces'))
  expect(JSON.parse(String(parts.get('seal.json')))).toMatchObject({
    seal: sealing.update(text).digest('base64'),
  })
  const downloaded = await app.send('GET', '/api/v1/app/workspace/export', { key: owner })
  expect(comparable(recordsIn(parts))).toEqual(comparable(downloaded.text))
  expect((await audited()) - before).toBe(1)
})

test('it can be a folder, and overwrites nothing', async () => {
  expect((await exportTo('folder')).code).toBe(0)
  expect(readdirSync(to('folder')).sort()).toEqual([
    ...['files', 'listing.json', 'records', 'seal.json', 'tenant.json'],
  ])
  expect(readFileSync(to(`folder/files/${kept.id}`)).equals(BYTES)).toBe(true)
  writeFileSync(to('there.tar.zst'), 'precious')
  for (const name of ['folder', 'there.tar.zst', 'nowhere/x.tar.zst', 'x.zip'])
    expect(await exportTo(name)).toMatchObject({ code: 2 })
  expect(readFileSync(to('there.tar.zst'), 'utf8')).toBe('precious')
})

test.each(['same.tar.zst', 'same'])(
  'of two at once to %s one is kept whole, and one refused',
  async (name) => {
    const both = await Promise.all([exportTo(name), exportTo(name)])
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2])
    expect(both.map(({ err }) => err).join('')).toEndWith(
      'exists already: nothing is overwritten\n',
    )
    expect(readdirSync(folder.path).filter((one) => one.includes('.part-'))).toEqual([])
    if (name === 'same.tar.zst')
      expect([...(await unpacked(to(name))).keys()]).toContain('seal.json')
  },
)

test('one that fails leaves nothing behind', async () => {
  const { tenantId } = await app.newWorkspace()
  const { file_id } = await makeArtifact({ app, tenantId })
  await app.owner`delete from file_block where file_id = ${file_id}`
  const before = readdirSync(folder.path)
  expect(await exportTo('broken.tar.zst', tenantId)).toMatchObject({
    code: 8,
    err: `tendril admin: the file is no longer there (workspace ${tenantId})\n`,
  })
  expect(readdirSync(folder.path)).toEqual(before)
})

test('an unknown workspace is refused, and one whose erasure has begun; one that is to be deleted is exported', async () => {
  expect(await exportTo('unknown', newId())).toMatchObject({ code: 6 })
  const { tenantId } = await app.newWorkspace()
  await app.owner`update tenant set deletes_at = now() + interval '1 hour' where id = ${tenantId}`
  expect((await exportTo('leaving', tenantId)).code).toBe(0)
  await app.owner`update tenant set erasure_rests_until = now() + interval '1 hour',
    deletes_at = now() where id = ${tenantId}`
  await app.owner`delete from actor where tenant_id = ${tenantId}`
  expect(await exportTo('erased', tenantId)).toMatchObject({ code: 7 })
  for (const name of ['unknown', 'erased']) expect(existsSync(to(name))).toBe(false)
})
