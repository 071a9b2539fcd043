/** Servers that break off. */
import { describe, expect, test } from 'bun:test'
import { type McpTrial, outcomeOf } from '#test/support/mcp/desk'
import { text } from '#test/support/mcp/fake-mcp'

export const brokenOffCases = ({ call, fake, name, on, open }: McpTrial): void => {
  describe(`${name}: a server that breaks off`, () => {
    test('when it is opened', async () => {
      on('initialize', (_, wire) => wire.cut())
      expect(await outcomeOf(open())).toBe('closed, not_done')
    })

    test('before it answers a call: the call is not sent again, and the next one is on a new session', async () => {
      on('tools/call', (_, wire) => wire.cut())
      const server = await open()
      expect(await outcomeOf(call(server))).toBe('closed, unknown')
      expect(fake.of('tools/call')).toHaveLength(1)
      fake.on = {}
      expect((await call(server)).text).toBe('{"text":"hi"}')
      expect(fake.of('tools/call')).toHaveLength(2)
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
}
