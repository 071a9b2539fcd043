/** What all HTTP answers have in common: request ids, the form of errors, headers. */
import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { errorTable } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { LETTERS_PATH } from '#port/nodes'
import type { Send } from '#test/support/app'
import { eventually, testApp } from '#test/support/app'
import { type Held, hold } from '#test/support/http/held'
import { sendRaw } from '#test/support/http/raw-http'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const MIB = 1_048_576
const SIGN_IN = '/api/v1/app/session'
const JSON_TYPE = { 'content-type': 'application/json' }

const answer = (held: Held) => eventually(held.reply, (text) => text.includes('\r\n\r\n'))

const keyed = (key: string) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` })
const batch = (key: string, length: number) => ({
  path: '/api/v1/growth/batches',
  headers: keyed(key),
  length,
  body: '{',
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** One request for each way in which an answer arises. */
const answers: [string, number, string, string, Send][] = [
  ['a result', 200, 'GET', 'overview', {}],
  ['a creation', 201, 'POST', 'batches', { body: { count: 1 } }],
  ['a public document', 200, 'GET', '/health', { key: null }],
  ['bad input', 400, 'POST', 'batches', { body: { count: 'x' } }],
  ['a body that is not JSON', 400, 'POST', 'batches', { body: '{' }],
  ['no key', 401, 'GET', 'overview', { key: null }],
  ['a wrong key', 401, 'GET', 'overview', { key: newApiKey() }],
  ['an unknown record', 404, 'GET', `batches/${Bun.randomUUIDv7()}`, {}],
  // A library that the server may load one day accepts only ids of known versions, in the place of
  // our check.
  [
    'an unknown record of no known version',
    404,
    'GET',
    'batches/11111111-1111-1111-1111-111111111111',
    {},
  ],
  ['an unknown path', 404, 'GET', '/api/v2', {}],
  ['another method', 405, 'DELETE', 'batches', {}],
  [
    'another type',
    415,
    'POST',
    'batches',
    { body: 'a', headers: { 'content-type': 'text/plain' } },
  ],
]

describe.each(answers)('%s', (_, status, method, path, send) => {
  test("carries the caller's request id", async () => {
    const requestId = 'caller-7/a:b'
    const reply = await app.send(method, path, {
      ...send,
      headers: { ...send.headers, 'x-request-id': requestId },
    })
    expect(reply.status).toBe(status)
    expect(reply.headers.get('x-request-id')).toBe(requestId)
    if (status >= 400) expect(reply.body.error?.request_id).toBe(requestId)
  })

  test('carries a new request id each time when the caller sends none', async () => {
    const ids = [await app.send(method, path, send), await app.send(method, path, send)].map(
      ({ headers, body }) => {
        const id = headers.get('x-request-id')
        if (status >= 400) expect(body.error?.request_id).toBe(id!)
        expect(id).toMatch(UUID)
        return id
      },
    )
    expect(ids[0]).not.toBe(ids[1]!)
  })

  test.each(['with space', 'x'.repeat(129), 'caf\u00e9', '\tx\t\tx'])(
    'replaces an unusable request id: %j',
    async (requestId) => {
      const reply = await app.send(method, path, {
        ...send,
        headers: { ...send.headers, 'x-request-id': requestId },
      })
      expect(reply.headers.get('x-request-id')).toMatch(UUID)
    },
  )

  test('is JSON that is not cached, and errors have one form', async () => {
    const reply = await app.send(method, path, send)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    if (status < 400) return
    expect(Object.keys(reply.body)).toEqual(['error'])
    const { code, message, details, request_id, ...rest } = reply.body.error!
    expect(rest).toEqual({})
    expect(errorTable[code as keyof typeof errorTable].status).toBe(status as never)
    expect([typeof message, typeof request_id]).toEqual(['string', 'string'])
    for (const detail of details ?? []) expect(Object.keys(detail)).toEqual(['path', 'message'])
  })
})

test('a request id can have 128 characters', async () => {
  const requestId = 'x'.repeat(128)
  expect(
    (await app.send('GET', '/health', { headers: { 'x-request-id': requestId } })).headers.get(
      'x-request-id',
    ),
  ).toBe(requestId)
})

test('the audit row of a command has its request id', async () => {
  await app.send('POST', 'automation/resume-all', { headers: { 'x-request-id': 'audited' } })
  const rows = await app.owner`select operation, surface from audit where request_id = 'audited'`
  expect([...rows]).toEqual([{ operation: 'growth.automation.resumeAll', surface: 'rest' }])
})

test('an internal error does not reveal its cause', async () => {
  await app.owner`alter table growth_channel rename to moved`
  try {
    const reply = await app.send('GET', 'overview')
    expect(reply.status).toBe(500)
    expect(reply.body.error).toEqual({
      code: 'internal',
      message: 'internal error',
      request_id: reply.headers.get('x-request-id')!,
    })
  } finally {
    await app.owner`alter table moved rename to growth_channel`
  }
})

describe('raw requests', () => {
  const get = (path: string, headers: string) =>
    sendRaw(app.url, `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`)

  test.each(['a', 'a/b', '::'])(
    'a Host of fewer than four characters (%s) is refused',
    async (host) => {
      for (const path of ['/health', '/api/v1/growth/overview']) {
        const reply = await get(path, `Host: ${host}`)
        expect(reply).toStartWith('HTTP/1.1 400 ')
        expect(reply).toContain(
          '"code":"invalid_input","message":"the Host header is not valid","request_id":"',
        )
      }
    },
  )

  test.each(['localhost', 'a.example:8080', '[::1]:7070', 'ab/c', 'a/health?', 'x@localhost'])(
    'a Host of %s reaches no other path',
    async (host) => {
      expect(await get('/health', `Host: ${host}`)).toContain('"status":"ok"')
      expect(await get('/api/v1/growth/overview', `Host: ${host}`)).toContain(
        '"code":"unauthenticated"',
      )
    },
  )

  test('a body far too large is refused in our form before it is sent', async () => {
    const headers = `Host: localhost\r\nAuthorization: Bearer ${app.key}\r\nContent-Type: application/json\r\nContent-Length: 100000000000`
    const reply = await sendRaw(
      app.url,
      `POST /api/v1/growth/batches HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n{`,
    )
    expect(reply).toStartWith('HTTP/1.1 413 ')
    expect(reply).toContain('"code":"payload_too_large"')
  })
})

test('a Content-Length repeated with the same value is accepted', async () => {
  const headers =
    'Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 2\r\nConnection: close'
  const reply = await sendRaw(app.url, `POST /api/v1/app/session HTTP/1.1\r\n${headers}\r\n\r\n{}`)
  expect(reply).toStartWith('HTTP/1.1 400 ')
  expect(reply).toContain('email is required')
})

test('a client that disconnects before its body is complete causes one debug line and no error', async () => {
  // Of its own: on the other server, connections that earlier tests gave up may still be ending.
  const own: { level: number; msg: string }[] = []
  await using app = await testApp({
    log: createLog('debug', { write: (line) => void own.push(JSON.parse(line)) }),
  })
  const form = {
    path: '/api/v1/app/device/code',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    length: 100,
    body: 'a',
  }
  const page = { ...form, path: '/sign-in', headers: { ...form.headers, origin: app.url } }
  const requests = [
    batch(app.key, 100),
    { ...batch(app.key, 100), path: '/api/v1/mcp' },
    { ...batch('', 100), path: SIGN_IN },
    form,
    page,
  ]
  for (const request of requests) {
    own.length = 0
    const held = await hold(app.url, request)
    await app.send('GET', 'overview')
    held.abort()
    const count = () =>
      own.filter(({ msg }) => msg === 'a client disconnected before its request was complete')
        .length
    expect([request.path, await eventually(count, Boolean)]).toEqual([request.path, 1])
    await app.send('GET', 'overview')
    expect(own.filter(({ level }) => level >= 40)).toEqual([])
  }
})

test('a refused body closes its connection only if it is too large to read, or of unknown length', async () => {
  const request = (length: number | undefined, headers: Record<string, string> = {}) => ({
    path: LETTERS_PATH,
    headers: { ...JSON_TYPE, ...headers },
    length,
    body: '{',
  })
  for (const one of [
    request(2 * MIB + 1),
    request(undefined, { 'transfer-encoding': 'chunked' }),
  ]) {
    using held = await hold(app.url, one)
    expect(await answer(held)).toStartWith('HTTP/1.1 404')
    expect(await eventually(held.closed, Boolean)).toBe(true)
  }
  using readable = await hold(app.url, request(2 * MIB))
  expect(await answer(readable)).toStartWith('HTTP/1.1 404')
  readable.send(Buffer.alloc(2 * MIB - 1, 'x'))
  readable.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(await eventually(readable.reply, (text) => text.includes('"uptime_seconds"'))).toContain(
    '"uptime_seconds"',
  )
})

test('the body of a GET is discarded, and disturbs neither its answer nor the next request', async () => {
  const body = 'x'.repeat(50_000)
  const request = {
    method: 'GET',
    path: '/api/v1/growth/overview',
    headers: keyed(app.key),
    length: body.length,
    body,
  }
  using held = await hold(app.url, request)
  expect(await answer(held)).toStartWith('HTTP/1.1 200')
  held.send(`GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  expect(await eventually(held.reply, (text) => text.includes('"uptime_seconds"'))).toContain(
    '"uptime_seconds"',
  )
})
