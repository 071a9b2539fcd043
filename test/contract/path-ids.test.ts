/**
 * Routes of the agent's document with an id in their path, and what their rows list of an id that
 * is none: 400 where the row lists it, and else 404, as for the id of nothing.
 */
import { expect, test } from 'bun:test'
import type { TObject, TSchema } from '@sinclair/typebox'
import { operations } from '#contract/index'
import { pathParams } from '#contract/op'
import { scopes } from '#kernel/scopes'
import { sampleOf } from '#test/support/contract/sample'
import { useApp } from '#test/support/use'
import documented from '../data/contract.json' with { type: 'json' }

const app = useApp({ overrides: { lanes: [] } })

/** Rows of the document that list 400. */
const listed = [
  'POST /api/v1/agent/conversations/{id}/messages',
  'POST /api/v1/agent/conversations/{id}/feedback',
  'PATCH /api/v1/channels/{id}',
  'PATCH /api/v1/agent/playbooks/{id}',
  'POST /api/v1/agent/playbooks/{id}/versions',
  'POST /api/v1/agent/playbooks/{id}/versions/{versionId}/activate',
  'POST /api/v1/agent/playbooks/{id}/versions/{versionId}/reject',
]
/** Where any id is 200, and where a path holds no uuid. */
const others = ['DELETE /api/v1/mcp/servers/{id}']

const isUuid = (input: TSchema, name: string) =>
  (input as TObject).properties[name]?.format === 'uuid'

const routes = documented
  .filter(({ path }) => !path.startsWith('/api/v1/growth/') && path.includes('{'))
  .flatMap(({ method, path }) => {
    const operation = operations.find(
      (o) => o.method === method && o.path.replaceAll(/:(\w+)/g, '{$1}') === path,
    )
    const route = `${method} ${path}`
    if (
      !operation ||
      others.includes(route) ||
      !pathParams(operation.path).every((name) => isUuid(operation.input, name))
    )
      return []
    return [[route, listed.includes(route) ? 400 : 404, operation] as const]
  })

test('they are those of the document', () => {
  expect(routes.length).toBeGreaterThanOrEqual(17)
})

test.each(routes)('%s answers %d', async (_, status, o) => {
  const { api_key: key } = await app.newKey([...scopes])
  const names = pathParams(o.path)
  const body = Object.fromEntries(
    Object.entries(sampleOf(o, 'needed')).filter(([name]) => !names.includes(name)),
  )
  const path = o.path.replaceAll(/:\w+/g, 'no-id')
  const reply = await app.send(o.method, path, {
    key,
    ...(o.method === 'GET' || o.method === 'DELETE' ? {} : { body }),
  })
  expect([reply.status, reply.body.error?.code]).toEqual([
    status,
    status === 404 ? 'not_found' : 'invalid_input',
  ])
})
