/** Servers that answer what is false or breaks the protocol. */
import { describe, expect, test } from 'bun:test'
import { errorOf, type McpTrial, outcomeOf, SHORT_MS } from '#test/support/mcp/desk'
import { initialized, type Message, result, text, tool } from '#test/support/mcp/fake-mcp'

export const lyingCases = ({ call, name, on, open, whole }: McpTrial): void => {
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
      [
        'what is too deep',
        JSON.parse(`{"content":[],"structuredContent":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      ],
    ])('by a result of %s gives an unknown outcome', async (_, value) => {
      expect(await failed((message) => result(message, value))).toBe('broken, unknown')
    })

    test('by half a megabyte of brackets gives an unknown outcome', async () => {
      const deep = '['.repeat(250_000) + ']'.repeat(250_000)
      expect(
        await failed(
          ({ id }) =>
            `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":${deep}}}`,
        ),
      ).toMatch(/, unknown$/)
    })

    test('by answering twice, and what it was not asked, confuses no other call', async () => {
      on('tools/call', (message, wire) => {
        for (let next = 1; next < 5; next++)
          wire.say(text({ ...message, id: Number(message.id) + next }, 'stolen'))
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
      [
        'a version that nobody speaks',
        { ...initialized, protocolVersion: '1999-01-01' },
        'unsupported, not_done',
      ],
      ['a version that is none', { ...initialized, protocolVersion: 7 }, 'broken, not_done'],
      ['nothing', {}, 'broken, not_done'],
    ])('by %s is not opened', async (_, value, outcome) => {
      whole('initialize', (message) => result(message, value))
      expect(await outcomeOf(open())).toBe(outcome)
    })

    test('by an error instead of a version is not opened', async () => {
      whole('initialize', ({ id }) => ({
        jsonrpc: '2.0',
        id,
        error: { code: -32000, message: 'secret words' },
      }))
      const error = await errorOf(open())
      expect([error.failure, error.message]).toEqual([
        'server_error',
        'the server answered with the error -32000',
      ])
    })

    test.each([[{}], [{ tools: 'all' }], [{ tools: null }]])(
      'by the list %j has none',
      async (value) => {
        whole('tools/list', (message) => result(message, value))
        expect(await outcomeOf((await open()).list())).toBe('broken, not_done')
      },
    )

    test('by tools that are none hides no other', async () => {
      whole('tools/list', (message) =>
        result(message, { tools: [null, 7, { name: 1 }, tool({ inputSchema: 'x' }), tool()] }),
      )
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
        result(message, {
          ...initialized,
          serverInfo: { name: `evil\u202e${'x'.repeat(500)}`, version: '1\n2' },
        }),
      )
      const { info } = await open()
      expect([info.name.length, info.name.includes('\u202e')]).toEqual([80, false])
    })
  })
}
