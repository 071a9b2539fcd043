/** Addresses that nothing is sent to, and servers that are not there. */
import { describe, expect, test } from 'bun:test'
import { openCanary } from '#test/support/http/canary'
import { never, outcomeOf } from '#test/support/mcp/desk'
import { openHttpMcp } from '#test/support/mcp/fake-mcp'
import { useMcpOverHttp } from '#test/support/mcp/over-http'
import { use } from '#test/support/use'
import { hosts, urls } from '../egress/forms.ts'

const { call, clientOf, fake } = useMcpOverHttp()
const canary = use(openCanary)

describe('nothing is sent', () => {
  const unopened = async (url: string, allow: string[] = []): Promise<string> =>
    outcomeOf(
      clientOf(allow, 3_000).open(
        { transport: 'streamable_http', url, headers: {} },
        { signal: never(), tenantId: 'w' },
      ),
    )

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
    const all = [...hosts.map((host) => `https://${host}:P/`), ...urls].map((url) =>
      url.replace(/:P/g, `:${canary.port}`),
    )
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
    const server = await clientOf([`127.0.0.1:${gone.port}`]).open(
      { transport: 'streamable_http', url, headers: {} },
      { signal: never(), tenantId: 'w' },
    )
    await gone[Symbol.asyncDispose]()
    expect(await outcomeOf(call(server))).toBe('unreachable, not_done')
    await server.close()
  })

  test('by a check of the address', () => {
    const check = (url: string) => () =>
      clientOf().check({ transport: 'streamable_http', url, headers: {} })
    expect(check('https://mcp.example.com/')).not.toThrow()
    expect(check('http://mcp.example.com/')).toThrow('the URL must begin with https://')
    expect(fake.requests).toEqual([])
  })
})
