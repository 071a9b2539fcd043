/** How many bytes of request bodies may be in transit, and whose. */
import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { eventually, testApp } from '#test/support/app'
import { type Held, hold, holdMany, statusOf } from '#test/support/http/held'
import { useApp } from '#test/support/use'

const SIGN_IN = '/api/v1/app/session'
const JSON_TYPE = { 'content-type': 'application/json' }
const BUSY = 'HTTP/1.1 503'

/** Room for the requests of a test, in the same proportions as in production. */
const small = {
  bytes: 20 * 4_096,
  anonymousBytes: 8 * 4_096,
  uncheckedBytes: 4 * 4_096,
  workspaceBytes: 6 * 4_096,
}

const answer = (held: Held) => eventually(held.reply, (text) => text.includes('\r\n\r\n'))
const answered = (all: Held[]): number => all.filter((held) => statusOf(held) !== undefined).length
const until = <T>(ask: () => T, value: T) => eventually(ask, (now) => Bun.deepEquals(now, value))

const narrow = useApp({ overrides: { intake: { ...small, roomWithinMs: 300 } } })

const keyed = (key: string) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` })
const batch = (key: string, length: number) => ({
  path: '/api/v1/growth/batches',
  headers: keyed(key),
  length,
  body: '{',
})

describe('bytes of bodies in transit', () => {
  test('are bounded for one workspace: more wait, then get 503, and other workspaces get through', async () => {
    const other = await narrow.newWorkspace()
    for (const key of [narrow.key, other.key]) await narrow.send('GET', 'overview', { key })
    const all = await holdMany(narrow.url, 20, () => batch(narrow.key, 4_096))
    // Six have room, six wait, and the rest are refused at once; those that wait are refused when
    // their time is over.
    expect(await until(() => answered(all), 14)).toBe(14)
    const refused = all.filter((held) => statusOf(held) !== undefined)
    expect(refused.every((held) => held.reply().startsWith(BUSY))).toBe(true)
    for (const held of refused)
      expect(held.reply()).toMatch(/retry-after: 1\r\n[\s\S]*"code":"unavailable"/i)
    const reply = await narrow.send('PUT', 'profile', { key: other.key, body: { goal: 'through' } })
    expect(reply.status).toBe(200)
    expect((await narrow.send('GET', 'overview')).status).toBe(200)
    for (const held of all) held[Symbol.dispose]()
    expect(
      (
        await eventually(
          () => narrow.send('PUT', 'profile', { body: { goal: 'mine' } }),
          ({ status }) => status === 200,
        )
      ).status,
    ).toBe(200)
  })

  test('go to waiting requests when others end', async () => {
    await using waiting = await testApp({
      overrides: { intake: { ...small, roomWithinMs: 30_000 } },
    })
    await waiting.send('GET', 'overview')
    const first = await holdMany(waiting.url, 6, () => batch(waiting.key, 4_096))
    const body = JSON.stringify({ goal: 'in the end' })
    const later = await hold(waiting.url, {
      method: 'PUT',
      path: '/api/v1/growth/profile',
      headers: keyed(waiting.key),
      length: body.length,
      body,
    })
    expect((await waiting.send('GET', 'overview')).status).toBe(200)
    expect(statusOf(later)).toBeUndefined()
    for (const held of first) held.abort()
    expect(await answer(later)).toStartWith('HTTP/1.1 200')
    later[Symbol.dispose]()
  })

  test('count for MCP too, and for chunked bodies of unknown length', async () => {
    await narrow.send('GET', 'overview')
    const headers = keyed(narrow.key)
    const chunked = {
      path: '/api/v1/growth/batches',
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      body: '1\r\n{\r\n',
    }
    for (const [request, most] of [
      [{ path: '/api/v1/mcp', headers, length: 4_096, body: '{' }, 6],
      [chunked, 1],
    ] as const) {
      const all = await holdMany(narrow.url, 12, () => request)
      expect(await until(() => answered(all), 12 - most)).toBe(12 - most)
      expect(all.filter((held) => held.reply().startsWith(BUSY))).toHaveLength(12 - most)
      for (const held of all) held.abort()
      const profile = () => narrow.send('PUT', 'profile', { body: { goal: 'mine' } })
      expect((await eventually(profile, ({ status }) => status === 200)).status).toBe(200)
    }
  })

  test('are bounded for callers whose key is being looked up, too, while the database does not answer', async () => {
    const { promise: done, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>()
    const lock = narrow.owner.begin(async (sql) => {
      await sql`lock table api_key in access exclusive mode`
      isLocked()
      await done
    })
    await locked
    const all = await holdMany(narrow.url, 12, () => batch(newApiKey(), 4_096))
    // Two have room at this address, and two wait.
    expect(await until(() => answered(all) >= 8, true)).toBe(true)
    expect(all.filter((held) => held.reply().startsWith(BUSY)).length).toBeGreaterThanOrEqual(8)
    release()
    await lock
    expect(await until(() => answered(all), 12)).toBe(12)
    expect(all.filter((held) => held.reply().startsWith('HTTP/1.1 401')).length).toBeGreaterThan(0)
    for (const held of all) held[Symbol.dispose]()
  })

  test('of strangers are bounded apart, so callers with a key are not held up', async () => {
    const stranger = (n: number) => ({
      path: SIGN_IN,
      headers: JSON_TYPE,
      length: 4_096,
      body: '{',
      from: `127.0.0.${10 + (n % 5)}`,
    })
    const all = await holdMany(narrow.url, 20, stranger)
    expect(await until(() => answered(all), 12)).toBe(12)
    expect(all.filter((held) => held.reply().startsWith(BUSY))).toHaveLength(12)
    expect((await narrow.send('PUT', 'profile', { body: { goal: 'mine' } })).status).toBe(200)
    for (const held of all) held[Symbol.dispose]()
  })
})

test('bodies that strangers start and do not send give way to those of others without a credential', async () => {
  const intake = { anonymousBytes: 4 * 16_384, givesWayAfterMs: 20 }
  await using small = await testApp({
    env: { TRUSTED_PROXIES: '127.0.0.1' },
    overrides: { intake },
  })
  const from = (address: string) => ({ ...JSON_TYPE, 'x-forwarded-for': address })
  const all: Held[] = []
  try {
    for (const last of [1, 2, 3, 4])
      all.push(
        await hold(small.url, {
          path: SIGN_IN,
          headers: from(`198.51.100.${last}`),
          length: 16_384,
          body: '{',
        }),
      )
    const reply = await small.send('POST', SIGN_IN, {
      key: null,
      headers: from('192.0.2.77'),
      body: {},
    })
    expect([reply.status, reply.body.error.message]).toEqual([400, 'email is required'])
    expect(
      await eventually(
        () => all.map(statusOf).filter(Boolean),
        (statuses) => statuses.length > 0,
      ),
    ).toContain(408)
  } finally {
    for (const held of all) held[Symbol.dispose]()
  }
})

test('slow bodies from a few addresses leave room for another address to sign in', async () => {
  const intake = { anonymousBytes: 16 * 16_384, givesWayAfterMs: 20 }
  await using small = await testApp({
    env: { TRUSTED_PROXIES: '127.0.0.1' },
    overrides: { intake },
  })
  const from = (address: string) => ({ ...JSON_TYPE, 'x-forwarded-for': address })
  // Four bodies of each address have room, and as many may wait: eight addresses take all of it.
  const all = await holdMany(small.url, 9 * 8, (n) => ({
    path: SIGN_IN,
    headers: from(`198.51.100.${n % 9}`),
    length: 16_384,
    body: '{',
  }))
  const reply = await small.send('POST', SIGN_IN, {
    key: null,
    headers: from('192.0.2.77'),
    body: {},
  })
  expect([reply.status, reply.body.error.message]).toEqual([400, 'email is required'])
  for (const held of all) held[Symbol.dispose]()
})
