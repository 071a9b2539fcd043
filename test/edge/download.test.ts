/** Downloads: records as lines, as fast as the client reads them, and how they end. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { nameOperations, op } from '#contract/op'
import { AppError } from '#kernel/errors'
import { eventually } from '#test/support/eventually'
import { jsonLines } from '#test/support/texts/lines'
import { files, http, type Line, line, lineOf, resource } from './file-server.ts'

let port = 0
beforeAll(() => {
  http.listen({ port: 0, hostname: '127.0.0.1' })
  port = http.server!.port!
})
afterAll(() => http.server!.stop(true))
beforeEach(() => {
  Object.assign(files, { begun: 0, ended: 0 })
})

const get = (search = '', init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/file${search}`, init)
const of = (...lines: unknown[]) =>
  async function* () {
    for (const one of lines) {
      if (one instanceof Error) throw one
      yield one
    }
  }

describe('a download', () => {
  test('is a file of JSON lines', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z')
    files.records = of({ ...lineOf('a\nb', 1), at }, lineOf('c', 2))
    const reply = await get()
    expect(reply.status).toBe(200)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="test-\d{4}-\d\d-\d\d\.ndjson"$/,
      ),
      'x-request-id': expect.any(String),
    })
    const text = await reply.text()
    expect(text).toEndWith('\n')
    expect(jsonLines(text)).toEqual([
      { text: 'a\nb', count: 1, at: at.toISOString(), more: {} },
      lineOf('c', 2),
    ])
  })

  test('of no records is an empty file', async () => {
    files.records = of()
    const reply = await get()
    expect([reply.status, await reply.text()]).toEqual([200, ''])
  })

  test('is complete and in order when it is long', async () => {
    const count = 20_000
    files.records = of(
      ...Array.from({ length: count }, (_, index) => lineOf('x'.repeat(index % 90), index)),
    )
    const found = jsonLines(await (await get()).text()).map((one) => one.count)
    expect(found).toEqual(Array.from({ length: count }, (_, index) => index))
    expect([files.begun, files.ended]).toEqual([1, 1])
  })

  test('answers HEAD with its headers, and reads nothing', async () => {
    files.records = of(lineOf('a'))
    const [full, head] = [await get(), await get('', { method: 'HEAD' })]
    await full.text()
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['content-type', 'content-disposition', 'cache-control'])
      expect(head.headers.get(name)).toBe(full.headers.get(name))
    expect(files.begun).toBe(1)
  })

  test('is refused to an API key, and with invalid input', async () => {
    files.records = of(lineOf('a'))
    expect((await get('', { headers: { 'x-key': '1' } })).status).toBe(403)
    for (const search of ['?format=xml', '?no_such=1']) expect((await get(search)).status).toBe(400)
    expect(files.begun).toBe(0)
  })
})

describe('a download that fails', () => {
  test('before its first record is refused like any request', async () => {
    files.records = of(
      new AppError('unavailable', 'the database is not available', { retryAfter: 1 }),
    )
    const reply = await get('', { headers: { 'x-request-id': 'abc' } })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await reply.json()).toMatchObject({ error: { code: 'unavailable', request_id: 'abc' } })
  })

  test.each([
    ['a refusal', new AppError('unauthenticated'), 'unauthenticated'],
    ['an internal error, whose text it withholds', new Error('secret'), 'internal'],
    ['a record that does not match its schema', { ...lineOf('b'), count: 'secret' }, 'internal'],
  ])('says so in its last line, for %s', async (_, broken, code) => {
    files.records = of(lineOf('a'), broken, lineOf('never'))
    const text = await (await get('', { headers: { 'x-request-id': 'abc' } })).text()
    expect(text).not.toContain('secret')
    expect(jsonLines(text)).toEqual([
      lineOf('a'),
      { error: { code, message: expect.any(String), request_id: 'abc' } },
    ])
    expect(files.ended).toBe(1)
  })

  test('says so in the last line of a CSV file too', async () => {
    files.records = of(lineOf('a'), new AppError('unauthenticated'))
    const lines = (await (await get('?format=csv')).text()).split('\r\n')
    expect(lines.slice(0, 2)).toEqual(['text,count,at,more', 'a,0,,{}'])
    expect(lines[2]).toStartWith('"{""error"":{""code"":""unauthenticated""')
  })
})

describe('as CSV', () => {
  const table = async (...lines: Line[]) => {
    files.records = of(...lines)
    const reply = await get('?format=csv')
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    return reply.text()
  }

  test('columns have the order of the schema, and cells are quoted where necessary', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z')
    expect(
      await table({ more: { a: 'b', c: [1] }, at, count: -1, text: 'say "hi", twice\r\nor once' }),
    ).toBe(
      'text,count,at,more\r\n"say ""hi"", twice\r\nor once",-1,2026-01-02T03:04:05.678Z,"{""a"":""b"",""c"":[1]}"\r\n',
    )
  })

  test('no text is a formula', async () => {
    for (const first of ['=', '+', '-', '@', '\t'])
      expect(await table(lineOf(`${first}cmd|x`))).toBe(
        `text,count,at,more\r\n'${first}cmd|x,0,,{}\r\n`,
      )
    expect(await table(lineOf('\rcmd'))).toBe(`text,count,at,more\r\n"'\rcmd",0,,{}\r\n`)
    expect(await table(lineOf('a=b'))).toBe('text,count,at,more\r\na=b,0,,{}\r\n')
  })

  test('a file without records has its header', async () => {
    expect(await table()).toBe('text,count,at,more\r\n')
  })
})

/** Waits for the condition, and fails if it does not become true. */
const until = async (ask: () => boolean | Promise<boolean>) =>
  expect(await eventually(ask, Boolean)).toBe(true)

