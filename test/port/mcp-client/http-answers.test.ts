/**
 * Whole answers over HTTP, statuses and redirects: the client sends no call again because of them.
 */
import { describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { openCanary } from '#test/support/http/canary'
import { errorOf, MIB, outcomeOf } from '#test/support/mcp/desk'
import { type HttpRequest, text } from '#test/support/mcp/fake-mcp'
import { json, messageOf, methodOf, response, useMcpOverHttp } from '#test/support/mcp/over-http'
import { use } from '#test/support/use'

const { call, fake, open, raw } = useMcpOverHttp()
const canary = use(openCanary)

describe('a whole answer', () => {
  test('is as good as a stream', async () => {
    raw('tools/call', (request) => json(text(messageOf(request), 'done')))
    expect((await call(await open())).text).toBe('done')
  })

  test.each([
    [
      'of another id',
      (request: HttpRequest) => json(text({ ...messageOf(request), id: 99 }, 'mine')),
    ],
    ['of nothing', () => json([])],
    ['that is accepted and no more', () => response('202 Accepted')],
    ['without content', () => response('204 No Content')],
    ['that is no JSON', () => response('200 OK', '{', 'content-type: application/json\r\n')],
    ['of HTML', () => response('200 OK', '<html>', 'content-type: text/html\r\n')],
    ['of no type', () => response('200 OK', '{}')],
    [
      'that is packed',
      (request: HttpRequest) =>
        response(
          '200 OK',
          gzipSync(JSON.stringify(text(messageOf(request), 'x'))),
          'content-type: application/json\r\ncontent-encoding: gzip\r\n',
        ),
    ],
  ])('%s is broken at once, and nothing is sent again', async (_, bytes) => {
    raw('tools/call', bytes)
    expect(await outcomeOf(call(await open()))).toBe('broken, unknown')
    expect(fake.requests.filter((request) => methodOf(request) === 'tools/call')).toHaveLength(1)
  })

  test('may be a list of few messages, and not of many', async () => {
    raw('tools/call', (request) =>
      json([{ jsonrpc: '2.0', method: 'notifications/x' }, text(messageOf(request), 'done')]),
    )
    expect((await call(await open())).text).toBe('done')
    raw('tools/call', () =>
      json(Array.from({ length: 20_000 }, () => ({ jsonrpc: '2.0', method: 'notifications/x' }))),
    )
    expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
  })

  test('longer than a megabyte is not read to its end', async () => {
    raw('tools/call', (request) => json(text(messageOf(request), 'x'.repeat(8 * MIB))))
    expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
  })

  test('that is shorter than it says has broken off', async () => {
    raw(
      'tools/call',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"jsonrpc"',
    )
    expect(await outcomeOf(call(await open()))).toBe('closed, unknown')
  })
})

describe('a status', () => {
  test.each([
    ['400 Bad Request', 'status, not_done'],
    ['401 Unauthorized', 'unauthorized, not_done'],
    ['403 Forbidden', 'unauthorized, not_done'],
    ['404 Not Found', 'session_lost, not_done'],
    ['405 Method Not Allowed', 'status, not_done'],
    ['408 Request Timeout', 'status, unknown'],
    ['409 Conflict', 'status, unknown'],
    ['429 Too Many Requests', 'status, not_done'],
    ['500 Internal Server Error', 'status, unknown'],
    ['502 Bad Gateway', 'status, unknown'],
    ['503 Service Unavailable', 'status, unknown'],
    ['504 Gateway Timeout', 'status, unknown'],
  ])('%s to a call is: %s; the call is not sent again', async (status, outcome) => {
    raw(
      'tools/call',
      response(
        status,
        '<b>secret words</b>',
        'www-authenticate: Bearer resource_metadata="http://127.0.0.1:1/"\r\n',
      ),
    )
    const server = await open()
    const error = await errorOf(call(server))
    expect(`${error.failure}, ${error.outcome}`).toBe(outcome)
    expect(error.message).not.toContain('secret')
    expect(fake.requests.filter((request) => methodOf(request) === 'tools/call')).toHaveLength(1)
  })

  test.each(['401 Unauthorized', '403 Forbidden'])(
    '%s is told honestly when the server is opened',
    async (status) => {
      raw(
        'initialize',
        response(status, '', 'www-authenticate: Bearer error="insufficient_scope", scope="x"\r\n'),
      )
      const { failure, message, outcome } = await errorOf(open())
      expect([failure, outcome]).toEqual(['unauthorized', 'not_done'])
      expect(message).toContain(`HTTP ${status.slice(0, 3)}`)
      expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'POST /mcp?team=1',
      ])
    },
  )

  test('of the notice that the session is ready matters, too', async () => {
    raw('notifications/initialized', response('500 Internal Server Error'))
    expect(await outcomeOf(open())).toBe('status, not_done')
  })
})

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])(
    '%d is not followed, within the origin or beyond',
    async (status) => {
      const before = canary.hits()
      const own = await open({ authorization: 'Bearer top-secret' })
      for (const location of [
        `http://127.0.0.1:${canary.port}/`,
        `http://127.0.0.1:${fake.port}/mcp?team=2`,
        '/other',
        'file:///etc/passwd',
        '',
      ]) {
        raw('tools/call', response(`${status} Moved`, '', `location: ${location}\r\n`))
        expect(await outcomeOf(call(own))).toBe('status, unknown')
      }
      expect(canary.hits()).toBe(before)
      expect(new Set(fake.requests.map(({ path }) => path))).toEqual(new Set(['/mcp?team=1']))
      expect(fake.requests.filter((request) => methodOf(request) === 'tools/call')).toHaveLength(5)
    },
  )
})
