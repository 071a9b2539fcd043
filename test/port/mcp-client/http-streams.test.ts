/** Streams of events over HTTP: where they are taken up again, and how far they are read. */
import { describe, expect, test } from 'bun:test'
import { openCanary } from '#test/support/http/canary'
import { outcomeOf } from '#test/support/mcp/desk'
import { type Message, text } from '#test/support/mcp/fake-mcp'
import { messageOf, methodOf, response, useMcpOverHttp } from '#test/support/mcp/over-http'
import { use } from '#test/support/use'

const { call, fake, open } = useMcpOverHttp()
const canary = use(openCanary)

describe('a stream', () => {
  /** A stream of these events, which then breaks off. */
  const events = (lines: string) =>
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n${lines}`
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
    cutAfterId((socket) =>
      socket.end(events(`id: event-2\ndata: ${JSON.stringify(text(asked!, 'late'))}\n\n`)),
    )
    expect((await call(await open({ authorization: 'Bearer top-secret' }))).text).toBe('late')
    expect(
      resumed().map(({ headers }) => [headers['last-event-id'], headers.authorization]),
    ).toEqual([['event-1', 'Bearer top-secret']])
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
    cutAfterId((socket) =>
      socket.end(response('307 Moved', '', `location: http://127.0.0.1:${canary.port}/\r\n`)),
    )
    expect(
      await outcomeOf(call(await open({ authorization: 'Bearer top-secret' }, 4_000))),
    ).toMatch(/, unknown$/)
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
