/** Artifacts on the command line, at a real server. */
import { expect, test } from 'bun:test'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scopes } from '#kernel/scopes'
import { makeArtifact, makeReport } from '#test/support/agent/artifacts'
import { cli } from '#test/support/cli/host'
import { type Scripted, scriptedServer } from '#test/support/cli/scripted'
import { temporaryFolder } from '#test/support/folder'
import { useEach, useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })
const folder = useEach(temporaryFolder)

const setUp = async () => {
  const { tenantId } = await app.newWorkspace()
  const { api_key: key } = await app.newKey([...scopes], tenantId)
  const run = (argv: string[], url = app.url) =>
    cli(['agent', 'artifacts', ...argv, '--api-url', url, '--api-key', key, '--json'], {
      home: folder.path,
    })
  const make = (changes: Parameters<typeof makeArtifact>[1] = {}) =>
    makeArtifact({ app, tenantId }, changes)
  return { tenantId, run, make }
}

const inFolder = (name: string) => join(folder.path, name)

test('a report is made into a file, listed, shown, shared, unshared and deleted', async () => {
  const { tenantId, run } = await setUp()
  const { id: report } = await makeReport({ app, tenantId })
  const { artifact } = JSON.parse(
    (await run(['create', '--record', 'report', '--record-id', report])).out,
  )
  expect((await run(['list', '--kind', 'report', '--all'])).out).toContain(artifact.id)
  const { share, token, url } = JSON.parse(
    (await run(['share', artifact.id, '--expires-in-days', '1'])).out,
  )
  expect([
    url.endsWith(token),
    JSON.parse((await run(['get', artifact.id])).out).shares[0].id,
  ]).toEqual([true, share.id])
  expect(
    JSON.parse((await run(['unshare', artifact.id, share.id])).out).share.revokedAt,
  ).toBeString()
  expect((await run(['remove', artifact.id])).code).toBe(0)
  expect((await run(['get', artifact.id])).code).toBe(6)
})

test('a file of several MiB is saved whole under its own name in a folder', async () => {
  const { run, make } = await setUp()
  const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251)
  const { id } = await make({ bytes, file_name: 'Größe "1".bin' })
  const saved = await run(['download', id, '--output', folder.path])
  const [name] = await readdir(folder.path)
  expect([saved.code, JSON.parse(saved.out)]).toEqual([
    0,
    { file: { name: name!, path: inFolder(name!), bytes: bytes.length } },
  ])
  expect(name).toBe('Größe _1_.bin')
  expect(Buffer.compare(await readFile(inFolder(name!)), bytes)).toBe(0)
})

test('a file that exists is overwritten only by --force', async () => {
  const { run, make } = await setUp()
  const { id } = await make({ bytes: 'new' })
  await writeFile(inFolder('mine.md'), 'old')
  const refused = await run(['download', id, '--output', inFolder('mine.md')])
  expect([refused.code, refused.err, await readFile(inFolder('mine.md'), 'utf8')]).toEqual([
    2,
    expect.stringContaining('exists'),
    'old',
  ])
  await writeFile(inFolder('late-deliveries.md'), 'old')
  expect((await run(['download', id, '--output', folder.path])).code).toBe(2)
  expect(await readFile(inFolder('late-deliveries.md'), 'utf8')).toBe('old')
  expect((await run(['download', id, '--output', inFolder('mine.md'), '--force'])).code).toBe(0)
  expect(await readFile(inFolder('mine.md'), 'utf8')).toBe('new')
  expect((await readdir(folder.path)).sort()).toEqual(['late-deliveries.md', 'mine.md'])
})

test('- writes to standard output and nothing else', async () => {
  const { run, make } = await setUp()
  const { id } = await make({ bytes: 'the bytes' })
  expect(await run(['download', id, '--output', '-'])).toMatchObject({
    code: 0,
    out: 'the bytes',
    err: '',
  })
})

test('what cannot be saved leaves nothing behind', async () => {
  const { run, make } = await setUp()
  const { id } = await make()
  await mkdir(inFolder('empty'))
  expect((await run(['download', crypto.randomUUID(), '--output', inFolder('empty')])).code).toBe(6)
  expect(
    (await run(['download', id, '--output', join(folder.path, 'no', 'such', 'folder')])).code,
  ).toBe(2)
  expect(await readdir(inFolder('empty'))).toEqual([])
})

const ETAG = { etag: `"${'0'.repeat(64)}"` }
const answers: [string, Scripted][] = [
  [
    'other bytes than the server has stored',
    {
      body: 'other bytes',
      headers: { ...ETAG, 'content-disposition': 'attachment; filename="a.md"' },
    },
  ],
  ['no hash', { body: 'bytes', headers: { 'content-disposition': 'attachment; filename="a.md"' } }],
]
test.each(answers)('an answer with %s is not saved', async (_, answer) => {
  const { run } = await setUp()
  await using server = scriptedServer([answer])
  const failed = await run(['download', crypto.randomUUID(), '--output', folder.path], server.url)
  expect([failed.code, failed.err, await readdir(folder.path)]).toEqual([
    1,
    expect.stringContaining('not complete'),
    [],
  ])
})
