/** What is sent, and how often. */
import { describe, expect, test } from 'bun:test'
import { retryDelayMs } from '#cli/retry'
import { errorTable } from '#kernel/errors'
import { cli } from '#test/support/cli/host'
import { type Asked, refusal, type Scripted, scriptedServer } from '#test/support/cli/scripted'
import { approve, at, ID, KEY, MARK } from './approve.ts'

const ok: Scripted = { body: { item: { id: ID, status: 'approved' } } }

test('a command is sent as its operation expects, and identifies the program', async () => {
  await using server = scriptedServer([ok])
  const { code } = await approve(`${server.url}/`, '--edited-body', '-x\n漢')
  expect(code).toBe(0)
  const [asked] = server.asked
  expect(asked).toMatchObject({
    method: 'POST',
    path: `/api/v1/growth/items/${ID}/approve`,
    body: `{"edited_body":"-x\\n漢","expect_hash":"${MARK}"}`,
  })
  expect(Object.fromEntries(asked!.headers)).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^tendril-cli\/\d/),
    'x-tendril-surface': 'cli',
    'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

describe('a text that is approved', () => {
  const hash = `${MARK}${'0'.repeat(56)}`
  const read: Scripted = {
    body: {
      item: {
        id: ID,
        status: 'drafted',
        body: 'At the dock.\n\u001b[2JAll of it.',
        content_hash: hash,
      },
    },
  }
  const plainly = (url: string, ...more: string[]) =>
    cli(['items', 'approve', ID, ...more], at(url))
  const asked = ({ method, path, body }: Asked) => [method, path.split('/').at(-1), body]

  test('is read first, shown and named in the request', async () => {
    await using server = scriptedServer([read, ok])
    const { code, err } = await plainly(server.url)
    const warning =
      'this text has 1 character that nobody would see, shown as codes such as [U+200B]: programs and models read it.'
    expect([code, err]).toEqual([
      0,
      `text ${MARK}: At the dock. ⏎ [U+001B][2JAll of it.\ntendril: ${warning}\n`,
    ])
    expect(server.asked.map(asked)).toEqual([
      ['GET', ID, ''],
      ['POST', 'approve', JSON.stringify({ expect_hash: hash })],
    ])
  })

  test.each([
    [
      'for a reply, names its text',
      { body: 'At the dock.', content_hash: hash },
      JSON.stringify({ expect_hash: hash }),
    ],
    ['for a like, names none', { body: null, content_hash: null }, ''],
  ])('of an engagement: %s', async (_, text, body) => {
    await using server = scriptedServer([
      { body: { engagement: { id: ID, status: 'drafted', ...text } } },
      ok,
    ])
    await cli(['engagements', 'approve', ID], at(server.url))
    expect(server.asked.map(asked)).toEqual([
      ['GET', ID, ''],
      ['POST', 'approve', body],
    ])
  })

  test('is not shown to programs', async () => {
    await using server = scriptedServer([read, ok])
    const { code, err } = await plainly(server.url, '--json')
    expect([code, err, server.asked.length]).toEqual([0, '', 2])
  })

  test('that cannot be read is not approved', async () => {
    await using server = scriptedServer([refusal(404, 'not_found')])
    expect([(await plainly(server.url)).code, server.asked.length]).toEqual([
      errorTable.not_found.exit,
      1,
    ])
  })

  test.each([
    ['named by the caller', ['--expect-hash', MARK], { expect_hash: MARK }],
    [
      "under the caller's own key, which repeats one request",
      ['--idempotency-key', 'mine', '--edited-body', 'x'],
      { edited_body: 'x' },
    ],
  ])('is not read if it is %s', async (_, more, body) => {
    await using server = scriptedServer([ok])
    await plainly(server.url, ...more)
    expect(server.asked.map(asked)).toEqual([['POST', 'approve', JSON.stringify(body)]])
  })
})

test('a list without pages says that it is empty, too, but not to programs', async () => {
  for (const [flags, out, said] of [
    [[], '', 'no feedback\n'],
    [['--json'], '{"feedback":[]}\n', ''],
  ] as const) {
    await using server = scriptedServer([{ body: { feedback: [] } }])
    const {
      code,
      out: printed,
      err,
    } = await cli(['agent', 'feedback', 'list', ...flags], at(server.url))
    expect([code, printed, err]).toEqual([0, out, said])
  }
})

test('a query has its fields in the URL, below the path of the deployment, and no idempotency key', async () => {
  await using server = scriptedServer([{ body: { items: [], next_cursor: null } }])
  const { code, err } = await cli(
    ['items', 'list', '--status', 'drafted', '--limit', '3'],
    at(`${server.url}/below/here`),
  )
  expect([code, err]).toEqual([0, 'no items\n'])
  expect(server.asked[0]).toMatchObject({
    method: 'GET',
    path: '/below/here/api/v1/growth/items?status=drafted&limit=3',
    body: '',
  })
  expect(server.asked[0]!.headers.has('idempotency-key')).toBe(false)
})

describe('a retry', () => {
  const retried: [string, Scripted][] = [
    ['503', refusal(503, 'unavailable')],
    ['429', refusal(429, 'rate_limited', { message: 'rate_limited:mailbox' })],
    ['idempotency_in_flight', refusal(409, 'idempotency_in_flight')],
  ]
  test.each(retried)('follows %s, with the same key', async (_, first) => {
    await using server = scriptedServer([first, first, ok])
    const { code, pauses } = await approve(server.url)
    expect([code, pauses]).toEqual([0, [200, 400]])
    const keys = server.asked.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toEqual([keys[0]!, keys[0]!, keys[0]!])
  })

  test('uses the key that was given', async () => {
    await using server = scriptedServer([refusal(503, 'unavailable'), ok])
    await approve(server.url, '--idempotency-key', 'mine')
    expect(server.asked.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      'mine',
      'mine',
    ])
  })

  test('waits as long as the server says', async () => {
    await using server = scriptedServer([
      refusal(503, 'unavailable', { headers: { 'retry-after': '7' } }),
      ok,
    ])
    expect((await approve(server.url)).pauses).toEqual([7_000])
  })

  test('is the fifth attempt at most', async () => {
    await using server = scriptedServer([refusal(503, 'unavailable')])
    const { code, pauses } = await approve(server.url)
    expect([code, server.asked.length, pauses]).toEqual([
      errorTable.unavailable.exit,
      5,
      [200, 400, 800, 1_600],
    ])
  })

  test.each([
    ['stops at once if the first wait is too long', '61', 1],
    ['stops as soon as all waits together would be', '25', 3],
  ])('comes within a minute or not at all: it %s', async (_, seconds, tries) => {
    await using server = scriptedServer([
      refusal(429, 'rate_limited', { headers: { 'retry-after': seconds } }),
    ])
    const { code } = await approve(server.url)
    expect([code, server.asked.length]).toEqual([errorTable.rate_limited.exit, tries])
  })

  test.each([400, 401, 403, 404, 409, 422, 500, 502])('does not follow %i', async (status) => {
    await using server = scriptedServer([refusal(status, 'conflict')])
    await approve(server.url)
    expect(server.asked).toHaveLength(1)
  })

  test('follows a refused connection, and the error names the address', async () => {
    const server = scriptedServer([ok])
    await server[Symbol.asyncDispose]()
    const { code, err, pauses } = await approve(server.url)
    expect([code, pauses.length]).toEqual([errorTable.unavailable.exit, 4])
    expect(err).toContain(`no response from ${server.url}`)
  })
})

