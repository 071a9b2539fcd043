/** What a session with a server must withstand, in one suite that runs over each transport. */
import { afterEach, describe, expect, test } from 'bun:test'
import { McpError, type McpServer } from '#port/mcp-client/client'
import { eventually } from '#test/support/eventually'
import { type FakeMcp, initialized, type Message, result, text, tool, type Wire } from '#test/support/fake-mcp'

export interface McpDesk {
  fake: FakeMcp
  open(options?: { deadlineMs?: number; signal?: AbortSignal }): Promise<McpServer>
}

export const MIB = 1_048_576
export const never = (): AbortSignal => new AbortController().signal

export const errorOf = async (running: Promise<unknown>): Promise<McpError> => {
  const cause = await running.then(
    (value) => value,
    (thrown) => thrown,
  )
  if (cause instanceof McpError) return cause
  throw new Error(`expected an McpError, not ${JSON.stringify(cause)} ${cause}`)
}

export const outcomeOf = async (running: Promise<unknown>): Promise<string> => {
  const { failure, outcome } = await errorOf(running)
  return `${failure}, ${outcome}`
}

/** Enough for an honest answer on a busy machine. */
const SHORT_MS = 1_500

const notice = (method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', method, params })
const asks = (id: string, method: string) => ({ jsonrpc: '2.0', id, method, params: {} })

let key = 0

export const mcpCases = (name: string, desk: McpDesk): void => {
  const open = async (options?: { deadlineMs?: number; signal?: AbortSignal }): Promise<McpServer> => {
    const server = await desk.open(options)
    opened.push(server)
    return server
  }
  const opened: McpServer[] = []
  afterEach(async () => {
    desk.fake.on = {}
    await Promise.all(opened.splice(0).map((server) => server.close()))
    desk.fake.messages.length = 0
  })
  const call = (server: McpServer, args: Record<string, unknown> = { text: 'hi' }, signal = never()) =>
    server.call('echo', args, { idempotencyKey: `step-${++key}`, signal })
  /** What a method is answered. */
  const on = (method: string, script: (message: Message, wire: Wire) => void) => {
    desk.fake.on[method] = script
  }
  const whole = (method: string, answer: (message: Message) => unknown) =>
    on(method, (message, wire) => {
      wire.say(answer(message))
      wire.done()
    })

  describe(`${name}: an honest server`, () => {
    test('says who it is', async () => {
      expect((await open()).info).toEqual({ name: 'fake', version: '1', protocol: '2025-11-25' })
      expect(desk.fake.of('initialize')[0]?.params).toMatchObject({ capabilities: {}, clientInfo: { name: 'tendril' } })
    })

    test('lists its tools', async () => {
      expect(await (await open()).list()).toEqual({ tools: [tool()], isCut: false })
    })

    test('lists them in pages', async () => {
      whole('tools/list', (message) => {
        const page = Number(message.params?.cursor ?? 0)
        return result(message, { tools: [tool({ name: `t${page}` })], ...(page < 2 ? { nextCursor: String(page + 1) } : {}) })
      })
      expect(await (await open()).list()).toMatchObject({ tools: [{ name: 't0' }, { name: 't1' }, { name: 't2' }], isCut: false })
    })

    test('may have no tools', async () => {
      whole('initialize', (message) => result(message, { ...initialized, capabilities: {} }))
      expect(await (await open()).list()).toEqual({ tools: [], isCut: false })
      expect(desk.fake.of('tools/list')).toEqual([])
    })

    test('is called with the arguments and the key, once', async () => {
      const args = { text: 'é\n\u2028"', deep: { list: [1, null] } }
      expect(await (await open()).call('echo', args, { idempotencyKey: 'step-a', signal: never() })).toEqual({
        text: JSON.stringify(args),
        isError: false,
      })
      const calls = desk.fake.of('tools/call')
      expect(calls.map(({ params }) => params)).toEqual([{ name: 'echo', arguments: args, _meta: { 'tendril/idempotency-key': 'step-a' } }])
    })

    test('may answer that the tool failed', async () => {
      whole('tools/call', (message) => result(message, { content: [{ type: 'text', text: 'no such note' }], isError: true }))
      expect(await call(await open())).toEqual({ text: 'no such note', isError: true })
    })

    test('may answer an error', async () => {
      whole('tools/call', ({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32602, message: `bad\u202e ${'x'.repeat(10_000)}` } }))
      const answer = await call(await open())
      expect(answer.isError).toBe(true)
      expect(answer.text).toStartWith('Error -32602: bad xxx')
      expect(answer.text.length).toBe(2_000)
    })

    test('may write the id as text', async () => {
      whole('tools/call', (message) => text({ ...message, id: String(message.id) }, 'done'))
      const server = await open()
      for (let n = 0; n < 2; n++) expect((await call(server)).text).toBe('done')
      expect(desk.fake.of('initialize')).toHaveLength(1)
    })

    test('may answer what is no text', async () => {
      whole('tools/call', (message) => result(message, { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(40_000) }] }))
      expect((await call(await open())).text).toBe('[image image/png of 30000 bytes, left out]')
    })

    test.each(['2024-11-05', '2025-03-26', '2025-06-18'])('may speak version %s', async (protocolVersion) => {
      whole('initialize', (message) => result(message, { ...initialized, protocolVersion }))
      const server = await open()
      expect([server.info.protocol, (await call(server)).text]).toEqual([protocolVersion, '{"text":"hi"}'])
    })

    test('may tell of its progress and log, also of what nobody knows', async () => {
      on('tools/call', (message, wire) => {
        for (let n = 0; n < 300; n++) {
          wire.say(notice('notifications/message', { level: 'info', data: n }))
          wire.say(notice('notifications/progress', { progressToken: 7, progress: n }))
          wire.say(notice('notifications/mine'))
        }
        wire.say(text(message, 'done'))
        wire.done()
      })
      expect((await call(await open())).text).toBe('done')
    })

    test('may be asked for many things, one after the other', async () => {
      const server = await open()
      for (let n = 0; n < 20; n++) expect((await call(server, { n })).text).toBe(`{"n":${n}}`)
      expect(desk.fake.of('initialize')).toHaveLength(1)
    })

    test('may change its tools during a call, which it answers all the same', async () => {
      on('tools/call', (message, wire) => {
        wire.say(notice('notifications/tools/list_changed'))
        wire.say(text(message, 'done'))
        wire.done()
      })
      const server = await open()
      expect([server.toolsChanged, (await call(server)).text, server.toolsChanged]).toEqual([false, 'done', true])
      expect(desk.fake.of('tools/list')).toEqual([])
    })

    test('may send an answer in pieces, with letters cut in two', async () => {
      on('tools/call', (message, wire) => {
        wire.say(notice('notifications/message', { level: 'info', data: 'x' }))
        const bytes = Buffer.from(
          `${desk.fake.sockets.size > 0 && name.includes('stdio') ? '' : 'data: '}${JSON.stringify(text(message, '日本語'))}\n\n`,
        )
        for (const byte of bytes) wire.raw(Buffer.from([byte]))
        wire.done()
      })
      expect((await call(await open())).text).toBe('日本語')
    })
  })

  describe(`${name}: a server that asks for something itself`, () => {
    test.each(['sampling/createMessage', 'elicitation/create', 'roots/list', 'tools/call', 'mine'])(
      '%s is told that there is no such method',
      async (method) => {
        on('tools/call', (message, wire) => {
          wire.say(asks('theirs', method))
          wire.say(text(message, 'done'))
          wire.done()
        })
        expect((await call(await open())).text).toBe('done')
        const replies = () => desk.fake.messages.filter(({ id, method: of }) => id === 'theirs' && of === undefined)
        await eventually(replies, ({ length }) => length === 1)
        expect(replies()).toMatchObject([{ error: { code: -32601 } }])
      },
    )

    test('a ping is answered', async () => {
      on('tools/call', (message, wire) => {
        wire.say(asks('theirs', 'ping'))
        wire.say(text(message, 'done'))
        wire.done()
      })
      expect((await call(await open())).text).toBe('done')
      const replies = () => desk.fake.messages.filter(({ id, method }) => id === 'theirs' && method === undefined)
      await eventually(replies, ({ length }) => length === 1)
      expect(replies()).toMatchObject([{ result: {} }])
    })

    test('too often is cut off, and not answered each time', async () => {
      on('tools/call', (_, wire) => {
        for (let n = 0; n < 500; n++) wire.say(asks(`theirs-${n}`, 'sampling/createMessage'))
      })
      expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
      expect(desk.fake.messages.filter(({ method }) => method === undefined).length).toBeLessThanOrEqual(16)
    })
  })

  describe(`${name}: a server that does not answer`, () => {
    test('when it is opened', async () => {
      on('initialize', () => {})
      expect(await outcomeOf(open({ deadlineMs: 300 }))).toBe('timeout, not_done')
    })

    test('what tools it has', async () => {
      on('tools/list', () => {})
      expect(await outcomeOf((await open({ deadlineMs: SHORT_MS })).list())).toBe('timeout, not_done')
    })

    test('a call', async () => {
      on('tools/call', () => {})
      expect(await outcomeOf(call(await open({ deadlineMs: SHORT_MS })))).toBe('timeout, unknown')
      expect(desk.fake.of('tools/call')).toHaveLength(1)
    })

    test('a call, but goes on about other things', async () => {
      let timer: Timer | undefined
      on('tools/call', (_, wire) => {
        timer = setInterval(() => wire.say(notice('notifications/progress', { progressToken: 1, progress: 1 })), 20)
      })
      expect(await outcomeOf(call(await open({ deadlineMs: SHORT_MS })))).toBe('timeout, unknown')
      clearInterval(timer)
    })

    test('before the caller stops the call', async () => {
      const stopped = new AbortController()
      on('tools/call', () => stopped.abort())
      expect(await outcomeOf(call(await open(), {}, stopped.signal))).toBe('stopped, unknown')
    })

    test('before the session is stopped', async () => {
      const stopped = new AbortController()
      on('tools/call', () => stopped.abort())
      const server = await open({ signal: stopped.signal })
      expect(await outcomeOf(call(server))).toBe('stopped, unknown')
      expect(await outcomeOf(call(server))).toBe('stopped, not_done')
      expect(desk.fake.of('tools/call')).toHaveLength(1)
    })

    test('is not even called once the caller has stopped', async () => {
      const server = await open()
      expect(await outcomeOf(call(server, {}, AbortSignal.abort()))).toBe('stopped, not_done')
      expect(await outcomeOf(open({ signal: AbortSignal.abort() }))).toBe('stopped, not_done')
      expect(desk.fake.of('tools/call')).toEqual([])
    })
  })

  describe(`${name}: a server that breaks off`, () => {
    test('when it is opened', async () => {
      on('initialize', (_, wire) => wire.cut())
      expect(await outcomeOf(open())).toBe('closed, not_done')
    })

    test('before it answers a call: the call is not sent again, and the next one is on a new session', async () => {
      on('tools/call', (_, wire) => wire.cut())
      const server = await open()
      expect(await outcomeOf(call(server))).toBe('closed, unknown')
      expect(desk.fake.of('tools/call')).toHaveLength(1)
      desk.fake.on = {}
      expect((await call(server)).text).toBe('{"text":"hi"}')
      expect(desk.fake.of('tools/call')).toHaveLength(2)
    })

    test('in the middle of an answer', async () => {
      on('tools/call', (message, wire) => {
        wire.raw(JSON.stringify(text(message, 'half')).slice(0, 40))
        wire.cut()
      })
      expect(await outcomeOf(call(await open()))).toBe('closed, unknown')
    })

    test('in the middle of its list', async () => {
      on('tools/list', (_, wire) => {
        wire.raw('{"jsonrpc"')
        wire.cut()
      })
      expect(await outcomeOf((await open()).list())).toBe('closed, not_done')
    })
  })

  describe(`${name}: a server that says too much`, () => {
    test('may say nearly a megabyte on one line', async () => {
      whole('tools/call', (message) => text(message, 'x'.repeat(MIB - 1_000)))
      expect((await call(await open())).text.length).toBe(100_000)
    })

    test('in one line', async () => {
      whole('tools/call', (message) => text(message, 'x'.repeat(MIB)))
      expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
    })

    test('without an end, and without a line', async () => {
      let written = 0
      on('tools/call', (_, wire) => {
        const more = setInterval(() => {
          if (written > 64 * MIB) return clearInterval(more)
          written += 65_536
          wire.raw('x'.repeat(65_536))
        }, 1)
      })
      expect(await outcomeOf(call(await open()))).toBe('too_large, unknown')
      const after = written
      await eventually(
        () => desk.fake.sockets.size,
        (size) => size === 0,
      )
      expect(after).toBeLessThan(32 * MIB)
      written = 64 * MIB + 1
    })

    test('in many messages', async () => {
      on('tools/call', (_, wire) => {
        for (let n = 0; n < 1_500; n++) wire.say(notice('notifications/x'))
      })
      expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
    })

    test('in many messages that are none', async () => {
      on('tools/call', (_, wire) => {
        for (let n = 0; n < 1_500; n++) wire.say('{"x":1}')
      })
      expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
    })

    test('as more tools than are read', async () => {
      whole('tools/list', (message) => result(message, { tools: Array.from({ length: 500 }, (_, n) => tool({ name: `t${n}` })) }))
      const { tools, isCut } = await (await open()).list()
      expect([tools.length, isCut]).toEqual([200, true])
    })

    test('as pages without an end', async () => {
      whole('tools/list', (message) => result(message, { tools: [tool()], nextCursor: 'again' }))
      const { tools, isCut } = await (await open()).list()
      expect([tools.length, isCut, desk.fake.of('tools/list').length]).toEqual([20, true, 20])
    })

    test('as pages that are too long together', async () => {
      whole('tools/list', (message) => result(message, { tools: [tool({ description: 'x'.repeat(400_000) })], nextCursor: 'more' }))
      expect(await outcomeOf((await open()).list())).toBe('too_large, not_done')
      expect(desk.fake.of('tools/list').length).toBe(3)
    })

    test('between two calls, each of which has the whole bound', async () => {
      whole('tools/call', (message) => text(message, 'x'.repeat(MIB / 2)))
      const server = await open()
      for (let n = 0; n < 4; n++) expect((await call(server)).text.length).toBe(100_000)
    })
  })

  describe(`${name}: a server that lies`, () => {
    const failed = async (make: (message: Message) => unknown) => {
      whole('tools/call', make)
      return outcomeOf(call(await open({ deadlineMs: SHORT_MS })))
    }

    test.each([
      ['another id', (message: Message) => text({ ...message, id: 4_711 }, 'mine')],
      ['no id', (message: Message) => ({ ...text(message, 'mine'), id: undefined })],
      ['null', () => 'null'],
      ['a list', (message: Message) => [[text(message, 'mine')]]],
      ['no result', ({ id }: Message) => ({ jsonrpc: '2.0', id })],
      ['a result that is a text', (message: Message) => result(message, 'mine')],
      ['an error that is a text', ({ id }: Message) => ({ jsonrpc: '2.0', id, error: 'no' })],
      ['another version', (message: Message) => ({ ...text(message, 'mine'), jsonrpc: '1.0' })],
    ])('by %s gives an unknown outcome', async (_, make) => {
      expect(await failed(make)).toMatch(/^(timeout|closed), unknown$/)
    })

    test.each([
      ['nothing', {}],
      ['content that is no list', { content: 'text' }],
      ['what is too deep', JSON.parse(`{"content":[],"structuredContent":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)],
    ])('by a result of %s gives an unknown outcome', async (_, value) => {
      expect(await failed((message) => result(message, value))).toBe('broken, unknown')
    })

    test('by half a megabyte of brackets gives an unknown outcome', async () => {
      const deep = '['.repeat(250_000) + ']'.repeat(250_000)
      expect(
        await failed(({ id }) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":${deep}}}`),
      ).toMatch(/, unknown$/)
    })

    test('by answering twice, and what it was not asked, confuses no other call', async () => {
      on('tools/call', (message, wire) => {
        for (let next = 1; next < 5; next++) wire.say(text({ ...message, id: Number(message.id) + next }, 'stolen'))
        wire.say(text(message, `true ${message.id}`))
        wire.say(text(message, 'false'))
        wire.done()
      })
      const server = await open()
      for (let n = 0; n < 3; n++) expect((await call(server)).text).toMatch(/^true \d+$/)
    })

    test('by lines that are none is listened to further', async () => {
      on('tools/call', (message, wire) => {
        for (const line of ['Starting …', '', '{"half":', '﻿']) wire.say(line)
        wire.say(text(message, 'done'))
        wire.done()
      })
      expect((await call(await open())).text).toBe('done')
    })

    test.each([
      ['a version that nobody speaks', { ...initialized, protocolVersion: '1999-01-01' }, 'unsupported, not_done'],
      ['a version that is none', { ...initialized, protocolVersion: 7 }, 'broken, not_done'],
      ['nothing', {}, 'broken, not_done'],
    ])('by %s is not opened', async (_, value, outcome) => {
      whole('initialize', (message) => result(message, value))
      expect(await outcomeOf(open())).toBe(outcome)
    })

    test('by an error instead of a version is not opened', async () => {
      whole('initialize', ({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'secret words' } }))
      const error = await errorOf(open())
      expect([error.failure, error.message]).toEqual(['server_error', 'the server answered with the error -32000'])
    })

    test.each([[{}], [{ tools: 'all' }], [{ tools: null }]])('by the list %j has none', async (value) => {
      whole('tools/list', (message) => result(message, value))
      expect(await outcomeOf((await open()).list())).toBe('broken, not_done')
    })

    test('by tools that are none hides no other', async () => {
      whole('tools/list', (message) => result(message, { tools: [null, 7, { name: 1 }, tool({ inputSchema: 'x' }), tool()] }))
      expect((await (await open()).list()).tools).toHaveLength(5)
    })

    test('by names of its own that all objects have harms nothing', async () => {
      on('tools/call', ({ id }, wire) => {
        wire.say(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"__proto__":{"isError":true},"content":[{"type":"text","text":"x","__proto__":{}}]}}`,
        )
        wire.done()
      })
      expect(await call(await open())).toEqual({ text: 'x', isError: false })
      expect(({} as { isError?: boolean }).isError).toBeUndefined()
    })

    test('by a name with characters that nobody sees is shown without them', async () => {
      whole('initialize', (message) =>
        result(message, { ...initialized, serverInfo: { name: `evil\u202e${'x'.repeat(500)}`, version: '1\n2' } }),
      )
      const { info } = await open()
      expect([info.name.length, info.name.includes('\u202e')]).toEqual([80, false])
    })
  })

  test(`${name}: a session that is closed twice is closed`, async () => {
    const server = await open()
    await server.close()
    await server.close()
    await eventually(
      () => desk.fake.sockets.size,
      (size) => size === 0,
    )
    expect(desk.fake.sockets.size).toBe(0)
  })
}
