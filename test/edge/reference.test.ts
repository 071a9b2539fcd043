/** The page of the API's reference; reference.slow.test.ts looks at it in a browser. */
import { expect, test } from 'bun:test'
import { REFERENCE } from '#test/support/http/paths'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

test('the page allows nothing from elsewhere, and no code but its own', async () => {
  const { headers } = await app.send('GET', '/docs', { key: null })
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = headers.get('content-security-policy')!
  expect(policy).toStartWith("default-src 'none'; script-src 'self' 'sha256-")
  expect(policy).not.toMatch(/unsafe-|https?:|\*/)
  expect(headers.get('x-frame-options')).toBe('DENY')
})

test('all that the page loads is served beside it', async () => {
  const { text } = await app.send('GET', '/docs', { key: null })
  const loaded = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map((match) => match[1]!)
  expect(['/docs', ...loaded].sort()).toEqual(REFERENCE)
  const types = await Promise.all(
    loaded.map(async (path) => (await app.send('GET', path, { key: null })).headers),
  )
  expect(types.map((headers) => headers.get('content-type')).sort()).toEqual([
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
  ])
})

test('a path below the page is not found', async () => {
  for (const path of ['/docs/x', '/docs/swagger-ui.js.map', '/docs/../sql/schema.sql'])
    expect((await app.send('GET', path, { key: null })).status).toBe(404)
})

test('neither the OpenAPI document nor the manifest names the page', async () => {
  for (const path of ['openapi.json', 'capabilities'])
    expect((await app.send('GET', `/api/v1/${path}`, { key: null })).text).not.toContain('"/docs')
})
