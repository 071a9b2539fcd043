/**
 * The growth document is complete: it names exactly the operations, tools and public endpoints that
 * exist.
 */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { braces } from '#contract/op'
import { scopes } from '#kernel/scopes'
import { isExtension } from '#test/support/contract/beyond'
import { connectMcp } from '#test/support/mcp/mcp'
import { useApp } from '#test/support/use'
import documented from '../data/contract.json'

interface Row {
  id?: string
  method: string
  path: string
  scope?: string
  tool?: string | null
}

const rows = documented as Row[]
const growth = rows.filter(({ id }) => id?.startsWith('growth.'))
const publicPaths = ['/api/v1/openapi.json', '/api/v1/capabilities', '/.well-known/tendril.json']

const own = operations.filter(({ id }) => id.startsWith('growth.') && !isExtension(id))

const app = useApp()

test('the document names 52 operations, 48 tools and 3 public endpoints', () => {
  const tools = growth.flatMap(({ tool }) => tool ?? [])
  const open = rows.filter(({ path }) => publicPaths.includes(path))
  expect([growth.length, new Set(tools).size, tools.length, open.length]).toEqual([52, 48, 48, 3])
})

test('every operation of the document exists with its method, path, scope and tool, and none is missing from the list of those beyond it', () => {
  const shown = own.map(({ id, method, path, scope, tool }) => ({
    id,
    method,
    path: braces(path),
    scope: scope as string,
    tool: tool ?? null,
  }))
  const byId = (one: { id?: string }, other: { id?: string }) => (one.id! < other.id! ? -1 : 1)
  expect(shown.toSorted(byId)).toEqual(growth.toSorted(byId) as typeof shown)
})

test('a key with every scope sees exactly the tools of the document', async () => {
  const { api_key: key } = await app.newKey([...scopes])
  await using mcp = await connectMcp(app.url, { key })
  const { tools } = await mcp.client.listTools()
  const named = growth.flatMap(({ tool }) => tool ?? [])
  expect(tools.map(({ name }) => name).sort()).toEqual(named.sort())
})

test.each(publicPaths)('%s answers without a credential', async (path) => {
  const reply = await app.send('GET', path, { key: null })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('application/json'),
  ])
})

test('the manifest is the same at both addresses', async () => {
  const [one, other] = [
    await app.send('GET', publicPaths[1]!, { key: null }),
    await app.send('GET', publicPaths[2]!, { key: null }),
  ]
  expect(other.text).toBe(one.text)
})
