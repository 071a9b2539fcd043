/** Servers that keep to the protocol, and use what it leaves open to them. */
import { describe, expect, test } from 'bun:test'
import { type McpTrial, never, notice } from '#test/support/mcp/desk'
import { initialized, result, text, tool } from '#test/support/mcp/fake-mcp'

export const honestCases = ({ call, fake, name, on, open, whole }: McpTrial): void => {
  describe(`${name}: an honest server`, () => {
    test('says who it is', async () => {
      expect((await open()).info).toEqual({ name: 'fake', version: '1', protocol: '2025-11-25' })
      expect(fake.of('initialize')[0]?.params).toMatchObject({
        capabilities: {},
        clientInfo: { name: 'tendril' },
      })
    })

    test('lists its tools', async () => {
      expect(await (await open()).list()).toEqual({ tools: [tool()], isCut: false })
    })

    test('lists them in pages', async () => {
      whole('tools/list', (message) => {
        const page = Number(message.params?.cursor ?? 0)
        return result(message, {
          tools: [tool({ name: `t${page}` })],
          ...(page < 2 ? { nextCursor: String(page + 1) } : {}),
        })
      })
      expect(await (await open()).list()).toMatchObject({
        tools: [{ name: 't0' }, { name: 't1' }, { name: 't2' }],
        isCut: false,
      })
    })

    test('may have no tools', async () => {
      whole('initialize', (message) => result(message, { ...initialized, capabilities: {} }))
      expect(await (await open()).list()).toEqual({ tools: [], isCut: false })
      expect(fake.of('tools/list')).toEqual([])
    })

    test('is called with the arguments and the key, once', async () => {
      const args = { text: 'é\n\u2028"', deep: { list: [1, null] } }
      expect(
        await (await open()).call('echo', args, { idempotencyKey: 'step-a', signal: never() }),
      ).toEqual({
        text: JSON.stringify(args),
        isError: false,
      })
      const calls = fake.of('tools/call')
      expect(calls.map(({ params }) => params)).toEqual([
        { name: 'echo', arguments: args, _meta: { 'tendril/idempotency-key': 'step-a' } },
      ])
    })

    test('may answer that the tool failed', async () => {
      whole('tools/call', (message) =>
        result(message, { content: [{ type: 'text', text: 'no such note' }], isError: true }),
      )
      expect(await call(await open())).toEqual({ text: 'no such note', isError: true })
    })

    test('may answer an error', async () => {
      whole('tools/call', ({ id }) => ({
        jsonrpc: '2.0',
        id,
        error: { code: -32602, message: `bad\u202e ${'x'.repeat(10_000)}` },
      }))
      const answer = await call(await open())
      expect(answer.isError).toBe(true)
      expect(answer.text).toStartWith('Error -32602: bad xxx')
      expect(answer.text.length).toBe(2_000)
    })

    test('may write the id as text', async () => {
      whole('tools/call', (message) => text({ ...message, id: String(message.id) }, 'done'))
      const server = await open()
      for (let n = 0; n < 2; n++) expect((await call(server)).text).toBe('done')
      expect(fake.of('initialize')).toHaveLength(1)
    })

    test('may answer what is no text', async () => {
      whole('tools/call', (message) =>
        result(message, {
          content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(40_000) }],
        }),
      )
      expect((await call(await open())).text).toBe('[image image/png of 30000 bytes, left out]')
    })

    test.each(['2024-11-05', '2025-03-26', '2025-06-18'])(
      'may speak version %s',
      async (protocolVersion) => {
        whole('initialize', (message) => result(message, { ...initialized, protocolVersion }))
        const server = await open()
        expect([server.info.protocol, (await call(server)).text]).toEqual([
          protocolVersion,
          '{"text":"hi"}',
        ])
      },
    )

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
      expect(fake.of('initialize')).toHaveLength(1)
    })

    test('may change its tools during a call, which it answers all the same', async () => {
      on('tools/call', (message, wire) => {
        wire.say(notice('notifications/tools/list_changed'))
        wire.say(text(message, 'done'))
        wire.done()
      })
      const server = await open()
      expect([server.toolsChanged, (await call(server)).text, server.toolsChanged]).toEqual([
        false,
        'done',
        true,
      ])
      expect(fake.of('tools/list')).toEqual([])
    })

    test('may send an answer in pieces, with letters cut in two', async () => {
      on('tools/call', (message, wire) => {
        wire.say(notice('notifications/message', { level: 'info', data: 'x' }))
        const bytes = Buffer.from(
          `${fake.sockets.size > 0 && name.includes('stdio') ? '' : 'data: '}${JSON.stringify(text(message, '日本語'))}\n\n`,
        )
        for (const byte of bytes) wire.raw(Buffer.from([byte]))
        wire.done()
      })
      expect((await call(await open())).text).toBe('日本語')
    })
  })
}
