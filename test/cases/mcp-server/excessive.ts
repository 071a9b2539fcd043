/** Servers that say too much. */
import { describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { type McpTrial, MIB, notice, outcomeOf } from '#test/support/mcp/desk'
import { result, text, tool } from '#test/support/mcp/fake-mcp'

export const excessiveCases = ({ call, fake, name, on, open, whole }: McpTrial): void => {
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
        () => fake.sockets.size,
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
      whole('tools/list', (message) =>
        result(message, { tools: Array.from({ length: 500 }, (_, n) => tool({ name: `t${n}` })) }),
      )
      const { tools, isCut } = await (await open()).list()
      expect([tools.length, isCut]).toEqual([200, true])
    })

    test('as pages without an end', async () => {
      whole('tools/list', (message) => result(message, { tools: [tool()], nextCursor: 'again' }))
      const { tools, isCut } = await (await open()).list()
      expect([tools.length, isCut, fake.of('tools/list').length]).toEqual([20, true, 20])
    })

    test('as pages that are too long together', async () => {
      whole('tools/list', (message) =>
        result(message, {
          tools: [tool({ description: 'x'.repeat(400_000) })],
          nextCursor: 'more',
        }),
      )
      expect(await outcomeOf((await open()).list())).toBe('too_large, not_done')
      expect(fake.of('tools/list').length).toBe(3)
    })

    test('between two calls, each of which has the whole bound', async () => {
      whole('tools/call', (message) => text(message, 'x'.repeat(MIB / 2)))
      const server = await open()
      for (let n = 0; n < 4; n++) expect((await call(server)).text.length).toBe(100_000)
    })
  })
}
