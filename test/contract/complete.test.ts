/** The growth document whole: every operation, tool and public endpoint that it names is there as it has it, and no other. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { braces } from '#contract/op'
import { scopes } from '#kernel/scopes'
import { type TestApp, testApp } from '#test/support/app'
import { connectMcp } from '#test/support/mcp'
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

/** Not there yet. One that has come must be struck from here, and at the end none is left. */
const PENDING: string[] = []

const own = operations.filter(({ id }) => !id.startsWith('app.'))

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())

test('the document names 52 operations, 48 tools and 3 public endpoints', () => {
  const tools = growth.flatMap(({ tool }) => tool ?? [])
  const open = rows.filter(({ path }) => publicPaths.includes(path))
  expect([growth.length, new Set(tools).size, tools.length, open.length]).toEqual([52, 48, 48, 3])
})

test('every operation is there with its method, path, scope and tool, and no other is', () => {
  const shown = own.map(({ id, method, path, scope, tool }) => ({
    id,
    method,
    path: braces(path),
    scope: scope as string,
    tool: tool ?? null,
  }))
  const byId = (one: { id?: string }, other: { id?: string }) => (one.id! < other.id! ? -1 : 1)
  expect(shown.toSorted(byId)).toEqual(growth.filter(({ id }) => !PENDING.includes(id!)).toSorted(byId) as typeof shown)
})

test('nothing is pending that is there, or that the document does not name', () => {
  const ids = growth.map(({ id }) => id!)
  expect(PENDING.filter((id) => own.some((o) => o.id === id) || !ids.includes(id))).toEqual([])
})

test('the tools that a key with every scope sees begin with growth_ and are those of the document', async () => {
  const { api_key: key } = await app.newKey([...scopes])
  await using mcp = await connectMcp(app.url, { key })
  const { tools } = await mcp.client.listTools()
  const named = growth.filter(({ id }) => !PENDING.includes(id!)).flatMap(({ tool }) => tool ?? [])
  expect(tools.map(({ name }) => name).sort()).toEqual(named.sort())
})

test.each(publicPaths)('%s answers anybody', async (path) => {
  const reply = await app.send('GET', path, { key: null })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')])
})

test('the manifest is the same at both addresses', async () => {
  const [one, other] = [await app.send('GET', publicPaths[1]!, { key: null }), await app.send('GET', publicPaths[2]!, { key: null })]
  expect(other.text).toBe(one.text)
})
