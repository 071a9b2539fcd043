/** What is printed: for programs and for people, and over several pages. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { errorTable } from '#kernel/errors'
import { cli } from '#test/support/cli/host'
import { refusal, scriptedServer } from '#test/support/cli/scripted'
import { temporaryFolder } from '#test/support/folder'
import { jsonLines } from '#test/support/texts/lines'
import { at, ID, ids, items, pages } from './items.ts'

describe('a list', () => {
  test('is a table with complete ids, without empty columns', async () => {
    await using server = scriptedServer(pages)
    const { out, err } = await cli(['items', 'list'], at(server.url))
    const [head, first, ...others] = out.trimEnd().split('\n')
    expect(head!.split(/ {2,}/)).toEqual(['ID', 'STATUS', 'KIND', 'BODY', 'CREATED_AT'])
    expect(first!.split(/ {2,}/)).toEqual([
      ids[0]!,
      'drafted',
      'post',
      'Text 0',
      '2027-01-01T00:00:00Z',
    ])
    expect(others).toHaveLength(2)
    expect(err).toBe('more results: use --all, or --cursor 3\n')
  })

  test('is read to its end with --all, below one header', async () => {
    await using server = scriptedServer(pages)
    const { code, out, err } = await cli(['items', 'list', '--all', '--limit', '3'], at(server.url))
    expect([code, err]).toEqual([0, ''])
    const lines = out.trimEnd().split('\n')
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(ids)
    expect(server.asked.map(({ path }) => path.split('?')[1])).toEqual([
      'limit=3',
      'limit=3&cursor=3',
      'limit=3&cursor=6',
    ])
  })

  test('is one line of JSON for each record with --all --json', async () => {
    await using server = scriptedServer(pages)
    const { out } = await cli(['items', 'list', '--all', '--json'], at(server.url))
    expect(jsonLines(out)).toEqual(items)
  })

  test('prints each page before it requests the next, so a failure loses none', async () => {
    await using server = scriptedServer((asked, index) =>
      index < 2 ? pages(asked) : refusal(500, 'internal'),
    )
    const { code, out } = await cli(['items', 'list', '--all', '--json'], at(server.url))
    expect([code, out.trimEnd().split('\n').length]).toEqual([errorTable.internal.exit, 6])
  })

  test('ends when its cursor repeats', async () => {
    await using server = scriptedServer([{ body: { items, next_cursor: '1' } }])
    const { code, err } = await cli(['items', 'list', '--all'], at(server.url))
    expect([code, server.asked.length, err]).toEqual([
      1,
      2,
      'tendril: internal: the server returned the same page twice\n',
    ])
  })

  test('is one line of JSON for a pipe, and several for a terminal', async () => {
    await using server = scriptedServer(pages)
    const piped = await cli(['items', 'list', '--json'], at(server.url))
    const shown = await cli(['items', 'list', '--json'], at(server.url, { columns: 80 }))
    expect([piped.out.split('\n').length, JSON.parse(piped.out)]).toEqual([
      2,
      JSON.parse(shown.out),
    ])
    expect(shown.out).toContain('\n  "items": [')
  })
})

test('a record is printed as names and values, with its lists as tables', async () => {
  const batch = {
    id: ID,
    status: 'ready',
    error: null,
    usage: { input_tokens: 3 },
    items: items.slice(0, 2),
    notes: ['one', 'two\nlines'],
  }
  await using server = scriptedServer([{ body: { batch } }])
  const { out } = await cli(['batches', 'get', ID], at(server.url))
  expect(out).toBe(`id      ${ID}
status  ready
usage:
  input_tokens  3
items (2):
  ID                                    STATUS   KIND  BODY    CREATED_AT
  ${ids[0]}  drafted  post  Text 0  2027-01-01T00:00:00Z
  ${ids[1]}  drafted  post  Text 1  2027-01-01T00:00:00Z
notes (2):
  - one
  - two
    lines
`)
})

describe('a download', () => {
  const session = async (url: string) => {
    await using folder = await temporaryFolder()
    const profile = { api_url: url, session: { token: 'jwt', expires_at: '2099-01-01T00:00:00Z' } }
    await Bun.write(
      join(folder.path, '.tendril', 'config.json'),
      JSON.stringify({ current: 'a', profiles: { a: profile } }),
    )
    return await cli(['workspace', 'export'], { home: folder.path })
  }
  const error = JSON.stringify({ error: { code: 'unavailable', message: 'gone' } })

  test('is printed as it arrives', async () => {
    await using server = scriptedServer([{ body: '{"kind":"export"}\n{"kind":"end"}\n' }])
    expect(await session(server.url)).toMatchObject({
      code: 0,
      out: '{"kind":"export"}\n{"kind":"end"}\n',
    })
  })

  test.each([
    ['a line', `{"kind":"export"}\n${error}\n`],
    ['a CSV cell', `kind,record\n"${error.replaceAll('"', '""')}"\n`],
  ])('that ends with an error as %s is incomplete, and is not retried', async (_, body) => {
    await using server = scriptedServer([{ body }])
    const { code, out, err } = await session(server.url)
    expect([code, out, server.asked.length]).toEqual([errorTable.unavailable.exit, body, 1])
    expect(err).toContain('tendril: unavailable: the file is incomplete: gone')
  })

  test('that is refused is retried like any request', async () => {
    await using server = scriptedServer([refusal(503, 'unavailable'), { body: '{"kind":"end"}\n' }])
    expect(await session(server.url)).toMatchObject({ code: 0, pauses: [200] })
  })
})