describe('a request without a key, which could take effect twice', () => {
  const signIn = (url: string) =>
    cli(['session', 'sign-in', '--email', 'a@example.com', '--password', '-'], {
      ...at(url),
      input: '@secret',
    })
  const session: Scripted = { status: 201, body: { session: { id: ID } } }

  test('is sent without a key, and without a credential if it needs none', async () => {
    await using server = scriptedServer([session])
    expect((await signIn(server.url)).code).toBe(0)
    const [{ headers, body }] = server.asked as [Asked]
    expect([
      headers.has('idempotency-key'),
      headers.has('authorization'),
      JSON.parse(body),
    ]).toEqual([false, false, { email: 'a@example.com', password: '@secret' }])
  })

  test('is not repeated if it may have taken effect', async () => {
    await using server = scriptedServer([refusal(503, 'unavailable'), session])
    expect([(await signIn(server.url)).code, server.asked.length]).toEqual([
      errorTable.unavailable.exit,
      1,
    ])
  })

  test('is repeated if it was refused before it ran', async () => {
    await using server = scriptedServer([refusal(429, 'rate_limited'), session])
    expect([(await signIn(server.url)).code, server.asked.length]).toEqual([0, 2])
  })
})

test('only one option can read standard input', async () => {
  const argv = ['items', 'approve', ID, '--api-key', '-', '--edited-body', '-']
  const { code, err } = await cli(argv, { input: 'ak_x' })
  expect([code, err]).toEqual([
    2,
    'tendril: invalid_input: only one option can read standard input, and --api-key does\n',
  ])
})

test('Retry-After is read in seconds and as a date', () => {
  const now = Date.parse('2027-01-01T00:00:00Z')
  const read = [
    '7',
    'Fri, 01 Jan 2027 00:00:09 GMT',
    'Thu, 31 Dec 2026 00:00:00 GMT',
    'soon',
    undefined,
  ].map((text) => retryDelayMs(text, now))
  expect(read).toEqual([7_000, 9_000, 0, undefined, undefined])
})
