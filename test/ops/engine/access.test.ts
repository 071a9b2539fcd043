import { expect, test } from 'bun:test'
import { Type as T } from '@sinclair/typebox'
import { nameOperations, op, requiredAccess } from '#contract/op'
import type { Access } from '#kernel/scopes'
import { mayRun } from '#ops/engine/access'
import { bind } from '#ops/engine/bind'

const about = 'Things.'
const shape = { input: {}, output: T.Object({}) }
const group = { read: op.query('GET /things', 'Read.', shape, { also: 'workspace:use' }) }
const resource = { prefix: 'things', about, group }
const [o] = nameOperations(resource)
const [bound] = bind({ world: { rates: { count: () => [] } } } as never, resource, {
  read: async () => ({}),
})

const principal = { kind: 'key', id: 'key' } as const
const caller = (...scopes: Access[]) => ({ scopes: new Set(scopes), principal })
const refusal = (...scopes: Access[]) =>
  (bound as { run(read: () => unknown, call: object): Promise<unknown> }).run(
    () => ({}),
    caller(...scopes),
  )

test('an operation with a second scope requires both', () => {
  expect(mayRun(o!, caller('api:read'))).toBe(false)
  expect(mayRun(o!, caller('workspace:use'))).toBe(false)
  expect(mayRun(o!, caller('api:read', 'workspace:use'))).toBe(true)
})

test('a caller without both scopes is told of the second one first', async () => {
  expect(requiredAccess(o!)).toEqual(['workspace:use', 'api:read'])
  await expect(refusal()).rejects.toMatchObject({
    code: 'missing_scope',
    message: 'API key missing scope: workspace:use',
  })
  await expect(refusal('api:read')).rejects.toMatchObject({
    message: 'API key missing scope: workspace:use',
  })
  await expect(refusal('workspace:use')).rejects.toMatchObject({
    message: 'API key missing scope: api:read',
  })
})
