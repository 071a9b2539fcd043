/**
 * The public documents: how they are served, and that the OpenAPI document agrees with the
 * contract.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { operations } from '#contract/index'
import { braces, readsOneRecord, requiredAccess, takesKey } from '#contract/op'
import { errorsOf } from '#contract/op-errors'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { errorTable } from '#kernel/errors'
import { testApp } from '#test/support/app'
import {
  BESIDE,
  CHANNELS,
  DOCUMENTS,
  INBOUND,
  OAUTH,
  PUBLIC,
  REFERENCE,
  SHARED,
} from '#test/support/http/paths'
import { useSharedApp } from '#test/support/use'
import type { Capabilities, OpenApi } from './documents.ts'

let openapi: OpenApi
let manifest: Capabilities
const app = useSharedApp()
beforeAll(async () => {
  openapi = (await app.send('GET', '/api/v1/openapi.json', { key: null })).body as never
  manifest = (await app.send('GET', '/api/v1/capabilities', { key: null })).body as never
})

describe.each(PUBLIC)('%s', (path) => {
  test('needs no key, and ignores a wrong one', async () => {
    for (const key of [null, 'wrong'])
      expect((await app.send('GET', path, { key })).status).toBe(200)
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    const [get, head] = [
      await app.send('GET', path, { key: null }),
      await app.send('HEAD', path, { key: null }),
    ]
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' })
    for (const name of ['content-type', 'cache-control', 'etag', 'content-length'])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
  })

  test('answers other methods with 405', async () => {
    const reply = await app.send('POST', path, { key: null })
    expect(reply.status).toBe(405)
    expect(reply.headers.get('allow')).toBe('GET, HEAD')
  })
})

describe.each([...DOCUMENTS, ...REFERENCE])('%s', (path) => {
  test('is sent again only after a change', async () => {
    const first = await app.send('GET', path, { key: null })
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[\w-]{20,}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      for (const method of ['GET', 'HEAD']) {
        const reply = await app.send(method, path, {
          key: null,
          headers: { 'if-none-match': known },
        })
        expect({ status: reply.status, text: reply.text, etag: reply.headers.get('etag') }).toEqual(
          { status: 304, text: '', etag },
        )
      }
    const stale = await app.send('GET', path, {
      key: null,
      headers: { 'if-none-match': '"other"' },
    })
    expect({ status: stale.status, text: stale.text }).toEqual({ status: 200, text: first.text })
  })
})

test('/health says that the server is up, for how long, and from which commit', async () => {
  const { body } = await app.send('GET', '/health', { key: null })
  expect(body).toEqual({ status: 'ok', uptime_seconds: expect.any(Number), commit: null })
  await using built = await testApp({ env: { TENDRIL_COMMIT: 'abc1234' } })
  expect((await built.send('GET', '/health', { key: null })).body).toMatchObject({
    commit: 'abc1234',
  })
})

test('the well-known document is the manifest', async () => {
  expect((await app.send('GET', '/.well-known/tendril.json', { key: null })).body).toEqual(
    manifest as never,
  )
})

describe('the OpenAPI document', () => {
  const accessIn = (security: { apiKey?: string[]; session?: string[] }[]): string[] => {
    if (security.length === 0) return ['public']
    return security[0]?.apiKey ?? ['session']
  }
  const described = () =>
    Object.entries(openapi.paths)
      .filter(([path]) => !BESIDE.includes(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, o]) => ({
          path,
          method: method.toUpperCase(),
          ...o,
        })),
      )

  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openapi) as never)
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined as never })
    expect(openapi.openapi).toStartWith('3.1.')
  })

  test('refers only to components that it has, and to all of them', () => {
    const refs = new Set(
      [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(
        (match) => match[1]!,
      ),
    )
    const { securitySchemes: _, ...components } = openapi.components as Record<string, object>
    const has = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `${kind}/${name}`),
    )
    expect([...refs].sort()).toEqual(has.sort())
  })

  test('describes what is served beside the operations', () => {
    for (const path of OAUTH)
      expect([path, Object.keys(openapi.paths[path] ?? {})]).toEqual([path, ['post']])
    expect(Object.keys(openapi.paths[MCP_PATH] ?? {})).toEqual(['post', 'get', 'delete'])
    for (const [path, codes] of [
      ['/health', ['200', '503']],
      ['/ready', ['200', '400', '503']],
    ] as const)
      expect(Object.keys(openapi.paths[path]?.get?.responses ?? {})).toEqual([...codes])
    const { post } = openapi.paths[INBOUND] ?? {}
    expect([post?.security, Object.keys(post?.responses ?? {})]).toEqual([
      [],
      ['200', '401', '403', '413', '429', '503'],
    ])
    const { post: taken, get: asked } = openapi.paths[CHANNELS] ?? {}
    expect([taken?.security, Object.keys(taken?.responses ?? {})]).toEqual([
      [],
      ['200', '400', '401', '404', '413', '429', '503'],
    ])
    expect([asked?.security, Object.keys(asked?.responses ?? {})]).toEqual([
      [],
      ['200', '403', '404', '405', '429', '503'],
    ])
    const { get } = openapi.paths[SHARED] ?? {}
    expect([get?.security, Object.keys(get?.responses ?? {})]).toEqual([
      [],
      ['200', '206', '304', '404', '416', '429', '503'],
    ])
    for (const path of DOCUMENTS) {
      const { get, ...others } = openapi.paths[path] ?? {}
      expect([path, Object.keys(others), get?.security, Object.keys(get?.responses ?? {})]).toEqual(
        [path, [], [], ['200', '304', '429']],
      )
    }
  })

  test('has exactly the operations of the contract', () => {
    const listed = described().map(({ operationId, method, path, security }) => [
      operationId,
      method,
      path,
      accessIn(security),
    ])
    expect(listed.sort()).toEqual(
      operations.map((o) => [o.id, o.method, braces(o.path), requiredAccess(o)]).sort(),
    )
  })

  test('describes the endpoints of OAuth with their forms and errors', () => {
    for (const path of OAUTH) {
      const { post } = openapi.paths[path]!
      expect(Object.keys(post!.requestBody!.content)).toEqual(['application/x-www-form-urlencoded'])
      expect([path, Object.keys(post!.responses)]).toEqual([path, ['200', '400', '429', '503']])
      expect([post!.security, openapi.tags.map(({ name }) => name)]).toEqual([
        [],
        expect.arrayContaining(post!.tags),
      ])
    }
  })

  test('every operation has a summary, a description, a declared tag and its errors', () => {
    const tags = openapi.tags.map(({ name }) => name)
    for (const { operationId, summary, description, tags: own, responses } of described()) {
      const o = operations.find(({ id }) => id === operationId)!
      expect([operationId, summary.length > 5 && summary.length <= 100, description]).toEqual([
        operationId,
        true,
        o.summary,
      ])
      expect(tags).toContain(own[0]!)
      const codes = errorsOf(o)
      const statuses = [
        o.status,
        ...(o.kind === 'awaited' ? [202] : []),
        ...(o.kind === 'file' ? [206, 304, 416] : []),
        ...(readsOneRecord(o) ? [304] : []),
        ...codes.map((code) => errorTable[code].status),
      ]
      expect(Object.keys(responses).sort()).toEqual([...new Set(statuses.map(String))].sort())
      for (const code of codes)
        expect(responses[errorTable[code].status]!.description).toContain(code)
    }
  })

  test('places every field of an input once: in the path, the query or the body', () => {
    for (const { operationId, parameters: referred, requestBody, path } of described()) {
      const o = operations.find(({ id }) => id === operationId)!
      const parameters = referred.map((one) =>
        '$ref' in one ? openapi.components.parameters[one.$ref.split('/').at(-1)!]! : one,
      )
      const body = o.body
        ? [o.body]
        : Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})
      const named = parameters.filter((one) => one.in !== 'header').map((one) => one.name)
      expect([...named, ...body].sort()).toEqual(Object.keys(o.input.properties).sort())
      for (const one of parameters) {
        expect(one.in === 'path').toBe(path.includes(`{${one.name}}`))
        expect([operationId, one.name, one.description]).toEqual([
          operationId,
          one.name,
          expect.any(String),
        ])
      }
      expect(parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(takesKey(o))
    }
  })
})
