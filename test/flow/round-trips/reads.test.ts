/** The statements of each read. */
import { describe, expect, test } from 'bun:test'
import { readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import {
  call,
  legalInput,
  newWorkspace,
  prefixOf,
  recipes,
  usualOperations,
} from '#test/support/contract/prepare'
import { countedApp, expectCost, namesOf } from '#test/support/database/round-trips'
import { connectMcp } from '#test/support/mcp/mcp'
import { use } from '#test/support/use'

const counted = use(countedApp)

const queries = usualOperations.filter(readsOnly)
const others = [
  'growth.items.list of none',
  'growth.batches.get of an unknown id',
  'growth.items.list by MCP',
]

test('every read has its cost in the table', () => {
  expect(namesOf('reads').sort()).toEqual([...queries.map(({ id }) => id), ...others].sort())
})

test.each(queries.map((o) => [o.id, o] as const))('%s', async (id, o) => {
  const workspace = await newWorkspace(counted.app)
  await recipes[prefixOf(o)]?.make(workspace)
  const input = await legalInput(workspace, o)
  const cost = await counted.cost(async () =>
    expect((await call(workspace, o, input)).status).toBe(o.status),
  )
  expectCost('reads', id, cost)
})

describe('growth.batches.get', () => {
  test('of an unknown id', async () => {
    const workspace = await newWorkspace(counted.app)
    const get = queries.find(({ id }) => id === 'growth.batches.get')!
    const cost = await counted.cost(async () =>
      expect((await call(workspace, get, { id: newId() })).status).toBe(404),
    )
    expectCost('reads', 'growth.batches.get of an unknown id', cost)
  })
})

describe('growth.items.list', () => {
  test('of none', async () => {
    const workspace = await newWorkspace(counted.app)
    const list = queries.find(({ id }) => id === 'growth.items.list')!
    const cost = await counted.cost(async () =>
      expect((await call(workspace, list, {})).status).toBe(200),
    )
    expectCost('reads', 'growth.items.list of none', cost)
  })

  test('by MCP', async () => {
    const workspace = await newWorkspace(counted.app)
    await recipes['growth.items']!.make(workspace)
    const { key } = workspace
    await using mcp = await connectMcp(counted.app.url, { key })
    const list = async () => expect((await mcp.call('growth_list_queue')).isError).toBeFalsy()
    // The client has also opened a stream, which is no part of the list.
    await list()
    const cost = await counted.cost(list)
    expectCost('reads', 'growth.items.list by MCP', cost)
  })
})
