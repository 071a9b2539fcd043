/** What only HTTP can do wrong: statuses, redirects, sessions, streams that are taken up again, and secrets in headers. */
import { afterEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import type { McpServer } from '#port/mcp-client/client'
import { createMcpClient } from '#port/mcp-client/open'
import { errorOf, MIB, never, outcomeOf } from '#test/cases/mcp-server'
import { openCanary } from '#test/support/canary'
import { eventually } from '#test/support/eventually'
import { type HttpRequest, initialized, type Message, openHttpMcp, result, SESSION, text } from '#test/support/fake-mcp'
import { use } from '#test/support/use'
import { hosts, urls } from '../egress/forms.ts'

const fake = use(openHttpMcp)
const canary = use(openCanary)
const opened: McpServer[] = []

afterEach(async () => {
  fake.on = {}
  fake.intercept = () => false
  await Promise.all(opened.splice(0).map((server) => server.close()))
  fake.messages.length = 0
  fake.requests.length = 0
})

const clientOf = (allow: string[] = [], deadlineMs = 20_000) =>
  createMcpClient({
    egress: createEgress({
      rules: { allow: new Set([`127.0.0.1:${fake.port}`, ...allow]), own: new Set(['tendril.example.com:443']) },
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    }),
    ...{ programs: [], home: '/nowhere', log: createLog('silent'), version: '0', deadlineMs },
  })

const open = async (headers: Record<string, string> = {}, deadlineMs?: number): Promise<McpServer> => {
  const url = `http://127.0.0.1:${fake.port}/mcp?team=1`
  const server = await clientOf([], deadlineMs).open({ transport: 'streamable_http', url, headers }, { signal: never() })
  opened.push(server)
  return server
}

const call = (server: McpServer) => server.call('echo', { text: 'hi' }, { idempotencyKey: 'step', signal: never() })

const methodOf = ({ body }: HttpRequest): string => (body === '' ? '' : ((JSON.parse(body) as Message).method ?? ''))
const messageOf = ({ body }: HttpRequest): Message => JSON.parse(body)

/** Answers requests of this method with these bytes. */
const raw = (method: string, bytes: string | Buffer | ((request: HttpRequest) => string | Buffer)): void => {
  fake.intercept = (request, socket) => {
    if (methodOf(request) !== method) return false
    socket.end(typeof bytes === 'function' ? bytes(request) : bytes)
    return true
  }
}

const response = (status: string, body: string | Buffer = '', headers = ''): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)])

const json = (value: unknown): Buffer => response('200 OK', JSON.stringify(value), 'content-type: application/json\r\n')

describe('a whole answer', () => {
  test('is as good as a stream', async () => {
    raw('tools/call', (request) => json(text(messageOf(request), 'done')))
    expect((await call(await open())).text).toBe('done')
  })

  test.each([
    ['of another id', (request: HttpRequest) => json(text({ ...messageOf(request), id: 99 }, 'mine'))],
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
    raw('tools/call', (request) => json([{ jsonrpc: '2.0', method: 'notifications/x' }, text(messageOf(request), 'done')]))
    expect((await call(await open())).text).toBe('done')
    raw('tools/call', () => json(Array.from({ length: 20_000 }, () => ({ jsonrpc: '2.0', method: 'notifications/x' }))))
    expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
  })

  test('longer than a megabyte is not read to its end', async () => {
    raw('tools/call', (request) => json(text(messageOf(request), 'x'.repeat(8 * MIB))))
    expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
  })

  test('that is shorter than it says has broken off', async () => {
    raw('tools/call', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"jsonrpc"')
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
    raw('tools/call', response(status, '<b>secret words</b>', 'www-authenticate: Bearer resource_metadata="http://127.0.0.1:1/"\r\n'))
    const server = await open()
    const error = await errorOf(call(server))
    expect(`${error.failure}, ${error.outcome}`).toBe(outcome)
    expect(error.message).not.toContain('secret')
    expect(fake.requests.filter((request) => methodOf(request) === 'tools/call')).toHaveLength(1)
  })

  test.each(['401 Unauthorized', '403 Forbidden'])('%s is told honestly when the server is opened', async (status) => {
    raw('initialize', response(status, '', 'www-authenticate: Bearer error="insufficient_scope", scope="x"\r\n'))
    const { failure, message, outcome } = await errorOf(open())
    expect([failure, outcome]).toEqual(['unauthorized', 'not_done'])
    expect(message).toContain(`HTTP ${status.slice(0, 3)}`)
    expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /mcp?team=1'])
  })

  test('of the notice that the session is ready matters, too', async () => {
    raw('notifications/initialized', response('500 Internal Server Error'))
    expect(await outcomeOf(open())).toBe('status, not_done')
  })
})

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('%d is not followed, within the origin or beyond', async (status) => {
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
  })
})

