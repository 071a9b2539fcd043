/**
 * Sessions over HTTP: how each request names its own, what is done when the server loses it, and
 * the headers that carry secrets.
 */
import { describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { errorOf, outcomeOf } from '#test/support/mcp/desk'
import { initialized, result, SESSION } from '#test/support/mcp/fake-mcp'
import { json, messageOf, methodOf, response, useMcpOverHttp } from '#test/support/mcp/over-http'

const { call, fake, open, raw } = useMcpOverHttp()

describe('headers', () => {
  test('go with each request', async () => {
    const server = await open({ authorization: 'Bearer top-secret', 'x-team': 'a' })
    await server.list()
    await server.close()
    expect(
      fake.requests.map(({ method, headers }) => [
        method,
        headers.authorization,
        headers['x-team'],
      ]),
    ).toEqual([
      ...Array(3).fill(['POST', 'Bearer top-secret', 'a']),
      ['DELETE', 'Bearer top-secret', 'a'],
    ])
  })

  test('of the protocol cannot be replaced', async () => {
    const server = await open({
      accept: 'x/y',
      'content-type': 'x/y',
      'mcp-session-id': 'stolen',
      'mcp-protocol-version': '1',
    })
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
    expect(
      fake.requests.map(({ method, headers }) => [
        method,
        headers['mcp-session-id'],
        headers['mcp-protocol-version'],
      ]),
    ).toEqual([
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
