/** Who is let in at the MCP endpoint, and what is said to the others. */
import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { listing, opening, openSession, type Rpc, rpc } from '#test/support/mcp'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const ask = (more: Partial<Rpc> = {}) => rpc(app.url, { key: app.key, body: opening(), ...more })

// biome-ignore lint/suspicious/noExplicitAny: either envelope
const errorOf = async (response: Response) => ((await response.json()) as any).error

describe('who is refused before the protocol gets the envelope of REST', () => {
  test.each([null, 'nonsense', newApiKey()])('a missing, malformed or unknown key is 401: %p', async (key) => {
    const response = await ask({ key })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await errorOf(response)).toMatchObject({ code: 'unauthenticated', request_id: expect.any(String) })
  })

  test('a key without mcp:use is 403 on every method', async () => {
    const { api_key } = await app.newKey(['api:read', 'api:write'])
    for (const method of ['POST', 'GET', 'DELETE']) {
      const response = await ask({ key: api_key, method, body: method === 'POST' ? opening() : undefined })
      expect(response.status).toBe(403)
      expect((await errorOf(response)).message).toBe('API key missing scope: mcp:use')
    }
  })

  test('a page of another origin is 403, one of ours and none at all are not', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1', 'http://127.0.0.1.evil.example']) {
      const response = await ask({ headers: { origin } })
      expect([response.status, (await errorOf(response)).code]).toEqual([403, 'forbidden'])
    }
    const { port } = new URL(app.url)
    for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
      expect((await ask({ headers: { origin } })).status).toBe(200)
  })

  test('another method is 405 and says which there are', async () => {
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const response = await ask({ method, body: undefined })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
    }
  })

  test('a body over 1 MiB is 413', async () => {
    const response = await ask({ body: { ...opening(), padding: 'x'.repeat(1_048_576) } })
    expect([response.status, (await errorOf(response)).code]).toEqual([413, 'payload_too_large'])
  })

  test('an unknown toolset is 400 and names those there are', async () => {
    const response = await ask({ query: '?toolsets=items,nonsense' })
    const { code, message } = await errorOf(response)
    expect([response.status, code]).toEqual([400, 'invalid_input'])
    expect(message).toContain('batches')
    expect((await ask({ query: '?readonly=perhaps' })).status).toBe(400)
  })
})

describe('from there on errors are of the protocol', () => {
  const inSession = async (more: Partial<Rpc>) => ask({ sessionId: await openSession(app.url, app.key), body: listing, ...more })

  test.each<[string, number, number, Partial<Rpc>]>([
    ['no JSON', 400, -32_700, { body: '{' }],
    ['JSON that is no message', 400, -32_600, { body: { a: 1 } }],
    ['a version that there never was', 400, -32_000, { headers: { 'mcp-protocol-version': '1999-01-01' } }],
    ['an Accept without streams', 406, -32_000, { headers: { accept: 'application/json' } }],
    ['another media type', 415, -32_000, { headers: { 'content-type': 'text/plain' } }],
  ])('%s is %d', async (_, status, code, more) => {
    const response = await inSession(more)
    expect([response.status, (await errorOf(response)).code]).toEqual([status, code])
  })

  test('a request outside of any session is 400, and one of an unknown session 404', async () => {
    expect((await ask({ body: listing })).status).toBe(400)
    for (const sessionId of ['nonsense', `${crypto.randomUUID()}.${'x'.repeat(32)}`]) {
      const response = await ask({ body: listing, sessionId })
      expect([response.status, (await errorOf(response)).code]).toEqual([404, -32_001])
    }
  })

  test('a second opening in a session is refused', async () => {
    const response = await inSession({ body: opening() })
    expect([response.status, (await errorOf(response)).code]).toEqual([400, -32_600])
  })
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('version %s is spoken with those who speak it', async (version) => {
  const text = await (await ask({ body: opening(version) })).text()
  expect(text).toContain(`"protocolVersion":"${version}"`)
})

test('whoever asks for a version that there is not yet gets the newest with sessions', async () => {
  expect(await (await ask({ body: opening('2030-01-01') })).text()).toContain('"protocolVersion":"2025-11-25"')
})

test('answers carry the id of their request and are kept by nobody', async () => {
  const headers = { 'x-request-id': 'mine' }
  for (const response of [
    await ask({ headers }),
    await ask({ headers, body: '{' }),
    await ask({ headers, sessionId: 'none', body: listing }),
  ]) {
    expect(response.headers.get('x-request-id')).toBe('mine')
    expect(response.headers.get('cache-control')).toMatch(/no-store|no-cache/)
  }
})

test('a person who is signed in may use it too, by a token and not by a cookie', async () => {
  const key = await tokenOf(app, app.tenantId, 'viewer')
  expect((await ask({ key })).status).toBe(200)
  for (const method of ['POST', 'GET', 'DELETE']) {
    const headers = { cookie: `tendril=${key}`, origin: app.url }
    const response = await rpc(app.url, { key: null, method, headers, ...(method === 'POST' ? { body: opening() } : {}) })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  }
})
