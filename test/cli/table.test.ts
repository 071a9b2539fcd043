/** Records as a table: which columns, how wide, and in what form. */
import { describe, expect, test } from 'bun:test'
import { answerLines } from '#cli/record'
import { columnsFor, headOf, tableLines } from '#cli/table'
import { widthOf } from '#cli/text'
import { cli } from '#test/support/cli/host'
import { scriptedServer } from '#test/support/cli/scripted'
import { at, ID, ids, items, pages } from './items.ts'

describe('a table', () => {
  test('of items shows who resolves a doubt, and when the timeline is read next', () => {
    const doubt = {
      cause: 'server_error',
      resolves: 'by_itself',
      next_read_at: '2027-01-01T00:00:30.500Z',
    }
    const rows = [
      { id: ids[0]!, status: 'publish_unconfirmed', last_error: '503', doubt },
      { id: ids[1]!, status: 'posted', last_error: null, doubt: null },
    ]
    const columns = columnsFor(rows)
    expect(columns.map(({ name }) => name)).toEqual([
      'id',
      'status',
      'last_error',
      'doubt.resolves',
      'doubt.next_read_at',
    ])
    expect(tableLines(rows, columns)[0]!.split(/ {2,}/).slice(2)).toEqual([
      '503',
      'by_itself',
      '2027-01-01T00:00:30Z',
    ])
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
    const rules = [
      { id: ID, name: 'Orders', enabled: false, pinned: false, job_id: ID, job: { id: ID } },
    ]
    expect(columnsFor(rules).map(({ name }) => name)).toEqual(['id', 'name', 'enabled', 'job_id'])
  })

  test('has heads in words, in whichever case its fields are, and complete ids of either', () => {
    const jobs = [
      {
        id: ID,
        jobId: ID,
        createdAt: '2027-01-01T00:00:30.500Z',
        toolCalls: 3,
        goal: 'Every delay starts at the dock. '.repeat(9),
      },
    ]
    const columns = columnsFor(jobs)
    expect(headOf(columns).split(/ {2,}/)).toEqual([
      'ID',
      'GOAL',
      'TOOL_CALLS',
      'JOB_ID',
      'CREATED_AT',
    ])
    expect(columnsFor(jobs, 140).find(({ name }) => name === 'jobId')!.width).toBe(ID.length)
  })

  test.each([60, 80, 100, 140, 300])(
    'of %i columns is no wider, and its ids are complete',
    (width) => {
      const columns = columnsFor(rows, width)
      const lines = [headOf(columns), ...tableLines(rows, columns)]
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width)
      for (const line of lines.slice(1)) expect(line).toStartWith(ID)
      expect(columns.map(({ name }) => name)).toEqual(expect.arrayContaining(['id', 'status']))
    },
  )

  test('has each record on one line, uncut when there is no terminal', () => {
    const [, second] = tableLines(rows, columnsFor(rows))
    expect(second).toContain('a ⏎ b')
    expect(tableLines(rows, columnsFor(rows))[0]).toContain(rows[0]!.body.trim())
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
    expect(columns.map(({ name }) => name)).toEqual([
      'id',
      'status',
      'score',
      'post.text',
      'post.author',
    ])
    expect(tableLines(signals, columns)[0]!.split(/ {2,}/)).toEqual([
      ID,
      'open',
      '58',
      'Who waits?',
      'dock_notes',
    ])
    expect(columnsFor(signals, 140).find(({ name }) => name === 'target_id')!.width).toBe(ID.length)
  })

  test('shows times to the second', () => {
    const rows = [{ id: ID, post_at: '2027-01-01T09:00:00.000Z' }]
    expect(tableLines(rows, columnsFor(rows))).toEqual([`${ID}  2027-01-01T09:00:00Z`])
  })

  test('has a bold header only on a terminal with colours', async () => {
    await using server = scriptedServer(pages)
    expect(
      (await cli(['items', 'list'], at(server.url, { columns: 120, colour: true }))).out,
    ).toStartWith('\u001b[1mID')
    expect((await cli(['items', 'list'], at(server.url, { columns: 120 }))).out).toStartWith('ID')
  })
})

test('a table of items shows the beginning of the hash of each text as its mark', () => {
  const rows = items
    .slice(0, 1)
    .map((item) => ({ ...item, content_hash: `89abcdef${'0'.repeat(56)}` }))
  const columns = columnsFor(rows)
  expect([headOf(columns), tableLines(rows, columns)[0]]).toEqual([
    expect.stringContaining('MARK'),
    expect.stringMatching(/\b89abcdef\b/),
  ])
  expect(tableLines(rows, columns)[0]).not.toContain('89abcdef0')
})

test('a number that the network does not count is a dash, and is told in words by a record', () => {
  const rows = [{ at: '2027-01-01T09:00:00.000Z', impressions: null, likes: 3, clicks: null }]
  const columns = columnsFor(rows)
  expect([headOf(columns), tableLines(rows, columns)[0]!.split(/ {2,}/)]).toEqual([
    expect.stringContaining('IMPRESSIONS'),
    ['2027-01-01T09:00:00Z', '–', '3', '–'],
  ])
  const metrics = { impressions: null, likes: 0, engagement_rate: null }
  expect(answerLines({ item: { id: 'item-1', metrics, change: { impressions: null } } })).toEqual([
    'id  item-1',
    'metrics:',
    '  impressions  – (not counted by this network)',
    '  likes        0',
    'change:',
  ])
})
