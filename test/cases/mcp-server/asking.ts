/** Servers that ask for something themselves. */
import { describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { asks, type McpTrial, outcomeOf } from '#test/support/mcp/desk'
import { text } from '#test/support/mcp/fake-mcp'

export const askingCases = ({ call, fake, name, on, open }: McpTrial): void => {
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
        const replies = () =>
          fake.messages.filter(({ id, method: of }) => id === 'theirs' && of === undefined)
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
      const replies = () =>
        fake.messages.filter(({ id, method }) => id === 'theirs' && method === undefined)
      await eventually(replies, ({ length }) => length === 1)
      expect(replies()).toMatchObject([{ result: {} }])
    })

    test('too often is cut off, and not answered each time', async () => {
      on('tools/call', (_, wire) => {
        for (let n = 0; n < 500; n++) wire.say(asks(`theirs-${n}`, 'sampling/createMessage'))
      })
      expect(await outcomeOf(call(await open()))).toBe('flood, unknown')
      expect(fake.messages.filter(({ method }) => method === undefined).length).toBeLessThanOrEqual(
        16,
      )
    })
  })
}
