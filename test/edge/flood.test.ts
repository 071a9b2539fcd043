/**
 * What callers who start requests and never finish them can cost, each test named after an attack
 * that once stopped a server.
 */

import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { soleKey } from '#kernel/secret-keys'
import { LETTERS_PATH, nodeSignature } from '#port/nodes'
import { eventually, testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { type Held, hold, holdMany, statusOf } from '#test/support/http/held'
import { useApp } from '#test/support/use'

const MIB = 1_048_576
const SIGN_IN = '/api/v1/app/session'
const JSON_TYPE = { 'content-type': 'application/json' }

const answer = (held: Held) => eventually(held.reply, (text) => text.includes('\r\n\r\n'))
const answered = (all: Held[]): number => all.filter((held) => statusOf(held) !== undefined).length

const app = useApp({ overrides: { intake: { unfinished: 8 } } })

const keyed = (key: string) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` })
const batch = (key: string, length: number) => ({
  path: '/api/v1/growth/batches',
  headers: keyed(key),
  length,
  body: '{',
})

describe('is refused before its body arrives:', () => {
  test('a letter that nobody signed, whatever length it claims', async () => {
    const forged = { 'x-tendril-time': String(Date.now()), 'x-tendril-signature': '00'.repeat(32) }
    for (const headers of [{}, forged])
      for (const length of [10, 4 * MIB - 1, 100 * MIB]) {
        using held = await hold(app.url, { path: LETTERS_PATH, headers, length, body: '{' })
        const text = await answer(held)
        expect([
          text.slice(0, 12),
          text.includes('"code":"not_found","message":"no such path"'),
        ]).toEqual(['HTTP/1.1 404', true])
      }
  })

  test('a letter with changed headers, or a body of another length', async () => {
    const body = JSON.stringify({ x: 1 })
    const signed = nodeSignature(soleKey(TEST_SECRET), Date.now).sign(body, {
      operation: 'growth.profile.update',
      letter: 'k',
      workspace: app.tenantId,
    })
    const { 'content-length': length, ...headers } = signed
    for (const name of Object.keys(headers)) {
      using held = await hold(app.url, {
        path: LETTERS_PATH,
        headers: { ...headers, [name]: '1' },
        length: Number(length),
        body: '{',
      })
      expect([name, (await answer(held)).slice(0, 12)]).toEqual([name, 'HTTP/1.1 404'])
    }
    using longer = await hold(app.url, {
      path: LETTERS_PATH,
      headers,
      length: Number(length) + 1,
      body: '{',
    })
    expect(await answer(longer)).toStartWith('HTTP/1.1 404')
  })

  test('a body over 16 KiB from a caller without a credential', async () => {
    for (const path of [
      SIGN_IN,
      `${SIGN_IN}/refresh`,
      '/api/v1/app/invitations/accept',
      '/api/v1/app/device/code',
      '/sign-in',
    ]) {
      const form = path.includes('device') || path === '/sign-in'
      const headers = form
        ? { 'content-type': 'application/x-www-form-urlencoded', origin: app.url }
        : JSON_TYPE
      using held = await hold(app.url, { path, headers, length: 16_385, body: '{' })
      const text = await answer(held)
      expect([
        path,
        text.slice(0, 12),
        text.includes('larger than 16 KiB') || path === '/sign-in',
      ]).toEqual([path, 'HTTP/1.1 413', true])
    }
  })

  test('a request without a valid credential, or without permission', async () => {
    const reader = await app.newKey(['api:read'])
    for (const [key, status] of [
      [newApiKey(), 401],
      ['nonsense', 401],
      [reader.api_key, 403],
    ] as const) {
      using held = await hold(app.url, batch(key, MIB - 1))
      expect(await eventually(() => statusOf(held), Boolean)).toBe(status)
    }
    for (const key of [newApiKey(), app.key.replace('ak_', 'ak-')]) {
      using held = await hold(app.url, {
        path: '/api/v1/mcp',
        headers: keyed(key),
        length: MIB - 1,
        body: '{',
      })
      expect(await eventually(() => statusOf(held), Boolean)).toBe(401)
    }
  })
})

describe('unfinished requests of an address', () => {
  const stranger = (from: string) => ({
    path: SIGN_IN,
    headers: JSON_TYPE,
    length: 100,
    body: '{',
    from,
  })

  test('are refused above the limit before their body arrives, and finished ones make room', async () => {
    const all = await holdMany(app.url, 8, () => stranger('127.0.0.2'))
    using last = await hold(app.url, stranger('127.0.0.2'))
    const text = await answer(last)
    expect(text).toStartWith('HTTP/1.1 429')
    expect(text).toContain('rate_limited:unfinished_requests')
    expect(text.toLowerCase()).toContain('\r\nretry-after: 1\r\n')
    for (const form of ['/sign-in', '/api/v1/app/device/code']) {
      using one = await hold(app.url, { ...stranger('127.0.0.2'), path: form })
      expect([form, await eventually(() => statusOf(one), Boolean)]).toEqual([form, 429])
    }
    expect(answered(all)).toBe(0)
    for (const held of all) held.abort()
    const again = async () => {
      using one = await hold(app.url, { ...stranger('127.0.0.2'), length: 2, body: '{}' })
      return (await answer(one)).slice(0, 12)
    }
    expect(await eventually(again, (status) => status === 'HTTP/1.1 400')).toBe('HTTP/1.1 400')
  })

  test('affect neither other addresses nor valid credentials', async () => {
    const all = await holdMany(app.url, 8, () => stranger('127.0.0.3'))
    using refused = await hold(app.url, stranger('127.0.0.3'))
    expect(await answer(refused)).toStartWith('HTTP/1.1 429')
    using other = await hold(app.url, { ...stranger('127.0.0.4'), length: 2, body: '{}' })
    expect(await answer(other)).toStartWith('HTTP/1.1 400')
    const { api_key } = await app.newKey(['api:read', 'api:write'])
    const body = '{"goal":"mine"}'
    for (let n = 0; n < 2; n++) {
      using mine = await hold(app.url, {
        method: 'PUT',
        path: '/api/v1/growth/profile',
        headers: keyed(api_key),
        length: body.length,
        body,
        from: '127.0.0.3',
      })
      expect(await answer(mine)).toStartWith('HTTP/1.1 200')
    }
    for (const held of all) held[Symbol.dispose]()
  })

  test('are counted by the address that trusted proxies report', async () => {
    await using proxied = await testApp({
      env: { TRUSTED_PROXIES: '127.0.0.1' },
      overrides: { intake: { unfinished: 2 } },
    })
    const by = (address: string) => ({
      path: SIGN_IN,
      headers: { ...JSON_TYPE, 'x-forwarded-for': `9.9.9.9, ${address}` },
      length: 100,
      body: '{',
    })
    const all = await holdMany(proxied.url, 4, (n) => by(n % 2 ? '192.0.2.1' : '192.0.2.2'))
    using refused = await hold(proxied.url, by('192.0.2.1'))
    expect(await answer(refused)).toStartWith('HTTP/1.1 429')
    using other = await hold(proxied.url, { ...by('192.0.2.3'), length: 2, body: '{}' })
    expect(await answer(other)).toStartWith('HTTP/1.1 400')
    expect(answered(all)).toBe(0)
    for (const held of all) held[Symbol.dispose]()
  })
})

test('a body that does not arrive in time is 408, and its connection is closed', async () => {
  await using impatient = await testApp({ overrides: { intake: { bodyWithinMs: 100 } } })
  const form = {
    path: '/api/v1/app/device/code',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    length: 100,
    body: 'a',
  }
  for (const request of [
    batch(impatient.key, 100),
    { ...batch(impatient.key, 100), path: '/api/v1/mcp' },
    { ...batch('', 9), path: SIGN_IN },
    form,
  ]) {
    using held = await hold(impatient.url, request)
    expect([request.path, (await answer(held)).slice(0, 12)]).toEqual([
      request.path,
      'HTTP/1.1 408',
    ])
    expect(await eventually(held.closed, Boolean)).toBe(true)
  }
  using late = await hold(impatient.url, batch(impatient.key, 100))
  expect(await answer(late)).toContain(
    '"code":"request_timeout","message":"the body did not arrive within 60 seconds"',
  )
  expect((await impatient.send('PUT', 'profile', { body: { goal: 'in time' } })).status).toBe(200)
})
