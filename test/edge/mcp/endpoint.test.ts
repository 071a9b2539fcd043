/** Who is admitted to the MCP endpoint, and how others are refused. */
import { describe, expect, test } from 'bun:test'
import { newApiKey } from '#kernel/api-key'
import { listing, opening, openSession, type Rpc, rpc } from '#test/support/mcp/mcp'
import { tokenOf } from '#test/support/session'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const send = (more: Partial<Rpc> = {}) => rpc(app.url, { key: app.key, body: opening(), ...more })

// biome-ignore lint/suspicious/noExplicitAny: the envelope of REST or of JSON-RPC
const errorOf = async (response: Response) => ((await response.json()) as any).error

describe('errors before the protocol have the envelope of REST', () => {
  test.each([null, 'nonsense', newApiKey()])(
    'a missing, malformed or unknown key is 401: %p',
    async (key) => {
      const response = await send({ key })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await errorOf(response)).toMatchObject({
        code: 'unauthenticated',
        request_id: expect.any(String),
      })
    },
  )

  test('a key without mcp:use is 403 on every method', async () => {
    const { api_key } = await app.newKey(['api:read', 'api:write'])
    for (const method of ['POST', 'GET', 'DELETE']) {
      const response = await send({
        key: api_key,
        method,
        body: method === 'POST' ? opening() : undefined,
      })
      expect(response.status).toBe(403)
      expect((await errorOf(response)).message).toBe('API key missing scope: mcp:use')
    }
  })

  test('a page of another origin is 403; a page of ours and a request without an origin are not', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost:1',
      'http://127.0.0.1.evil.example',
    ]) {
      const response = await send({ headers: { origin } })
      expect([response.status, (await errorOf(response)).code]).toEqual([403, 'forbidden'])
    }
    const { port } = new URL(app.url)
    for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
      expect((await send({ headers: { origin } })).status).toBe(200)
  })

  test('another method is 405, with the methods that are allowed', async () => {
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const response = await send({ method, body: undefined })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
    }
  })

  test('a body over 1 MiB is 413', async () => {
    const response = await send({ body: { ...opening(), padding: 'x'.repeat(1_048_576) } })
    expect([response.status, (await errorOf(response)).code]).toEqual([413, 'payload_too_large'])
  })

  test('an unknown toolset is 400, with the known ones', async () => {
    const response = await send({ query: '?toolsets=items,nonsense' })
    const { code, message } = await errorOf(response)
    expect([response.status, code]).toEqual([400, 'invalid_input'])
    expect(message).toContain('batches')
    expect((await send({ query: '?readonly=perhaps' })).status).toBe(400)
  })
})

describe('errors within the protocol are JSON-RPC errors', () => {
  const inSession = async (more: Partial<Rpc>) =>
    send({ sessionId: await openSession(app.url, app.key), body: listing, ...more })

  test.each<[string, number, number, Partial<Rpc>]>([
    ['a body that is not JSON', 400, -32_700, { body: '{' }],
    ['JSON that is not a message', 400, -32_600, { body: { a: 1 } }],
    ['an unknown version', 400, -32_000, { headers: { 'mcp-protocol-version': '1999-01-01' } }],
    ['an Accept without streams', 406, -32_000, { headers: { accept: 'application/json' } }],
    ['another media type', 415, -32_000, { headers: { 'content-type': 'text/plain' } }],
  ])('%s is %d', async (_, status, code, more) => {
    const response = await inSession(more)
    expect([response.status, (await errorOf(response)).code]).toEqual([status, code])
  })

  test('a request without a session is 400, and one of an unknown session 404', async () => {
    expect((await send({ body: listing })).status).toBe(400)
    for (const sessionId of ['nonsense', `${crypto.randomUUID()}.${'x'.repeat(32)}`]) {
      const response = await send({ body: listing, sessionId })
      expect([response.status, (await errorOf(response)).code]).toEqual([404, -32_001])
    }
  })

  test('a second initialize in a session is refused', async () => {
    const response = await inSession({ body: opening() })
    expect([response.status, (await errorOf(response)).code]).toEqual([400, -32_600])
  })
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
  'version %s is answered in kind',
  async (version) => {
    const text = await (await send({ body: opening(version) })).text()
    expect(text).toContain(`"protocolVersion":"${version}"`)
  },
)

test('a client of a future version gets the newest with sessions', async () => {
  expect(await (await send({ body: opening('2030-01-01') })).text()).toContain(
    '"protocolVersion":"2025-11-25"',
  )
})

test('answers carry the request id, and are not cached', async () => {
  const headers = { 'x-request-id': 'mine' }
  for (const response of [
    await send({ headers }),
    await send({ headers, body: '{' }),
    await send({ headers, sessionId: 'none', body: listing }),
  ]) {
    expect(response.headers.get('x-request-id')).toBe('mine')
    expect(response.headers.get('cache-control')).toMatch(/no-store|no-cache/)
  }
})

test('a signed-in person can use it with a token, but not with a cookie', async () => {
  const key = await tokenOf(app, app.tenantId, 'viewer')
  expect((await send({ key })).status).toBe(200)
  for (const method of ['POST', 'GET', 'DELETE']) {
    const headers = { cookie: `tendril=${key}`, origin: app.url }
    const response = await rpc(app.url, {
      key: null,
      method,
      headers,
      ...(method === 'POST' ? { body: opening() } : {}),
    })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  }
})
