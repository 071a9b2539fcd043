/** Servers that do not answer in time, and callers that stop waiting. */
import { describe, expect, test } from 'bun:test'
import { type McpTrial, notice, outcomeOf, SHORT_MS } from '#test/support/mcp/desk'

export const silentCases = ({ call, fake, name, on, open }: McpTrial): void => {
  describe(`${name}: a server that does not answer`, () => {
    test('when it is opened', async () => {
      on('initialize', () => {})
      expect(await outcomeOf(open({ deadlineMs: 300 }))).toBe('timeout, not_done')
    })

    test('what tools it has', async () => {
      on('tools/list', () => {})
      expect(await outcomeOf((await open({ deadlineMs: SHORT_MS })).list())).toBe(
        'timeout, not_done',
      )
    })

    test('a call', async () => {
      on('tools/call', () => {})
      expect(await outcomeOf(call(await open({ deadlineMs: SHORT_MS })))).toBe('timeout, unknown')
      expect(fake.of('tools/call')).toHaveLength(1)
    })

    test('a call, but goes on about other things', async () => {
      let timer: Timer | undefined
      on('tools/call', (_, wire) => {
        timer = setInterval(
          () => wire.say(notice('notifications/progress', { progressToken: 1, progress: 1 })),
          20,
        )
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
      expect(fake.of('tools/call')).toHaveLength(1)
    })

    test('is not even called once the caller has stopped', async () => {
      const server = await open()
      expect(await outcomeOf(call(server, {}, AbortSignal.abort()))).toBe('stopped, not_done')
      expect(await outcomeOf(open({ signal: AbortSignal.abort() }))).toBe('stopped, not_done')
      expect(fake.of('tools/call')).toEqual([])
    })
  })
}
