/** The request rates of a workspace and its credentials, over every surface. */
import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { changePlan } from '#store/app/tenants'
import { manualClock } from '#test/support/actors/manual-clock'
import { eventually, testApp } from '#test/support/app'
import { setPlan } from '#test/support/database/writes'
import { connectMcp, opening } from '#test/support/mcp/mcp'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

/**
 * What an operator leaves of plan `team`: 100 requests at once and 10 a second, 17 commands at once
 * and one a second.
 */
const OVERRIDES = { requests: 10, commands: 1 }
const [REQUESTS, COMMANDS] = [100, 17]

const clock = manualClock()
const app = useApp({ env: { RATE_LIMITS: 'on' }, overrides: { rateClock: clock } })

const newDesk = async (overrides: Record<string, number> = OVERRIDES) => {
  const desk = await app.newWorkspace()
  await setPlan(app, desk.tenantId, { overrides })
  return desk
}

const read = (key: string) => app.send('GET', 'overview', { key })
const change = (key: string, body: unknown = { note: 'Open with a number', kind: 'worked' }) =>
  app.send('POST', 'learnings', { key, body })

const times = async <T>(count: number, one: () => Promise<T>): Promise<T[]> => {
  const all: T[] = []
  for (let left = count; left > 0; left -= 10)
    all.push(...(await Promise.all(Array.from({ length: Math.min(10, left) }, one))))
  return all
}

/** How many of `count` requests succeed. */
const succeeded = async (count: number, one: () => Promise<{ status: number }>): Promise<number> =>
  (await times(count, one)).filter(({ status }) => status < 400).length

test('a key that calls too fast is refused with rate_limited:requests and the time to wait', async () => {
  const { key } = await newDesk()
  expect(await succeeded(REQUESTS + 20, () => read(key))).toBe(REQUESTS)
  const refused = await read(key)
  expect([refused.status, refused.body.error.message, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited:requests',
    '1',
  ])
  expect([refused.headers.get('ratelimit-policy'), refused.headers.get('ratelimit')]).toEqual([
    '"requests";q=100;w=10',
    '"requests";r=0;t=10',
  ])
  await clock.advance(1_000)
  expect(await succeeded(20, () => read(key))).toBe(10)
})

test('answers state the rates of requests and, for commands, of commands, beside those already stated', async () => {
  const { key } = await newDesk()
  expect((await read(key)).headers.get('ratelimit')).toBe('"requests";r=99;t=1')
  const { headers } = await app.send('POST', 'batches', { key, body: { count: 1 } })
  expect(headers.get('ratelimit-policy')).toStartWith(
    '"requests";q=100;w=10, "commands";q=17;w=17, "create_batch";q=120;w=3600',
  )
  expect(headers.get('ratelimit')).toStartWith(
    '"requests";r=98;t=1, "commands";r=16;t=1, "create_batch";r=119',
  )
  const wrong = await change(key, { nothing: true })
  expect([wrong.status, wrong.headers.get('ratelimit')]).toEqual([
    400,
    '"requests";r=97;t=1, "commands";r=15;t=2',
  ])
})

test('commands have a rate of their own; reads, the kill switch and disconnecting go on', async () => {
  const { key } = await newDesk()
  expect(await succeeded(COMMANDS + 5, () => change(key))).toBe(COMMANDS)
  const refused = await change(key)
  expect([refused.status, refused.body.error.message, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited:commands',
    '1',
  ])
  expect((await read(key)).status).toBe(200)
  await succeeded(REQUESTS, () => read(key))
  expect((await read(key)).status).toBe(429)
  expect((await app.send('POST', 'automation/resume-all', { key })).status).toBe(429)
  for (let n = 0; n < 20; n++)
    expect((await app.send('POST', 'automation/pause-all', { key })).status).toBe(200)
  expect((await app.send('DELETE', 'connection', { key })).status).toBe(200)
})

test('a request that takes several letters counts each of them, and is refused as a whole', async () => {
  const { key } = await newDesk()
  const bulk = (count: number) => {
    const items = Array.from({ length: count }, () => ({ id: crypto.randomUUID() }))
    return app.send('POST', 'items/bulk', { key, body: { action: 'reopen', items } })
  }
  const stated = ({ status, headers }: { status: number; headers: Headers }) => [
    status,
    headers.get('ratelimit'),
  ]
  for (const [requests, commands] of [
    [99, 12],
    [98, 7],
    [97, 2],
  ])
    expect(stated(await bulk(100))).toEqual([
      200,
      `"requests";r=${requests};t=1, "commands";r=${commands};t=${17 - commands!}`,
    ])
  const refused = await bulk(100)
  expect(stated(refused)).toEqual([429, '"requests";r=96;t=1, "commands";r=1;t=16'])
  expect(refused.body.error.message).toBe('rate_limited:commands')
  expect((await bulk(20)).status).toBe(200)
  expect((await bulk(20)).status).toBe(429)
})

test('an owner can disconnect an account whatever the rates', async () => {
  const { tenantId, key } = await newDesk()
  const owner = await signedIn(app, tenantId)
  const { body } = await app.send('GET', 'connections', { key })
  await succeeded(REQUESTS, () => read(key))
  expect((await app.send('GET', '/api/v1/app/plan', { key: owner.key })).status).toBe(429)
  expect(
    (
      await app.send('DELETE', `/api/v1/app/connections/${body.connections[0].id}`, {
        key: owner.key,
      })
    ).status,
  ).toBe(200)
})

