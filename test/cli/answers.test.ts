/** What is printed: for programs and for people, over several pages, and while a record is being made. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { FAILED_EXIT } from '#cli/failure'
import { columnsFor, headOf, linesOf } from '#cli/table'
import { widthOf } from '#cli/text'
import { errorTable } from '#kernel/errors'
import { type CliOptions, cli } from '#test/support/cli/host'
import { type Asked, refusal, type Scripted, scriptedServer } from '#test/support/cli/scripted'
import { temporaryFolder } from '#test/support/folder'
import { jsonLines } from '#test/support/texts/lines'

const ID = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'
const ids = Array.from({ length: 7 }, (_, n) => `018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e1${n}`)
const items = ids.map((id, n) => ({
  id,
  status: 'drafted',
  kind: 'post',
  body: `Text ${n}`,
  stories: [],
  post_at: null,
  created_at: '2027-01-01T00:00:00Z',
}))

/** Items in pages of three; the cursor is the index of the next. */
const pages = ({ path }: Asked): Scripted => {
  const from = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0)
  return { body: { items: items.slice(from, from + 3), next_cursor: from + 3 < items.length ? String(from + 3) : null } }
}

const at = (url: string, more: CliOptions = {}): CliOptions => ({ ...more, env: { TENDRIL_API_URL: url, TENDRIL_API_KEY: 'ak_x' } })

describe('a list', () => {
  test('is a table with complete ids, without empty columns', async () => {
    await using server = scriptedServer(pages)
    const { out, err } = await cli(['items', 'list'], at(server.url))
    const [head, first, ...others] = out.trimEnd().split('\n')
    expect(head!.split(/ {2,}/)).toEqual(['ID', 'STATUS', 'KIND', 'BODY', 'CREATED_AT'])
    expect(first!.split(/ {2,}/)).toEqual([ids[0]!, 'drafted', 'post', 'Text 0', '2027-01-01T00:00:00Z'])
    expect(others).toHaveLength(2)
    expect(err).toBe('more results: use --all, or --cursor 3\n')
  })

  test('is read to its end with --all, below one header', async () => {
    await using server = scriptedServer(pages)
    const { code, out, err } = await cli(['items', 'list', '--all', '--limit', '3'], at(server.url))
    expect([code, err]).toEqual([0, ''])
    const lines = out.trimEnd().split('\n')
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(ids)
    expect(server.asked.map(({ path }) => path.split('?')[1])).toEqual(['limit=3', 'limit=3&cursor=3', 'limit=3&cursor=6'])
  })

  test('is one line of JSON for each record with --all --json', async () => {
    await using server = scriptedServer(pages)
    const { out } = await cli(['items', 'list', '--all', '--json'], at(server.url))
    expect(jsonLines(out)).toEqual(items)
  })

  test('prints each page before it requests the next, so a failure loses none', async () => {
    await using server = scriptedServer((asked, index) => (index < 2 ? pages(asked) : refusal(500, 'internal')))
    const { code, out } = await cli(['items', 'list', '--all', '--json'], at(server.url))
    expect([code, out.trimEnd().split('\n').length]).toEqual([errorTable.internal.exit, 6])
  })

  test('ends when its cursor repeats', async () => {
    await using server = scriptedServer([{ body: { items, next_cursor: '1' } }])
    const { code, err } = await cli(['items', 'list', '--all'], at(server.url))
    expect([code, server.asked.length, err]).toEqual([1, 2, 'tendril: internal: the server returned the same page twice\n'])
  })

  test('is one line of JSON for a pipe, and several for a terminal', async () => {
    await using server = scriptedServer(pages)
    const piped = await cli(['items', 'list', '--json'], at(server.url))
    const shown = await cli(['items', 'list', '--json'], at(server.url, { columns: 80 }))
    expect([piped.out.split('\n').length, JSON.parse(piped.out)]).toEqual([2, JSON.parse(shown.out)])
    expect(shown.out).toContain('\n  "items": [')
  })
})

