/** The headers that protect browsers, on every kind of answer. */
import { describe, expect, test } from 'bun:test'
import type { TestApp } from '#test/support/app'
import { sendRaw } from '#test/support/http/raw-http'
import { tokenOf } from '#test/support/session'
import { useApp, useSharedApp } from '#test/support/use'

const plain = useSharedApp()
const secure = useApp(() => ({
  env: { PUBLIC_URL: 'https://tendril.example' },
  database: plain.options,
}))

interface Exchange {
  status: number
  path: string
  init?: RequestInit
  /** With a person's session or with a key. */
  as?: 'key' | 'session'
}

const post = (
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): RequestInit => ({
  method: 'POST',
  body,
  headers,
})
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'

const exchanges: Record<string, Exchange> = {
  'a result': { status: 200, path: '/api/v1/growth/overview', as: 'key' },
  'an answer to HEAD': { status: 200, path: '/health', init: { method: 'HEAD' } },
  health: { status: 200, path: '/health' },
  'a document': { status: 200, path: '/api/v1/openapi.json' },
  'a document that has not changed': {
    status: 304,
    path: '/api/v1/capabilities',
    init: { headers: { 'if-none-match': '*' } },
  },
  'an unknown path': { status: 404, path: '/nope' },
  'another method': { status: 405, path: '/health', init: post('') },
  'no credential': { status: 401, path: '/api/v1/growth/overview' },
  'bad input': { status: 400, path: '/api/v1/growth/batches', init: post('{'), as: 'key' },
  'too large a body': { status: 413, path: '/api/v1/app/session', init: post('x'.repeat(20_000)) },
  'a refused public operation': { status: 400, path: '/api/v1/app/session', init: post('{}') },
  'an unsigned letter': { status: 404, path: '/internal/letters', init: post('{}') },
  'a page': { status: 200, path: '/sign-in' },
  'a page that redirects': {
    status: 303,
    path: '/api/v1/app/session/continue?again=1',
    init: { redirect: 'manual' },
  },
  'a page that refuses': { status: 403, path: '/sign-in', init: post('email=a', FORM) },
  "OAuth's answer": {
    status: 200,
    path: '/api/v1/app/device/code',
    init: post('client_id=tendril-cli', FORM),
  },
  "OAuth's error": { status: 400, path: '/api/v1/app/device/token', init: post('', FORM) },
  'an error of MCP': { status: 401, path: '/api/v1/mcp', init: post('{}') },
  'an answer of MCP': { status: 200, path: '/api/v1/mcp', init: post(INITIALIZE, MCP), as: 'key' },
  'an error of JSON-RPC': { status: 400, path: '/api/v1/mcp', init: post('{', MCP), as: 'key' },
  'a download': { status: 200, path: '/api/v1/app/audit/export', as: 'session' },
}

const headersOf = async (
  app: TestApp,
  { path, init = {}, as, status }: Exchange,
): Promise<Headers> => {
  const headers = new Headers(init.headers)
  if (as)
    headers.set(
      'authorization',
      `Bearer ${as === 'key' ? app.key : await tokenOf(app, app.tenantId)}`,
    )
  const response = await fetch(`${app.url}${path}`, { ...init, headers })
  await response.body?.cancel()
  expect(response.status).toBe(status)
  return response.headers
}

describe.each(Object.entries(exchanges))('%s', (_, one) => {
  test('forbids content sniffing', async () => {
    const headers = await headersOf(plain, one)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('strict-transport-security')).toBeNull()
  })

  test('enforces https where the public address is https', async () => {
    const headers = await headersOf(secure, one)
    expect([
      headers.get('x-content-type-options'),
      headers.get('strict-transport-security'),
    ]).toEqual(['nosniff', 'max-age=31536000'])
  })
})

test('a request that is refused before routing has them too', async () => {
  const reply = await sendRaw(
    secure.url,
    'GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  )
  expect(reply).toStartWith('HTTP/1.1 400')
  expect(reply.toLowerCase()).toContain('x-content-type-options: nosniff\r\n')
  expect(reply.toLowerCase()).toContain('strict-transport-security: max-age=31536000\r\n')
})