test('all credentials of a workspace share its rate, also for personal operations; other workspaces have their own', async () => {
  const { tenantId, key } = await newDesk()
  const other = await newDesk()
  const { api_key } = await app.newKey(['api:read'], tenantId)
  const person = await signedIn(app, tenantId)
  expect(await succeeded(REQUESTS - 1, () => read(key))).toBe(REQUESTS - 1)
  expect((await app.send('GET', '/api/v1/app/person', { key: person.key })).status).toBe(200)
  for (const one of [key, api_key, person.key])
    expect((await read(one)).body.error.message).toBe('rate_limited:requests')
  expect(
    (await app.send('GET', '/api/v1/app/person', { key: person.key })).body.error.message,
  ).toBe('rate_limited:requests')
  expect(
    (await app.send('GET', '/api/v1/app/audit/export', { key: person.key })).body.error.message,
  ).toBe('rate_limited:requests')
  expect((await read(other.key)).status).toBe(200)
})

test('an operator can give each credential less than its workspace has', async () => {
  const { tenantId, key } = await newDesk({ requests: 10, credential_requests: 2 })
  const { api_key } = await app.newKey(['api:read'], tenantId)
  expect(await succeeded(30, () => read(key))).toBe(20)
  const refused = await read(key)
  expect([refused.body.error.message, refused.headers.get('ratelimit-policy')]).toEqual([
    'rate_limited:requests',
    '"requests";q=20;w=10',
  ])
  expect(await succeeded(30, () => read(api_key))).toBe(20)
})

test('401 and missing_scope are checked before the rate, the body after it', async () => {
  const { tenantId, key } = await newDesk()
  const { api_key: readOnly } = await app.newKey(['api:read'], tenantId)
  await succeeded(REQUESTS, () => read(key))
  expect((await read(newApiKey())).status).toBe(401)
  const scope = await change(readOnly)
  expect([scope.status, scope.body.error.message]).toEqual([
    403,
    'API key missing scope: api:write',
  ])
  expect((await change(key, 'not JSON')).status).toBe(429)
})

test("an operator's change takes effect within two seconds, without a restart", async () => {
  const { tenantId, key } = await newDesk()
  await succeeded(REQUESTS, () => read(key))
  expect((await read(key)).status).toBe(429)
  await changePlan(app.workplace.db, tenantId, (before) => ({
    ...before,
    overrides: { ...OVERRIDES, requests: 1_000 },
  }))
  await clock.advance(2_000)
  const policy = await eventually(
    async () => (await read(key)).headers.get('ratelimit-policy'),
    (text) => text === '"requests";q=10000;w=10',
  )
  expect(policy).toBe('"requests";q=10000;w=10')
  await clock.advance(1_000)
  expect(await succeeded(500, () => read(key))).toBe(500)
})

test("an operator's change while no requests arrive applies to the next one", async () => {
  const { tenantId, key } = await newDesk()
  await read(key)
  await clock.advance(60_000)
  await changePlan(app.workplace.db, tenantId, (before) => ({
    ...before,
    overrides: { ...OVERRIDES, requests: 500 },
  }))
  const policy = await eventually(
    async () => {
      await clock.advance(0)
      return (await read(key)).headers.get('ratelimit-policy')
    },
    (text) => text === '"requests";q=5000;w=10',
  )
  expect(policy).toBe('"requests";q=5000;w=10')
})

describe('over MCP', () => {
  test('each message is a request, each call of a command a command, and the kill switch is neither', async () => {
    const { key } = await newDesk()
    await using mcp = await connectMcp(app.url, { key })
    const learn = () =>
      mcp.call('growth_add_learning', { note: 'Open with a number', kind: 'worked' })
    for (let n = 0; n < COMMANDS; n++) expect((await learn()).isError).toBeFalsy()
    const refused = await learn()
    expect([refused.isError, (refused.content as { text: string }[])[0]!.text]).toEqual([
      true,
      'rate_limited:commands\nTry again in 1 s.',
    ])
    await succeeded(REQUESTS, () => read(key))
    await expect(mcp.call('growth_overview')).rejects.toThrow('rate_limited:requests')
    expect((await mcp.call('growth_pause_automation')).isError).toBeFalsy()
  })

  test('many messages in one request count as many requests', async () => {
    const { key } = await newDesk()
    const send = (body: unknown, sessionId?: string) =>
      app.send('POST', '/api/v1/mcp', {
        key,
        body,
        headers: {
          accept: 'application/json, text/event-stream',
          ...(sessionId ? { 'mcp-session-id': sessionId } : {}),
        },
      })
    const sessionId = (await send(opening())).headers.get('mcp-session-id')!
    const left = async () => Number(/r=(\d+)/.exec((await read(key)).headers.get('ratelimit')!)![1])
    const before = await left()
    const pings = Array.from({ length: 40 }, (_, id) => ({
      jsonrpc: '2.0',
      id: 1_000 + id,
      method: 'ping',
    }))
    await send(pings, sessionId)
    expect(before - (await left())).toBe(41)
  })
})

test('RATE_LIMITS=off counts nothing and adds no headers', async () => {
  await using free = await testApp({ env: { RATE_LIMITS: 'off' } })
  await setPlan(free, free.tenantId, { overrides: { requests: 1 } })
  const answers = await times(60, () => free.send('GET', 'overview'))
  expect(answers.every(({ status, headers }) => status === 200 && !headers.has('ratelimit'))).toBe(
    true,
  )
})
