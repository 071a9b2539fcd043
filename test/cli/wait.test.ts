/** What `--wait` does while a record is being made. */
import { describe, expect, test } from 'bun:test'
import { FAILED_EXIT } from '#cli/failure'
import { errorTable } from '#kernel/errors'
import { type CliOptions, cli } from '#test/support/cli/host'
import { type Scripted, scriptedServer } from '#test/support/cli/scripted'
import { at, ID, ids } from './items.ts'

describe('--wait', () => {
  const batch = (status: string, more = {}): Scripted => ({
    status: status === 'queued' ? 201 : 200,
    body: { batch: { id: ID, status, error: null, ...more } },
  })
  const create = (url: string, argv: string[] = [], options: CliOptions = {}) =>
    cli(['batches', 'create', '--wait', ...argv], at(url, options))

  test('polls until the record is ready, ever more slowly', async () => {
    await using server = scriptedServer([
      batch('queued'),
      batch('queued'),
      batch('generating'),
      batch('generating'),
      batch('ready'),
    ])
    const { code, out, err, pauses } = await create(server.url, ['--json'])
    expect([code, err, pauses]).toEqual([0, '', [250, 375, 562.5]])
    expect(JSON.parse(out)).toMatchObject({ batch: { status: 'ready' } })
    expect(server.asked.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual(
      Array(4).fill(`GET /api/v1/growth/batches/${ID}`),
    )
  })

  test('shows progress on a terminal, and removes it again', async () => {
    await using server = scriptedServer([batch('queued'), batch('generating'), batch('ready')])
    const { err } = await create(server.url, [], { columns: 80 })
    expect(err).toBe('\r\u001b[Kgenerating … 0 s\r\u001b[K')
  })

  test('ends with its own exit code when the record has failed, and still prints it', async () => {
    await using server = scriptedServer([
      batch('queued'),
      batch('failed', { error: 'generation_failed: lower the count' }),
    ])
    const { code, out, err } = await create(server.url, ['--json'])
    expect(code).toBe(FAILED_EXIT)
    expect(JSON.parse(out)).toMatchObject({ batch: { status: 'failed' } })
    expect(JSON.parse(err)).toEqual({
      error: { code: 'generation_failed', message: 'lower the count' },
    })
  })

  test('ends at its deadline, and says how to check again', async () => {
    await using server = scriptedServer([batch('queued'), batch('generating')])
    const { code, err, pauses } = await create(server.url, ['--timeout', '2'])
    expect([code, pauses.reduce((sum, one) => sum + one, 0)]).toEqual([
      errorTable.unavailable.exit,
      2_000,
    ])
    expect(err).toContain(`tendril batches get ${ID}`)
  })

  test('finds a record in its list when no operation reads it alone, and accepts a draft as done', async () => {
    const engagement = (status: string, id = ID) => ({ id, status, action: 'reply', error: null })
    const listed = (status: string): Scripted => ({
      body: { engagements: [engagement('queued', ids[3]), engagement(status)], next_cursor: null },
    })
    const created = { status: 201, body: { engagement: engagement('queued') } }
    await using server = scriptedServer([created, listed('generating'), listed('drafted')])
    const { code, out } = await cli(
      ['signals', 'engage', ids[2]!, '--action', 'reply', '--wait', '--json'],
      at(server.url),
    )
    expect([code, JSON.parse(out)]).toEqual([0, { engagement: engagement('drafted') }])
    expect(server.asked.slice(1).map(({ path }) => path)).toEqual(
      Array(2).fill('/api/v1/growth/engagements?limit=100'),
    )
  })

  test('ends for a failed report as for any failed record', async () => {
    const report = (status: string) => ({
      id: ID,
      status,
      error: status === 'failed' ? 'enqueue_failed' : null,
    })
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
