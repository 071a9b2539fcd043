/** Requests without a valid credential, limited by address. */
import { expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { manualClock } from '#test/support/actors/manual-clock'
import { useApp } from '#test/support/use'

const BURST = 1_000

const clock = manualClock()
const app = useApp({
  env: { RATE_LIMITS: 'on', TRUSTED_PROXIES: '127.0.0.1' },
  overrides: { rateClock: clock },
})

interface Call {
  method?: string
  key?: string
  body?: unknown
}

const call = (path: string, from: string, { method = 'GET', key, body }: Call = {}) =>
  app.send(method, path, {
    key: key ?? null,
    headers: { 'x-forwarded-for': from },
    ...(body === undefined ? {} : { body }),
  })

/** Counts the statuses of so many requests, 50 at a time. */
const statuses = async (
  count: number,
  one: () => Promise<{ status: number }>,
): Promise<Map<number, number>> => {
  const seen = new Map<number, number>()
  for (let left = count; left > 0; left -= 50)
    for (const { status } of await Promise.all(Array.from({ length: Math.min(50, left) }, one)))
      seen.set(status, (seen.get(status) ?? 0) + 1)
  return seen
}

test('an address without a credential gets a burst of 1,000, then 100 a second, and is told when to retry', async () => {
  const from = '203.0.113.1'
  expect(await statuses(BURST + 5, () => call('/api/v1/capabilities', from))).toEqual(
    new Map([
      [200, BURST],
      [429, 5],
    ]),
  )
  const refused = await call('/api/v1/openapi.json', from)
  expect([refused.status, refused.body.error?.message, refused.headers.get('retry-after')]).toEqual(
    [429, 'rate_limited:address', '1'],
  )
  await clock.advance(1_000)
  expect(await statuses(120, () => call('/api/v1/capabilities', from))).toEqual(
    new Map([
      [200, 100],
      [429, 20],
    ]),
  )
  expect((await call('/api/v1/capabilities', '203.0.113.2')).status).toBe(200)
})

/** The address of all that follows, which has used up its burst. */
const exhausted = async (): Promise<string> => {
  const from = '203.0.113.3'
  const counts = () => statuses(50, () => call('/api/v1/capabilities', from, { method: 'HEAD' }))
  while (!(await counts()).has(429));
  return from
}

test('health answers whatever an address has requested, and a valid key is not anonymous', async () => {
  const from = await exhausted()
  expect((await call('/api/v1/capabilities', from)).status).toBe(429)
  expect(await statuses(20, () => call('/health', from))).toEqual(new Map([[200, 20]]))
  expect((await call('/api/v1/growth/overview', from, { key: app.key })).status).toBe(200)
})

test.each([
  [
    'a well-formed key that does not exist',
    '/api/v1/growth/overview',
    () => ({ key: newApiKey() }),
    401,
  ],
  ['no credential', '/api/v1/growth/overview', () => ({}), 401],
  [
    'an unknown path, with a credential that is not checked',
    '/api/v1/nowhere',
    () => ({ key: 'x' }),
    404,
  ],
  ['a method that a path does not take', '/api/v1/capabilities', () => ({ method: 'PUT' }), 405],
  [
    'a public document, with a credential that is not checked',
    '/api/v1/openapi.json',
    () => ({ key: 'x' }),
    200,
  ],
  ['a page', '/sign-in', () => ({}), 200],
  ['an MCP request without a key', '/api/v1/mcp', () => ({ method: 'POST', body: {} }), 401],
  [
    'a letter that no process of the deployment signed',
    '/internal/letters',
    () => ({ method: 'POST', body: {} }),
    404,
  ],
  ['a public operation', '/api/v1/app/session', () => ({ method: 'POST', body: {} }), 400],
] as [string, string, () => Call, number][])(
  'counted by address: %s',
  async (_, path, how, usual) => {
    const from = await exhausted()
    // Time for one request.
    await clock.advance(10)
    expect((await call(path, from, how())).status).toBe(usual)
    const refused = await call(path, from, how())
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
  },
)
