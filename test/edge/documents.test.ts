/** The public documents: how they are served, and that they agree with each other and with the server. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { events } from '#contract/events'
import { operations } from '#contract/index'
import { accessOf, braces, errorsOf, readsOneRecord, takesKey } from '#contract/op'
import { Manifest } from '#edge/manifest'
import { MCP_PATH } from '#edge/mcp/endpoint'
import { errorTable } from '#kernel/errors'
import { type Scope, scopes } from '#kernel/scopes'
import { checkerOf } from '#ops/engine/validate'
import { testApp } from '#test/support/app'
import { BESIDE, CHANNELS, DOCUMENTS, INBOUND, OAUTH, PUBLIC, SHARED } from '#test/support/http/paths'
import { connectMcp } from '#test/support/mcp/mcp'
import { useApp } from '#test/support/use'

interface Parameter {
  name: string
  in: string
  required: boolean
  description?: string
}

interface DescribedOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: { apiKey: string[] }[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: { properties: Record<string, object>; required?: string[] } }> }
  responses: Record<string, { description: string; content: Record<string, unknown> }>
}

interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, DescribedOperation>>
  tags: { name: string; description: string }[]
  components: { parameters: Record<string, Parameter>; schemas: Record<string, { title: string }> }
}

interface Capabilities {
  spec: string
  endpoints: { id: string; method: string; path: string; scope: string; also?: string; tool: string | null; errors: string[] }[]
  scopes: { scope: string }[]
  errors: { code: string; status: number; kind: string; summary?: string }[]
  tools: { name: string; operation: string | null; toolset: string; module?: string; scope: string; also?: string }[]
  events: { type: string }[]
}

let openapi: OpenApi
let manifest: Capabilities
const app = useApp()
beforeAll(async () => {
  openapi = (await app.send('GET', '/api/v1/openapi.json', { key: null })).body as never
  manifest = (await app.send('GET', '/api/v1/capabilities', { key: null })).body as never
})

describe.each(PUBLIC)('%s', (path) => {
  test('needs no key, and ignores a wrong one', async () => {
    for (const key of [null, 'wrong']) expect((await app.send('GET', path, { key })).status).toBe(200)
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    const [get, head] = [await app.send('GET', path, { key: null }), await app.send('HEAD', path, { key: null })]
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

describe.each(DOCUMENTS)('%s', (path) => {
  test('is sent again only after a change', async () => {
    const first = await app.send('GET', path, { key: null })
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^"[\w-]{20,}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      for (const method of ['GET', 'HEAD']) {
        const reply = await app.send(method, path, { key: null, headers: { 'if-none-match': known } })
        expect({ status: reply.status, text: reply.text, etag: reply.headers.get('etag') }).toEqual({ status: 304, text: '', etag })
      }
    const stale = await app.send('GET', path, { key: null, headers: { 'if-none-match': '"other"' } })
    expect({ status: stale.status, text: stale.text }).toEqual({ status: 200, text: first.text })
  })
})

test('/health says that the server is up, for how long, and from which commit', async () => {
  const { body } = await app.send('GET', '/health', { key: null })
  expect(body).toEqual({ status: 'ok', uptime_seconds: expect.any(Number), commit: null })
  await using built = await testApp({ env: { TENDRIL_COMMIT: 'abc1234' } })
  expect((await built.send('GET', '/health', { key: null })).body).toMatchObject({ commit: 'abc1234' })
})

test('the well-known document is the manifest', async () => {
  expect((await app.send('GET', '/.well-known/tendril.json', { key: null })).body).toEqual(manifest as never)
})

describe('the OpenAPI document', () => {
  const accessIn = (security: { apiKey?: string[]; session?: string[] }[]): string[] => {
    if (security.length === 0) return ['public']
    return security[0]?.apiKey ?? ['session']
  }
  const described = () =>
    Object.entries(openapi.paths)
      .filter(([path]) => !BESIDE.includes(path))
      .flatMap(([path, methods]) => Object.entries(methods).map(([method, o]) => ({ path, method: method.toUpperCase(), ...o })))

  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openapi) as never)
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined as never })
    expect(openapi.openapi).toStartWith('3.1.')
  })

  test('refers only to components that it has, and to all of them', () => {
    const refs = new Set([...JSON.stringify(openapi).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map((match) => match[1]!))
    const { securitySchemes: _, ...components } = openapi.components as Record<string, object>
    const has = Object.entries(components).flatMap(([kind, named]) => Object.keys(named).map((name) => `${kind}/${name}`))
    expect([...refs].sort()).toEqual(has.sort())
  })

  test('describes what is served beside the operations', () => {
    for (const path of OAUTH) expect([path, Object.keys(openapi.paths[path] ?? {})]).toEqual([path, ['post']])
    expect(Object.keys(openapi.paths[MCP_PATH] ?? {})).toEqual(['post', 'get', 'delete'])
    expect(Object.keys(openapi.paths['/health']?.get?.responses ?? {})).toEqual(['200', '503'])
    const { post } = openapi.paths[INBOUND] ?? {}
    expect([post?.security, Object.keys(post?.responses ?? {})]).toEqual([[], ['200', '401', '403', '413', '429', '503']])
    const { post: taken, get: asked } = openapi.paths[CHANNELS] ?? {}
    expect([taken?.security, Object.keys(taken?.responses ?? {})]).toEqual([[], ['200', '400', '401', '404', '413', '429', '503']])
    expect([asked?.security, Object.keys(asked?.responses ?? {})]).toEqual([[], ['200', '403', '404', '405', '429', '503']])
    const { get } = openapi.paths[SHARED] ?? {}
    expect([get?.security, Object.keys(get?.responses ?? {})]).toEqual([[], ['200', '206', '304', '404', '416', '429', '503']])
    for (const path of DOCUMENTS) {
      const { get, ...others } = openapi.paths[path] ?? {}
      expect([path, Object.keys(others), get?.security, Object.keys(get?.responses ?? {})]).toEqual([path, [], [], ['200', '304', '429']])
    }
  })

  test('has exactly the operations of the contract', () => {
    const listed = described().map(({ operationId, method, path, security }) => [operationId, method, path, accessIn(security)])
    expect(listed.sort()).toEqual(operations.map((o) => [o.id, o.method, braces(o.path), accessOf(o)]).sort())
  })

  test('describes the endpoints of OAuth with their forms and errors', () => {
    for (const path of OAUTH) {
      const { post } = openapi.paths[path]!
      expect(Object.keys(post!.requestBody!.content)).toEqual(['application/x-www-form-urlencoded'])
      expect([path, Object.keys(post!.responses)]).toEqual([path, ['200', '400', '429', '503']])
      expect([post!.security, openapi.tags.map(({ name }) => name)]).toEqual([[], expect.arrayContaining(post!.tags)])
    }
  })

  test('every operation has a summary, a description, a declared tag and its errors', () => {
    const tags = openapi.tags.map(({ name }) => name)
    for (const { operationId, summary, description, tags: own, responses } of described()) {
      const o = operations.find(({ id }) => id === operationId)!
      expect([operationId, summary.length > 5 && summary.length <= 100, description]).toEqual([operationId, true, o.summary])
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
      for (const code of codes) expect(responses[errorTable[code].status]!.description).toContain(code)
    }
  })

  test('places every field of an input once: in the path, the query or the body', () => {
    for (const { operationId, parameters: referred, requestBody, path } of described()) {
      const o = operations.find(({ id }) => id === operationId)!
      const parameters = referred.map((one) => ('$ref' in one ? openapi.components.parameters[one.$ref.split('/').at(-1)!]! : one))
      const body = o.body ? [o.body] : Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})
      const named = parameters.filter((one) => one.in !== 'header').map((one) => one.name)
      expect([...named, ...body].sort()).toEqual(Object.keys(o.input.properties).sort())
      for (const one of parameters) {
        expect(one.in === 'path').toBe(path.includes(`{${one.name}}`))
        expect([operationId, one.name, one.description]).toEqual([operationId, one.name, expect.any(String)])
      }
      expect(parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(takesKey(o))
    }
  })
})

describe('the manifest', () => {
  test('has the parts that it documents, and no others', () => {
    expect(Object.keys(manifest)).toEqual(['spec', 'endpoints', 'scopes', 'errors', 'tools', 'events'])
    expect(manifest.spec).toBe('tendril-capabilities/v1')
    expect(manifest.scopes.map(({ scope }) => scope)).toEqual([...scopes])
    const { http, record } = Object.groupBy(manifest.errors, ({ kind }) => kind)
    expect(http).toEqual(Object.entries(errorTable).map(([code, { status }]) => ({ code, status, kind: 'http' })))
    expect(record!.map(({ code, status, summary }) => [code, status, typeof summary])).toEqual(
      ['generation_failed', 'cancelled', 'enqueue_failed'].map((code) => [code, 200, 'string']),
    )
    expect(manifest.errors).toHaveLength(http!.length + record!.length)
    expect(manifest.events.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
    expect(manifest.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['growth.batch.settled', 'growth.approval.requested', 'growth.item.posted']),
    )
  })

  test('has the operations of the contract and what is served beside them, each error in the table', () => {
    const { endpoints } = manifest
    expect(
      endpoints.slice(0, operations.length).map(({ id, method, path, scope, also, tool }) => ({ id, method, path, scope, also, tool })),
    ).toEqual(
      operations.map(({ id, method, path, scope, also, tool }) => ({ id, method, path: braces(path), scope, also, tool: tool ?? null })),
    )
    const besideIt = endpoints.slice(operations.length).map(({ method, path, scope }) => `${method} ${path} ${scope}`)
    const documented = BESIDE.flatMap((path) => Object.keys(openapi.paths[path]!).map((method) => `${method.toUpperCase()} ${path}`))
    expect(besideIt.map((line) => line.slice(0, line.lastIndexOf(' '))).sort()).toEqual(documented.sort())
    for (const { errors } of endpoints) for (const code of errors) expect(Object.keys(errorTable)).toContain(code)
  })

  test('matches its schema in the OpenAPI document', () => {
    expect([...checkerOf(Manifest).Errors(manifest)]).toEqual([])
    const schema = openapi.components.schemas.Capabilities as object
    expect(Object.keys((schema as { properties: object }).properties)).toEqual(Object.keys(manifest))
  })

  test.each([
    ...['GET /health public', 'GET /webhooks/channels/{channel} public', 'POST /webhooks/channels/{channel} public'],
    ...['POST /webhooks/rules/{id} public', 'GET /api/v1/artifacts/shared/{token} public'],
    ...['POST /api/v1/mcp mcp:use', 'GET /api/v1/mcp mcp:use', 'DELETE /api/v1/mcp mcp:use'],
    ...['GET /api/v1/mcp/servers api:read', 'POST /api/v1/mcp/servers api:write', 'DELETE /api/v1/mcp/servers/{id} api:write'],
  ])('lists %s', (row) => {
    expect(manifest.endpoints.map(({ method, path, scope }) => `${method} ${path} ${scope}`)).toContain(row)
  })

  test('lists all 75 tools, each once and with an endpoint that exists', () => {
    expect(manifest.tools).toHaveLength(75)
    expect(new Set(manifest.tools.map(({ name }) => name)).size).toBe(75)
    const ids = manifest.endpoints.map(({ id }) => id)
    for (const { name, operation } of manifest.tools) {
      if (operation !== null) expect([name, ids.includes(operation)]).toEqual([name, true])
    }
    expect(manifest.tools.filter(({ operation }) => operation === null).map(({ name }) => name)).toEqual(['growth_get_record'])
  })

  test('lists the tools that a client of MCP sees with every toolset, with the scopes that they need', async () => {
    const { tenantId } = await app.newWorkspace()
    const listed = async (own: readonly Scope[]) => {
      const { api_key: key } = await app.newKey([...own], tenantId)
      await using mcp = await connectMcp(app.url, { key, query: '?toolsets=all' })
      return (await mcp.toolNames()).sort()
    }
    expect(await listed(scopes)).toEqual(manifest.tools.map(({ name }) => name).sort())
    for (const own of [
      ['mcp:use', 'api:read'],
      ['mcp:use', 'workspace:use', 'api:read'],
    ] as const) {
      const has = (scope: string | undefined) => scope === undefined || (own as readonly string[]).includes(scope)
      const usable = manifest.tools.filter(({ scope, also }) => has(scope) && has(also))
      expect(await listed(own)).toEqual(usable.map(({ name }) => name).sort())
    }
  })

  test('names each tool of the contract with its operation and scope', () => {
    for (const o of operations.filter(({ tool }) => tool !== undefined))
      expect(manifest.tools).toContainEqual(
        expect.objectContaining({ name: o.tool!, operation: o.id, scope: o.scope, ...(o.also ? { also: o.also } : {}) }),
      )
  })
})
