/**
 * What holds for every operation: its declaration, who can call it, and how it is reached. New
 * operations are covered as they come.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { keyOperations, operations } from '#contract/index'
import {
  braces,
  type Method,
  type NamedOp,
  pathParams,
  readsOnly,
  requiredAccess,
} from '#contract/op'
import { newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { type Scope, scopes } from '#kernel/scopes'
import { revokeKey } from '#store/app/keys'
import type { Send } from '#test/support/app'
import { isExtension } from '#test/support/contract/beyond'
import {
  call,
  legalInput,
  newWorkspace,
  prefixOf,
  recipes,
  type Workspace,
} from '#test/support/contract/prepare'
import { finds, sampleOf } from '#test/support/contract/sample'
import { useApp } from '#test/support/use'
import documented from './data/contract.json'

interface Documented {
  method: string
  path: string
  id?: string
  scope?: string
  tool?: string | null
}

const PUBLIC = ['/api/v1/openapi.json', '/api/v1/capabilities', '/.well-known/tendril.json']

describe('the declarations', () => {
  const routeOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
  const declared = operations.map((o) => ({ ...o, path: braces(o.path) }))

  test.each(declared.map((o) => [o.id, o] as const))(
    '%s is as the API document has it',
    (id, o) => {
      if (isExtension(id)) return expect(documented.map(routeOf)).not.toContain(routeOf(o))
      const row = (documented as Documented[]).find((one) => routeOf(one) === routeOf(o))
      expect(row).toMatchObject({ method: o.method, path: o.path })
      if (row?.id !== undefined)
        expect({ id, scope: o.scope, tool: o.tool ?? null }).toEqual({
          id: row.id,
          scope: row.scope,
          tool: row.tool,
        } as never)
    },
  )

  test('the growth operations, tools and public endpoints are those of the API document, and no others', () => {
    const rows = (documented as Documented[]).filter(({ id }) => id?.startsWith('growth.'))
    const tools = rows.flatMap(({ tool }) => tool ?? [])
    const open = documented.filter(({ path }) => PUBLIC.includes(path))
    expect([rows.length, new Set(tools).size, open.length]).toEqual([52, 48, 3])
    const own = declared.filter(({ id }) => id.startsWith('growth.') && !isExtension(id))
    expect(own.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => id!).toSorted())
  })

  test('no id, route or tool is declared twice', () => {
    for (const names of [
      operations.map(({ id }) => id),
      operations.map(routeOf),
      operations.flatMap(({ tool }) => tool ?? []),
    ])
      expect(names).toEqual([...new Set(names)])
  })

  test.each(keyOperations.map((o) => [o.id, o] as const))(
    '%s needs api:read exactly if it only reads',
    (_, o) => {
      expect(o.scope === 'api:read').toBe(o.method === 'GET')
    },
  )

  test('there is a recipe for a record of every resource whose operations take an id', () => {
    const needed = operations
      .filter((o) => o.kind !== 'personal' && o.kind !== 'public' && pathParams(o.path).length > 0)
      .map(prefixOf)
    expect(Object.keys(recipes).sort()).toEqual([...new Set(needed)].sort())
  })
})

let other: Workspace
/** Keys by the scope that they lack. */
let lacking: Record<Scope, string>
/** A key with every scope, and one that is revoked. */
let [all, revoked] = ['', '']

const app = useApp()
beforeAll(async () => {
  other = await newWorkspace(app)
  const keys = scopes.map(async (scope) => [
    scope,
    (await app.newKey(scopes.filter((one) => one !== scope))).api_key,
  ])
  lacking = Object.fromEntries(await Promise.all(keys))
  all = (await app.newKey([...scopes])).api_key
  const ended = await app.newKey([...scopes])
  await revokeKey(app.workplace.db, ended.id)
  revoked = ended.api_key
})

/** An input that no operation accepts, and about which a refused caller learns nothing. */
const nonsense = (o: NamedOp) => ({ ...sampleOf(o, 'needed'), no_such_field: 1 })

const expectUnauthenticated = async (
  o: NamedOp,
  send: Send,
  inputs = [nonsense(o), sampleOf(o, 'needed')],
) => {
  for (const input of inputs) {
    const reply = await call({ app, ...send }, o, input)
    expect(reply.status).toBe(401)
    expect(reply.body.error).toMatchObject({
      code: 'unauthenticated',
      request_id: expect.any(String),
    })
    expect(reply.headers.get('www-authenticate')).toStartWith('Bearer')
  }
}

const inputs = new Map<string, Promise<Record<string, unknown>>>()
/** Input that would succeed. Who is refused leaves it as it is. */
const refusedInput = (o: NamedOp) => inputs.getOrInsertComputed(o.id, () => legalInput(other, o))