describe('headers', () => {
  test('go with each request', async () => {
    const server = await open({ authorization: 'Bearer top-secret', 'x-team': 'a' })
    await server.list()
    await server.close()
    expect(fake.requests.map(({ method, headers }) => [method, headers.authorization, headers['x-team']])).toEqual([
      ...Array(3).fill(['POST', 'Bearer top-secret', 'a']),
      ['DELETE', 'Bearer top-secret', 'a'],
    ])
  })

  test('of the protocol cannot be replaced', async () => {
    const server = await open({ accept: 'x/y', 'content-type': 'x/y', 'mcp-session-id': 'stolen', 'mcp-protocol-version': '1' })
    await server.list()
    expect(fake.requests.at(-1)?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': SESSION,
      'mcp-protocol-version': '2025-11-25',
    })
  })

  test('are in no error', async () => {
    raw('tools/call', response('401 Unauthorized', 'top-secret'))
    const error = await errorOf(call(await open({ authorization: 'Bearer top-secret' })))
    expect(Bun.inspect(error)).not.toContain('top-secret')
  })
})

describe('a session', () => {
  test('is named in each request after the first, and ended', async () => {
    const server = await open()
    await server.list()
    await call(server)
    await server.close()
    expect(fake.requests.map(({ method, headers }) => [method, headers['mcp-session-id'], headers['mcp-protocol-version']])).toEqual([
      ['POST', undefined, undefined],
      ...Array(3).fill(['POST', SESSION, '2025-11-25']),
      ['DELETE', SESSION, '2025-11-25'],
    ])
  })

  test('that the server has lost is made anew to list its tools', async () => {
    const server = await open()
    let lost = 0
    fake.intercept = (request, socket) => {
      if (methodOf(request) !== 'tools/list' || lost++ > 0) return false
      socket.end(response('404 Not Found'))
      return true
    }
    expect((await server.list()).tools).toHaveLength(1)
    expect(fake.of('initialize')).toHaveLength(2)
  })

  test('that the server always loses is made anew once', async () => {
    const server = await open()
    raw('tools/list', response('404 Not Found'))
    expect(await outcomeOf(server.list())).toBe('session_lost, not_done')
    expect(fake.of('initialize')).toHaveLength(2)
  })

  test('that is lost with a call is made anew for the next one, and the lost call is not sent again', async () => {
    const server = await open()
    raw('tools/call', response('404 Not Found'))
    expect(await outcomeOf(call(server))).toBe('session_lost, not_done')
    fake.intercept = () => false
    expect((await call(server)).text).toBe('{"text":"hi"}')
    expect([fake.of('initialize').length, fake.of('tools/call').length]).toEqual([2, 1])
  })

  test('of a server that keeps none is not ended', async () => {
    raw('initialize', (request) => json(result(messageOf(request), initialized)))
    const server = await open()
    await server.close()
    expect(fake.requests.map(({ method }) => method)).toEqual(['POST', 'POST'])
  })
})