/** A client that reads nothing until it is resumed. */
const lazyClient = (tenant: string) => {
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.write(`GET /file HTTP/1.1\r\nHost: localhost\r\nX-Tenant: ${tenant}\r\n\r\n`)
  return socket
}

describe('a client that does not read', () => {
  test('pauses the reading of records, and ends it by disconnecting', async () => {
    let made = 0
    files.records = async function* () {
      for (;;) yield lineOf('x'.repeat(10_000), made++)
    }
    const socket = lazyClient('lazy')
    let [before, still] = [-1, 0]
    await until(() => {
      still = made > 0 && made === before ? still + 1 : 0
      before = made
      return still === 20
    })
    expect(files.ended).toBe(0)
    socket.destroy()
    await until(() => files.ended === 1)
  })
})

test('a workspace can run three at once, and one more once one has ended', async () => {
  files.records = async function* () {
    for (let count = 0; ; count++) yield lineOf('x'.repeat(10_000), count)
  }
  const sockets = [1, 2, 3].map(() => lazyClient('busy'))
  await until(() => files.begun === 3)
  const refused = await get('', { headers: { 'x-tenant': 'busy' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect(await refused.json()).toMatchObject({
    error: { code: 'rate_limited', message: 'rate_limited:downloads' },
  })
  expect(files.begun).toBe(3)
  const other = new AbortController()
  expect((await get('', { headers: { 'x-tenant': 'other' }, signal: other.signal })).status).toBe(
    200,
  )
  other.abort()
  sockets[0]!.destroy()
  await until(async () => {
    const again = new AbortController()
    const { status } = await get('', { headers: { 'x-tenant': 'busy' }, signal: again.signal })
    again.abort()
    return status === 200
  })
  for (const socket of sockets) socket.destroy()
  await until(() => files.ended === files.begun)
})

test('CSV is offered only for records that are flat enough', () => {
  const nested = op.download(
    'GET /nested',
    'Take it.',
    { input: {}, line },
    { roles: [], file: 'nested' },
  )
  expect(Object.keys(nested.input.properties)).toEqual([])
  expect(nameOperations(resource)[0]).toMatchObject({
    id: 'test.file.get',
    kind: 'download',
    scope: 'session',
    method: 'GET',
  })
})