describe('a table', () => {
  test('of items shows who resolves a doubt, and when the timeline is read next', () => {
    const doubt = { cause: 'server_error', resolves: 'by_itself', next_read_at: '2027-01-01T00:00:30.500Z' }
    const rows = [
      { id: ids[0]!, status: 'publish_unconfirmed', last_error: '503', doubt },
      { id: ids[1]!, status: 'posted', last_error: null, doubt: null },
    ]
    const columns = columnsFor(rows)
    expect(columns.map(({ name }) => name)).toEqual(['id', 'status', 'last_error', 'doubt.resolves', 'doubt.next_read_at'])
    expect(linesOf(rows, columns)[0]!.split(/ {2,}/).slice(2)).toEqual(['503', 'by_itself', '2027-01-01T00:00:30Z'])
  })

  const rows = [
    {
      id: ID,
      status: 'publish_unconfirmed',
      body: 'Every delay starts at the dock. '.repeat(9),
      hook: '漢字'.repeat(30),
      format: 'point',
      created_at: 'x'.repeat(20),
    },
    { id: ID, status: 'drafted', body: 'a\nb', hook: '👩‍🚀', format: 'story', created_at: '' },
  ]

  test('has switches that are off, and an id once', () => {
    const rules = [{ id: ID, name: 'Orders', enabled: false, pinned: false, job_id: ID, job: { id: ID } }]
    expect(columnsFor(rules).map(({ name }) => name)).toEqual(['id', 'name', 'enabled', 'job_id'])
  })

  test('has heads in words, in whichever case its fields are, and complete ids of either', () => {
    const jobs = [
      { id: ID, jobId: ID, createdAt: '2027-01-01T00:00:30.500Z', toolCalls: 3, goal: 'Every delay starts at the dock. '.repeat(9) },
    ]
    const columns = columnsFor(jobs)
    expect(headOf(columns).split(/ {2,}/)).toEqual(['ID', 'GOAL', 'TOOL_CALLS', 'JOB_ID', 'CREATED_AT'])
    expect(columnsFor(jobs, 140).find(({ name }) => name === 'jobId')!.width).toBe(ID.length)
  })

  test.each([60, 80, 100, 140, 300])('of %i columns is no wider, and its ids are complete', (width) => {
    const columns = columnsFor(rows, width)
    const lines = [headOf(columns), ...linesOf(rows, columns)]
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width)
    for (const line of lines.slice(1)) expect(line).toStartWith(ID)
    expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(['id', 'status']))
  })

  test('has each record on one line, uncut when there is no terminal', () => {
    const [, second] = linesOf(rows, columnsFor(rows))
    expect(second).toContain('a ⏎ b')
    expect(linesOf(rows, columnsFor(rows))[0]).toContain(rows[0]!.body.trim())
  })

  test('shows fields within objects that distinguish records, and never part of an id', () => {
    const signals = [
      {
        id: ID,
        target_id: ID,
        status: 'open',
        score: 58,
        reasons: ['new'],
        post: { network: 'sandbox', author: 'dock_notes', text: 'Who waits?' },
      },
      {
        id: ids[0]!,
        target_id: ID,
        status: 'open',
        score: 9,
        reasons: [],
        post: { network: 'sandbox', author: 'dock_notes', text: 'Who asks?' },
      },
    ]
    const columns = columnsFor(signals, 90)
    expect(columns.map(({ name }) => name)).toEqual(['id', 'status', 'score', 'post.text', 'post.author'])
    expect(linesOf(signals, columns)[0]!.split(/ {2,}/)).toEqual([ID, 'open', '58', 'Who waits?', 'dock_notes'])
    expect(columnsFor(signals, 140).find(({ name }) => name === 'target_id')!.width).toBe(ID.length)
  })

  test('shows times to the second', () => {
    const rows = [{ id: ID, post_at: '2027-01-01T09:00:00.000Z' }]
    expect(linesOf(rows, columnsFor(rows))).toEqual([`${ID}  2027-01-01T09:00:00Z`])
  })

  test('has a bold header only on a terminal with colours', async () => {
    await using server = scriptedServer(pages)
    expect((await cli(['items', 'list'], at(server.url, { columns: 120, colour: true }))).out).toStartWith('\u001b[1mID')
    expect((await cli(['items', 'list'], at(server.url, { columns: 120 }))).out).toStartWith('ID')
  })
})