/** Ends a key that the server has just served, and so remembers; then sends each input. */
const expectDead = async (
  o: NamedOp,
  end: (id: string) => Promise<unknown>,
  inputs: Record<string, unknown>[],
) => {
  for (const input of inputs) {
    const { id, api_key: key } = await app.newKey([...scopes], other.tenantId)
    expect((await app.send('GET', 'profile', { key })).status).toBe(200)
    await end(id)
    await expectUnauthenticated(o, { key }, [input])
  }
}

describe.each(keyOperations.map((o) => [o.id, o] as const))('%s refuses', (_, o) => {
  test('a caller without a key', () => expectUnauthenticated(o, { key: null }))

  test.each([
    ['another scheme', `Basic ${btoa('ak:ak')}`],
    ['a key without a scheme', newApiKey()],
    ['nothing after the scheme', 'Bearer '],
    ['a key of another form', 'Bearer sk_0000000000000000'],
    ['a key with a wrong checksum', `Bearer ak_${'0'.repeat(36)}`],
    ['two keys', `Bearer ${newApiKey()} ${newApiKey()}`],
    ['an unknown key', `Bearer ${newApiKey()}`],
  ])('%s', (_, authorization) =>
    // By nonsense alone: it would be 400 if the input were looked at before the caller.
    expectUnauthenticated(o, { key: null, headers: { authorization } }, [nonsense(o)]),
  )

  test('a revoked key', () => expectUnauthenticated(o, { key: revoked }))

  test('a key that it has just served, once revoked, before the input is checked', async () =>
    expectDead(o, (id) => revokeKey(app.workplace.db, id), [await refusedInput(o), nonsense(o)]))

  test('a key that it has just served, once expired', async () =>
    expectDead(
      o,
      (id) =>
        app.owner`update api_key set expires_at = now() - interval '1 second' where id = ${id}`,
      [await refusedInput(o)],
    ))

  test('a key without one of its scopes, which are checked before the input', async () => {
    for (const input of [sampleOf(o, 'needed'), nonsense(o)]) {
      for (const scope of requiredAccess(o) as Scope[]) {
        const reply = await call({ app, key: lacking[scope] }, o, input)
        expect(reply.status).toBe(403)
        expect(reply.body.error).toMatchObject({
          code: 'missing_scope',
          message: `API key missing scope: ${scope}`,
        })
      }
    }
  })
})

describe.each(keyOperations.filter(finds).map((o) => [o.id, o] as const))(
  '%s does not find',
  (_, o) => {
    const expectNotFound = async (input: Record<string, unknown>) => {
      const reply = await call({ app, key: all }, o, input)
      expect(reply.status).toBe(404)
      expect(reply.body.error?.code).toBe('not_found')
    }

    test('an unknown id', () => expectNotFound(sampleOf(o, 'needed')))

    test('the id of another workspace', async () => {
      const input = await legalInput(other, o)
      // A capability is known by its name, in every workspace.
      if ('id' in input) await expectNotFound(input)
      expect((await call(other, o, input)).status).toBe(o.status)
    })
  },
)

const METHODS: (Method | 'OPTIONS')[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

describe.each(Object.entries(Object.groupBy(operations, ({ path }) => path)))(
  '%s',
  (path, here = []) => {
    const offered = here.map(({ method }) => method)
    const url = path.replaceAll(/:[a-z_]+/gi, newId)

    test('answers other methods with 405 and the allowed ones', async () => {
      const expected = [...offered, ...(offered.includes('GET') ? ['HEAD'] : [])].sort()
      for (const method of METHODS.filter((one) => !offered.includes(one as Method))) {
        const reply = await app.send(method, url, { key: null })
        expect(reply.status).toBe(405)
        expect(reply.body.error?.code).toBe('method_not_allowed')
        expect(reply.headers.get('allow')?.split(', ').sort()).toEqual(expected)
      }
    })

    test('has no undeclared path below it', async () => {
      const reply = await app.send('GET', `${url}/no/such/path`)
      expect(reply.status).toBe(404)
      expect(reply.body.error).toMatchObject({ code: 'not_found', request_id: expect.any(String) })
    })
  },
)

test.each(keyOperations.filter(readsOnly).map((o) => [o.id, o] as const))(
  '%s answers HEAD like GET, without the body',
  async (_, o) => {
    const input = await legalInput(other, o)
    const [get, head] = [
      await call(other, o, input),
      await call({ ...other, method: 'HEAD' }, o, input),
    ]
    expect({ status: head.status, text: head.text }).toEqual({ status: get.status, text: '' })
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  },
)
