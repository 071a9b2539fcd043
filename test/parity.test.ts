/**
 * One contract on every surface: REST, its OpenAPI document, the manifest, MCP and the command line
 * have the same operations.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { groups } from '#cli/catalogue'
import { capabilities, operations } from '#contract/index'
import { braces, type NamedOp, pathParams, readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import { isScope, scopes } from '#kernel/scopes'
import { connectMcp } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'
import documented from './data/contract.json'

interface Described {
  operationId: string
  parameters: { name?: string; in?: string }[]
  requestBody?: { content: Record<string, { schema: { properties: object } }> }
}

let openapi: { paths: Record<string, Record<string, Described>> }
let manifest: {
  endpoints: { id: string; method: string; path: string; tool: string | null }[]
  tools: { name: string }[]
}
let tools: Map<string, { properties: string[]; required: string[] }>

const app = useSharedApp()
beforeAll(async () => {
  openapi = (await app.send('GET', '/api/v1/openapi.json', { key: null })).body
  manifest = (await app.send('GET', '/api/v1/capabilities', { key: null })).body
  const { api_key: key } = await app.newKey([...scopes])
  await using mcp = await connectMcp(app.url, { key, query: '?toolsets=all' })
  const listed = await mcp.client.listTools()
  tools = new Map(
    listed.tools.map(({ name, inputSchema }) => [
      name,
      {
        properties: Object.keys(inputSchema.properties ?? {}).sort(),
        required: [...(inputSchema.required ?? [])].sort(),
      },
    ]),
  )
})

const fieldsOf = (o: NamedOp): string[] => Object.keys(o.input.properties).sort()
const commands = groups.flatMap((group) => group.commands)

describe.each(operations.map((o) => [o.id, o] as const))('%s', (_, o) => {
  test('is served over REST', async () => {
    const path = o.path.replaceAll(/:[a-z_]+/gi, newId)
    const reply = await app.send(o.method, path, {
      key: null,
      ...(readsOnly(o) ? {} : { body: { no_such_field: 1 } }),
    })
    expect([400, 401]).toContain(reply.status)
  })

  test('is described, with all its fields', () => {
    const one = openapi.paths[braces(o.path)]?.[o.method.toLowerCase()]
    expect(one?.operationId).toBe(o.id)
    const inPath = [...(one?.parameters ?? [])].flatMap(({ name, in: place }) =>
      name && place !== 'header' ? [name] : [],
    )
    const inBody = Object.values(one?.requestBody?.content ?? {}).flatMap(
      ({ schema }) => o.body ?? Object.keys(schema.properties),
    )
    expect([...inPath, ...inBody].sort()).toEqual(fieldsOf(o))
  })

  test('is in the manifest', () => {
    expect(manifest.endpoints).toContainEqual(
      expect.objectContaining({
        id: o.id,
        method: o.method,
        path: braces(o.path),
        tool: o.tool ?? null,
      }),
    )
  })

  test('is a command', () => {
    const own = commands.filter(({ operation }) => operation.id === o.id)
    expect(own).toHaveLength(1)
    expect(own[0]!.operation.path).toBe(o.path)
  })

  test('is a tool with the same fields, unless the API document has none for it or only people can call it', () => {
    if (o.tool === undefined) {
      const row = (documented as { id?: string; tool?: string | null }[]).find(
        ({ id }) => id === o.id,
      )
      return expect(isScope(o.scope) && row?.tool).toBeFalsy()
    }
    const properties = readsOnly(o) ? fieldsOf(o) : [...fieldsOf(o), 'idempotency_key'].sort()
    expect(tools.get(o.tool)).toEqual({
      properties,
      required: [...((o.input.required ?? []) as string[])].sort(),
    })
    for (const name of pathParams(o.path)) expect(tools.get(o.tool)!.required).toContain(name)
  })
})

/**
 * Documented beside the operations: MCP, the public documents, and what others post to a workspace
 * or download from it without a credential.
 */
const BESIDE = [
  ...[
    '/api/v1/mcp',
    '/api/v1/openapi.json',
    '/api/v1/capabilities',
    '/.well-known/tendril.json',
    '/webhooks/rules/{id}',
  ],
  ...['/webhooks/channels/{channel}', '/api/v1/artifacts/shared/{token}', '/health', '/ready'],
]

test('no surface has an operation that the contract does not have', () => {
  const ids = operations.map(({ id }) => id).sort()
  const described = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    path.startsWith('/api/v1/app/device/') || BESIDE.includes(path)
      ? []
      : Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(described.filter((id) => !ids.includes(id))).toEqual([])
  // The manifest lists what is documented beside them, too.
  const documented = Object.values(openapi.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(manifest.endpoints.map(({ id }) => id).sort()).toEqual(
    [...new Set([...ids, ...documented])].sort(),
  )
  expect(commands.map(({ operation }) => operation.id).sort()).toEqual(ids)
  const named = operations.flatMap(({ tool }) => tool ?? []).sort()
  // Two tools of MCP alone: one stands for the reads of all single records, the other decides on
  // many items, without approval.
  const alone = ['growth_bulk_items', 'growth_get_record']
  expect([...tools.keys()].sort()).toEqual(
    [...named, ...capabilities.map(({ tool }) => tool!), ...alone].sort(),
  )
  expect(manifest.tools.map(({ name }) => name).sort()).toEqual([...tools.keys()].sort())
})