test('a record is printed as names and values, with its lists as tables', async () => {
  const batch = { id: ID, status: 'ready', error: null, usage: { input_tokens: 3 }, items: items.slice(0, 2), notes: ['one', 'two\nlines'] }
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
    await Bun.write(join(folder.path, '.tendril', 'config.json'), JSON.stringify({ current: 'a', profiles: { a: profile } }))
    return await cli(['workspace', 'export'], { home: folder.path })
  }
  const error = JSON.stringify({ error: { code: 'unavailable', message: 'gone' } })

  test('is printed as it arrives', async () => {
    await using server = scriptedServer([{ body: '{"kind":"export"}\n{"kind":"end"}\n' }])
    expect(await session(server.url)).toMatchObject({ code: 0, out: '{"kind":"export"}\n{"kind":"end"}\n' })
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

describe('--wait', () => {
  const batch = (status: string, more = {}): Scripted => ({
    status: status === 'queued' ? 201 : 200,
    body: { batch: { id: ID, status, error: null, ...more } },
  })
  const create = (url: string, argv: string[] = [], options: CliOptions = {}) =>
    cli(['batches', 'create', '--wait', ...argv], at(url, options))

  test('polls until the record is ready, ever more slowly', async () => {
    await using server = scriptedServer([batch('queued'), batch('queued'), batch('generating'), batch('generating'), batch('ready')])
    const { code, out, err, pauses } = await create(server.url, ['--json'])
    expect([code, err, pauses]).toEqual([0, '', [250, 375, 562.5]])
    expect(JSON.parse(out)).toMatchObject({ batch: { status: 'ready' } })
    expect(server.asked.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual(Array(4).fill(`GET /api/v1/growth/batches/${ID}`))
  })

  test('shows progress on a terminal, and removes it again', async () => {
    await using server = scriptedServer([batch('queued'), batch('generating'), batch('ready')])
    const { err } = await create(server.url, [], { columns: 80 })
    expect(err).toBe('\r\u001b[Kgenerating … 0 s\r\u001b[K')
  })

  test('ends with its own exit code when the record has failed, and still prints it', async () => {
    await using server = scriptedServer([batch('queued'), batch('failed', { error: 'generation_failed: lower the count' })])
    const { code, out, err } = await create(server.url, ['--json'])
    expect(code).toBe(FAILED_EXIT)
    expect(JSON.parse(out)).toMatchObject({ batch: { status: 'failed' } })
    expect(JSON.parse(err)).toEqual({ error: { code: 'generation_failed', message: 'lower the count' } })
  })

  test('ends at its deadline, and says how to check again', async () => {
    await using server = scriptedServer([batch('queued'), batch('generating')])
    const { code, err, pauses } = await create(server.url, ['--timeout', '2'])
    expect([code, pauses.reduce((sum, one) => sum + one, 0)]).toEqual([errorTable.unavailable.exit, 2_000])
    expect(err).toContain(`tendril batches get ${ID}`)
  })

  test('finds a record in its list when no operation reads it alone, and accepts a draft as done', async () => {
    const engagement = (status: string, id = ID) => ({ id, status, action: 'reply', error: null })
    const listed = (status: string): Scripted => ({
      body: { engagements: [engagement('queued', ids[3]), engagement(status)], next_cursor: null },
    })
    const created = { status: 201, body: { engagement: engagement('queued') } }
    await using server = scriptedServer([created, listed('generating'), listed('drafted')])
    const { code, out } = await cli(['signals', 'engage', ids[2]!, '--action', 'reply', '--wait', '--json'], at(server.url))
    expect([code, JSON.parse(out)]).toEqual([0, { engagement: engagement('drafted') }])
    expect(server.asked.slice(1).map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/growth/engagements?limit=100'))
  })

  test('ends for a failed report as for any failed record', async () => {
    const report = (status: string) => ({ id: ID, status, error: status === 'failed' ? 'enqueue_failed' : null })
    await using server = scriptedServer([
      { status: 201, body: { report: report('queued') } },
      { body: { reports: [report('failed')], next_cursor: null } },
    ])
    expect((await cli(['reports', 'create', '--wait'], at(server.url))).code).toBe(FAILED_EXIT)
  })

  test('refuses an invalid time before it sends anything', async () => {
    await using server = scriptedServer([batch('queued')])
    const { code } = await create(server.url, ['--timeout', 'soon'])
    expect([code, server.asked.length]).toEqual([2, 0])
  })
})

test('a table of items shows the beginning of the hash of each text as its mark', () => {
  const rows = items.slice(0, 1).map((item) => ({ ...item, content_hash: `89abcdef${'0'.repeat(56)}` }))
  const columns = columnsFor(rows)
  expect([headOf(columns), linesOf(rows, columns)[0]]).toEqual([expect.stringContaining('MARK'), expect.stringMatching(/\b89abcdef\b/)])
  expect(linesOf(rows, columns)[0]).not.toContain('89abcdef0')
})
