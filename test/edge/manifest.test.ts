/**
 * The manifest, which agrees with the contract, the OpenAPI document and the tools that clients of
 * MCP see.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { events } from '#contract/events'
import { operations } from '#contract/index'
import { braces } from '#contract/op'
import { Manifest } from '#edge/manifest'
import { errorTable } from '#kernel/errors'
import { type Scope, scopes } from '#kernel/scopes'
import { checkerOf } from '#ops/engine/validate'
import { BESIDE } from '#test/support/http/paths'
import { connectMcp } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'
import type { Capabilities, OpenApi } from './documents.ts'

let openapi: OpenApi
let manifest: Capabilities
const app = useSharedApp()
beforeAll(async () => {
  openapi = (await app.send('GET', '/api/v1/openapi.json', { key: null })).body as never
  manifest = (await app.send('GET', '/api/v1/capabilities', { key: null })).body as never
})

describe('the manifest', () => {
  test('has the parts that it documents, and no others', () => {
    expect(Object.keys(manifest)).toEqual([
      'spec',
      'endpoints',
      'scopes',
      'errors',
      'tools',
      'events',
    ])
    expect(manifest.spec).toBe('tendril-capabilities/v1')
    expect(manifest.scopes.map(({ scope }) => scope)).toEqual([...scopes])
    const { http, record } = Object.groupBy(manifest.errors, ({ kind }) => kind)
    expect(http).toEqual(
      Object.entries(errorTable).map(([code, { status }]) => ({ code, status, kind: 'http' })),
    )
    expect(record!.map(({ code, status, summary }) => [code, status, typeof summary])).toEqual(
      ['generation_failed', 'cancelled', 'enqueue_failed'].map((code) => [code, 200, 'string']),
    )
    expect(manifest.errors).toHaveLength(http!.length + record!.length)
    expect(manifest.events.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
    expect(manifest.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'growth.batch.settled',
        'growth.approval.requested',
        'growth.item.posted',
      ]),
    )
  })

  test('has the operations of the contract and what is served beside them, each error in the table', () => {
    const { endpoints } = manifest
    expect(
      endpoints.slice(0, operations.length).map(({ id, method, path, scope, also, tool }) => ({
        id,
        method,
        path,
        scope,
        also,
        tool,
      })),
    ).toEqual(
      operations.map(({ id, method, path, scope, also, tool }) => ({
        id,
        method,
        path: braces(path),
        scope,
        also,
        tool: tool ?? null,
      })),
    )
    const besideIt = endpoints
      .slice(operations.length)
      .map(({ method, path, scope }) => `${method} ${path} ${scope}`)
    const documented = BESIDE.flatMap((path) =>
      Object.keys(openapi.paths[path]!).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(besideIt.map((line) => line.slice(0, line.lastIndexOf(' '))).sort()).toEqual(
      documented.sort(),
    )
    for (const { errors } of endpoints)
      for (const code of errors) expect(Object.keys(errorTable)).toContain(code)
  })

  test('matches its schema in the OpenAPI document', () => {
    expect([...checkerOf(Manifest).Errors(manifest)]).toEqual([])
    const schema = openapi.components.schemas.Capabilities as object
    expect(Object.keys((schema as { properties: object }).properties)).toEqual(
      Object.keys(manifest),
    )
  })

  test.each([
    ...[
      'GET /health public',
      'GET /webhooks/channels/{channel} public',
      'POST /webhooks/channels/{channel} public',
    ],
    ...['POST /webhooks/rules/{id} public', 'GET /api/v1/artifacts/shared/{token} public'],
    ...['POST /api/v1/mcp mcp:use', 'GET /api/v1/mcp mcp:use', 'DELETE /api/v1/mcp mcp:use'],
    ...[
      'GET /api/v1/mcp/servers api:read',
      'POST /api/v1/mcp/servers api:write',
      'DELETE /api/v1/mcp/servers/{id} api:write',
    ],
  ])('lists %s', (row) => {
    expect(
      manifest.endpoints.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
    ).toContain(row)
  })

  test('lists all 76 tools, each once and with an endpoint that exists', () => {
    expect(manifest.tools).toHaveLength(76)
    expect(new Set(manifest.tools.map(({ name }) => name)).size).toBe(76)
    const ids = manifest.endpoints.map(({ id }) => id)
    for (const { name, operation } of manifest.tools) {
      if (operation !== null) expect([name, ids.includes(operation)]).toEqual([name, true])
    }
    expect(
      manifest.tools.filter(({ operation }) => operation === null).map(({ name }) => name),
    ).toEqual(['growth_get_record'])
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
      const has = (scope: string | undefined) =>
        scope === undefined || (own as readonly string[]).includes(scope)
      const usable = manifest.tools.filter(({ scope, also }) => has(scope) && has(also))
      expect(await listed(own)).toEqual(usable.map(({ name }) => name).sort())
    }
  })

  test('names each tool of the contract with its operation and scope', () => {
    for (const o of operations.filter(({ tool }) => tool !== undefined))
      expect(manifest.tools).toContainEqual(
        expect.objectContaining({
          name: o.tool!,
          operation: o.id,
          scope: o.scope,
          ...(o.also ? { also: o.also } : {}),
        }),
      )
  })
})
