/** Documents on the command line, at a real server. */
import { expect, test } from 'bun:test'
import { documentStory } from '#test/support/agent/documents'
import { type CliOptions, cli } from '#test/support/cli/host'
import { temporaryFolder } from '#test/support/folder'
import { useEach, useSharedApp } from '#test/support/use'

const app = useSharedApp()
const folder = useEach(temporaryFolder)

const setUp = async () => {
  const story = await documentStory(app)
  const run = (argv: string[], options: CliOptions = {}) =>
    cli(['agent', 'documents', ...argv, '--api-url', app.url, '--api-key', story.key, '--json'], {
      home: folder.path,
      ...options,
    })
  return { ...story, run }
}

test('files are added under their own names, found, opened and deleted', async () => {
  const { run, over } = await setUp()
  const files = {
    'notes/returns.md': '# Returns\n\nParcels come back.',
    'more.txt': 'Zebras do not.',
  }
  const { code, out } = await run(['upload', ...Object.keys(files), '--trusted'], { files })
  const added = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect([code, added]).toMatchObject([
    0,
    [
      { fileName: 'returns.md', trusted: true },
      { fileName: 'more.txt', mimeType: 'text/plain' },
    ],
  ])
  for (const { id } of added) await over(id)
  const { passages } = JSON.parse((await run(['search', '--q', 'parcel'])).out)
  expect(passages).toMatchObject([{ fileName: 'returns.md', heading: 'Returns' }])
  const id = passages[0].documentId
  expect(
    JSON.parse((await run(['get', id, '--at', String(passages[0].start)])).out).passage.text,
  ).toContain('Parcels come back.')
  expect((await run(['list', '--status', 'ready'])).out).toContain('more.txt')
  expect((await run(['retry', id])).code).toBe(7)
  expect((await run(['remove', id])).code).toBe(0)
  expect((await run(['get', id])).code).toBe(6)
})

test('a file that is refused is named, and the others are added', async () => {
  const { run, send } = await setUp()
  const files = { 'one.md': 'Equal.', 'two.md': 'Equal.', 'three.md': 'Other.' }
  const { code, err } = await run(['upload', 'one.md', 'two.md', 'missing.md', 'three.md'], {
    files,
  })
  expect(code).toBe(7)
  expect(err).toMatch(/two\.md: this content is document .* already, one\.md/)
  expect(err).toContain('missing.md')
  expect(
    (await send('GET', '')).body.documents.map(({ fileName }: { fileName: string }) => fileName),
  ).toEqual(['three.md', 'one.md'])
})