describe('a stream', () => {
  /** A stream of these events, which then breaks off. */
  const events = (lines: string) => `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n${lines}`
  const resumed = () => fake.requests.filter(({ method }) => method === 'GET')
  let asked: Message | undefined

  const cutAfterId = (resume: (socket: import('node:net').Socket) => void): void => {
    fake.intercept = (request, socket) => {
      if (request.method === 'GET') {
        resume(socket)
        return true
      }
      if (methodOf(request) !== 'tools/call') return false
      asked = messageOf(request)
      socket.end(events('retry: 1\nid: event-1\ndata:\n\n'))
      return true
    }
  }

  test('that nobody has asked for is not opened', async () => {
    await call(await open())
    expect(resumed()).toEqual([])
  })

  test('that breaks off after an event with an id is taken up there, without sending the call again', async () => {
    cutAfterId((socket) => socket.end(events(`id: event-2\ndata: ${JSON.stringify(text(asked!, 'late'))}\n\n`)))
    expect((await call(await open({ authorization: 'Bearer top-secret' }))).text).toBe('late')
    expect(resumed().map(({ headers }) => [headers['last-event-id'], headers.authorization])).toEqual([['event-1', 'Bearer top-secret']])
    expect(fake.requests.filter((request) => methodOf(request) === 'tools/call')).toHaveLength(1)
  })

  test('that always breaks off is taken up a few times', async () => {
    cutAfterId((socket) => socket.end(events('retry: 1\nid: event-2\ndata:\n\n')))
    expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
    expect(resumed().length).toBeLessThanOrEqual(10)
  })

  test('that cannot be taken up has broken off', async () => {
    cutAfterId((socket) => socket.end(response('405 Method Not Allowed')))
    expect(await outcomeOf(call(await open()))).toBe('closed, unknown')
  })

  test('that is redirected when it is taken up leads nowhere', async () => {
    const before = canary.hits()
    cutAfterId((socket) => socket.end(response('307 Moved', '', `location: http://127.0.0.1:${canary.port}/\r\n`)))
    expect(await outcomeOf(call(await open({ authorization: 'Bearer top-secret' }, 4_000)))).toMatch(/, unknown$/)
    expect(canary.hits()).toBe(before)
  })

  test('of comments alone is read no further than a megabyte', async () => {
    fake.on['tools/call'] = (_, wire) => {
      for (let n = 0; n < 40; n++) wire.raw(': keep alive\n'.repeat(4_000))
    }
    expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
  })

  test('of many empty events ends at a megabyte', async () => {
    fake.on['tools/call'] = (_, wire) => {
      for (let n = 0; n < 40; n++) wire.raw('id: 1\ndata:\n\n'.repeat(4_000))
    }
    expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
  })
})

describe('nothing is sent', () => {
  const unopened = async (url: string, allow: string[] = []): Promise<string> =>
    outcomeOf(clientOf(allow, 3_000).open({ transport: 'streamable_http', url, headers: {} }, { signal: never() }))

  test.each([
    'http://127.0.0.1:1/',
    'https://127.0.0.1/',
    'https://tendril.example.com/',
    'https://user:pass@example.com/',
    'file:///etc/passwd',
    'https://inside.example.com/',
    'not a url',
  ])('to %s', async (url) => {
    expect(await unopened(url)).toBe('refused, not_done')
  })

  test('to any form of an address inside', async () => {
    const before = canary.hits()
    const all = [...hosts.map((host) => `https://${host}:P/`), ...urls].map((url) => url.replace(/:P/g, `:${canary.port}`))
    const outcomes = await Promise.all(all.map(async (url) => [url, await unopened(url)]))
    expect(outcomes.filter(([, outcome]) => outcome !== 'refused, not_done')).toEqual([])
    expect([all.length > 60, canary.hits() - before]).toEqual([true, 0])
  })

  test('if nothing listens', async () => {
    expect(await unopened('http://127.0.0.1:1/', ['127.0.0.1:1'])).toBe('unreachable, not_done')
  })

  test('of a call, if the server has gone since', async () => {
    const gone = await openHttpMcp()
    const url = `http://127.0.0.1:${gone.port}/`
    const server = await clientOf([`127.0.0.1:${gone.port}`]).open({ transport: 'streamable_http', url, headers: {} }, { signal: never() })
    await gone[Symbol.asyncDispose]()
    expect(await outcomeOf(call(server))).toBe('unreachable, not_done')
    await server.close()
  })

  test('by a check of the address', () => {
    const check = (url: string) => () => clientOf().check({ transport: 'streamable_http', url, headers: {} })
    expect(check('https://mcp.example.com/')).not.toThrow()
    expect(check('http://mcp.example.com/')).toThrow('the URL must begin with https://')
    expect(fake.requests).toEqual([])
  })
})

test('a session that the server does not let go ends all the same', async () => {
  const server = await open()
  fake.intercept = ({ method }) => method === 'DELETE'
  const closing = server.close()
  await eventually(
    () => fake.requests.some(({ method }) => method === 'DELETE'),
    (is) => is,
  )
  for (const socket of fake.sockets) socket.destroy()
  expect(await closing).toBeUndefined()
})
