/** The invalid input that every operation refuses, and how it reports it. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { TObject } from '@sinclair/typebox'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { scopes } from '#kernel/scopes'
import type { Reply } from '#test/support/app'
import { call, usualOperations as operations } from '#test/support/contract/prepare'
import {
  type Fault,
  faultsOf,
  finds,
  freeTexts,
  sampleOf,
  withValue,
} from '#test/support/contract/sample'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

let session: string
let key: string
const app = useApp()
beforeAll(async () => {
  session = await tokenOf(app, app.tenantId)
  key = (await app.newKey([...scopes])).api_key
})

const expectInvalid = (reply: Reply, path: string) => {
  expect(reply.status).toBe(400)
  expect(reply.body.error).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(path),
    request_id: expect.any(String),
  })
  expect(reply.body.error?.details?.map((detail) => detail.path)).toContain(path)
  return reply.body.error?.details?.find((detail) => detail.path === path)?.message
}

/** False for faults that a URL cannot express: everything in one is text, and null is a word. */
const expressible = (o: NamedOp, { path, value, schema }: Fault): boolean => {
  const inUrl = readsOnly(o) || pathParams(o.path).includes(path)
  return (
    path !== '' &&
    !(inUrl && (value === '' || value === null || (value === 7 && !schema.format && !schema.enum)))
  )
}

/** A credential that the operation accepts. */
const credentialFor = ({ scope }: NamedOp) => ({ key: scope === 'session' ? session : key })

/**
 * Operations whose input has fields of its own only: not those whose body is a record of any
 * fields.
 */
const strict = operations.filter(({ body }) => body === undefined)

const table = (some: NamedOp[]) => some.map((o) => [o.id, o] as const)

const urlOf = (o: NamedOp): string => o.path.replaceAll(/:[a-z_]+/gi, () => Bun.randomUUIDv7())

const fieldsOf = (o: NamedOp): string[] =>
  Object.keys((o.input as TObject).properties).filter((name) => !pathParams(o.path).includes(name))

describe.each(table(strict))('%s refuses', (_, o) => {
  const faults = faultsOf(o.input).filter(
    (fault) => expressible(o, fault) && !(o.anyId && pathParams(o.path).includes(fault.path)),
  )
  if (faults.length > 0)
    test.each(faults.map((fault) => [fault.fault, fault.path, fault] as const))(
      '%s as %s',
      async (_, path, { value }) => {
        expectInvalid(
          await call({ app, key, session }, o, withValue(sampleOf(o, 'whole'), path, value)),
          path,
        )
      },
    )

  test('an unknown field, and suggests the nearest', async () => {
    expectInvalid(
      await call({ app, key, session }, o, { ...sampleOf(o, 'needed'), no_such_field_anywhere: 1 }),
      'no_such_field_anywhere',
    )
    for (const field of fieldsOf(o)) {
      const reply = await call({ app, key, session }, o, {
        ...sampleOf(o, 'needed'),
        [`${field}x`]: 1,
      })
      expect(expectInvalid(reply, `${field}x`)).toStartWith(
        `is not a known field; did you mean ${field}? The `,
      )
    }
  })

  test.each(['__proto__', 'constructor', 'toString'])('a field named %s', async (name) => {
    const input = { ...sampleOf(o, 'needed') }
    Object.defineProperty(input, name, { value: 'x', enumerable: true })
    expectInvalid(await call({ app, key, session }, o, input), name)
  })
})

describe.each(table(strict.filter((o) => freeTexts(o).length > 0)))(
  '%s refuses in its texts',
  (_, o) => {
    test.each(freeTexts(o))('a NUL character (%s)', async (path) => {
      const reply = await call(
        { app, key, session },
        o,
        withValue(sampleOf(o, 'whole'), path, 'a\0b'),
      )
      expect(expectInvalid(reply, path)).toBe('contains a NUL character')
    })

    // A URL cannot contain one: bytes that are not UTF-8 arrive as U+FFFD.
    const inBody = readsOnly(o)
      ? []
      : freeTexts(o).filter((path) => !pathParams(o.path).includes(path))
    if (inBody.length > 0)
      test.each(inBody)('half of a surrogate pair (%s)', async (path) => {
        const reply = await call(
          { app, key, session },
          o,
          withValue(sampleOf(o, 'whole'), path, 'a\ud800b'),
        )
        expect(expectInvalid(reply, path)).toBe('contains an unpaired surrogate')
      })
  },
)

const needed = strict.flatMap((o) =>
  ((o.input as TObject).required ?? [])
    .filter((name) => !pathParams(o.path).includes(name))
    .map((name) => [o.id, name, o] as const),
)
test.each(needed)('%s requires %s', async (_, name, o) => {
  const { [name]: _absent, ...rest } = sampleOf(o, 'whole')
  expect(expectInvalid(await call({ app, key, session }, o, rest), name)).toBe('is required')
})

// What deletes without complaint takes any id: see the tests of MCP servers.
const inPaths = strict
  .filter(finds)
  .flatMap((o) => pathParams(o.path).map((name) => [o.id, name, o] as const))
describe.each(inPaths)('%s refuses a %s', (_, name, o) => {
  const { format } = (o.input as TObject).properties[name]!
  const others =
    format === 'uuid'
      ? ['nope', '00000000-0000-0000-0000-00000000000g']
      : ['No such', `a${'_'.repeat(64)}`]
  test.each([...others, '%', '%00', 'a/b'])('that is %s', async (value) => {
    const reply = await call({ app, key, session }, o, { ...sampleOf(o, 'needed'), [name]: value })
    if (!o.anyId) return void expectInvalid(reply, name)
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found'])
  })

  test('that is repeated outside the path', async () => {
    const reply = readsOnly(o)
      ? await app.send('GET', `${urlOf(o)}?${name}=1`, credentialFor(o))
      : await sendRaw(o, JSON.stringify({ [name]: Bun.randomUUIDv7() }))
    expect(expectInvalid(reply, name)).toStartWith('is already set by the path')
  })
})

describe.each(table(operations.filter(readsOnly)))('%s refuses in its query', (_, o) => {
  test.each([...fieldsOf(o), 'unknown'])('%s given twice', async (name) => {
    expect(
      expectInvalid(
        await app.send('GET', `${urlOf(o)}?${name}=1&${name}=1`, credentialFor(o)),
        name,
      ),
    ).toBe('must not be given twice')
  })
})

/** Sends a body that `call` would never make of an input. */
const sendRaw = (
  o: NamedOp,
  body: string,
  { headers = {}, search = '' }: { headers?: Record<string, string>; search?: string } = {},
) => app.send(o.method, urlOf(o) + search, { body, headers, ...credentialFor(o) })

/** A valid body of any size: spaces are legal around JSON. */
const bodyOf = (o: NamedOp, size: number): string => {
  const input = sampleOf(o, 'needed')
  for (const name of pathParams(o.path)) delete input[name]
  return JSON.stringify(input).padEnd(size, ' ')
}

describe.each(table(operations.filter((o) => !readsOnly(o))))('%s refuses', (_, o) => {
  test.each([
    ['a body that is not JSON', '{"a":', 'the body is not valid JSON'],
    ['a list', '[]', 'the body must be a JSON object'],
    ['a bare string', '"text"', 'the body must be a JSON object'],
    ['null', 'null', 'the body must be a JSON object'],
  ])('%s', async (_, body, message) => {
    const reply = await sendRaw(o, body)
    expect(reply.status).toBe(400)
    expect(reply.body.error).toMatchObject({ code: 'invalid_input', message })
  })

  test('text that is not UTF-8', async () => {
    const reply = await fetch(app.url + urlOf(o), {
      method: o.method,
      headers: {
        authorization: `Bearer ${credentialFor(o).key}`,
        'content-type': 'application/json',
      },
      body: Buffer.from('{"a":"\xff"}', 'latin1'),
    })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({
      error: { code: 'invalid_input', message: 'the body is not valid UTF-8' },
    })
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'multipart/form-data',
  ])('a body of type %s', async (type) => {
    const reply = await sendRaw(o, '{}', { headers: { 'content-type': type } })
    expect(reply.status).toBe(415)
    expect(reply.body.error?.code).toBe('unsupported_media_type')
  })

  test('a query string', async () => {
    const reply = await sendRaw(o, bodyOf(o, 0), { search: '?a=1' })
    expect(reply.status).toBe(400)
    expect(reply.body.error?.message).toContain('takes no query')
  })

  test('a body over its limit, with or without a Content-Length', async () => {
    const announced = await sendRaw(o, bodyOf(o, o.bodyLimit + 1))
    expect(announced.status).toBe(413)
    expect(announced.body.error).toMatchObject({
      code: 'payload_too_large',
      request_id: expect.any(String),
    })
    const chunked = await fetch(app.url + urlOf(o), {
      method: o.method,
      headers: {
        authorization: `Bearer ${credentialFor(o).key}`,
        'content-type': 'application/json',
      },
      body: new Blob([bodyOf(o, o.bodyLimit + 1)]).stream(),
    })
    expect(chunked.status).toBe(413)
    expect(await chunked.json()).toMatchObject({ error: { code: 'payload_too_large' } })
  })

  test('a key of more than 200 characters or none', async () => {
    for (const given of ['k'.repeat(201), '']) {
      const reply = await call(
        { app, key, session, headers: { 'idempotency-key': given } },
        o,
        sampleOf(o, 'needed'),
      )
      expectInvalid(reply, 'Idempotency-Key')
    }
  })
})

test.each(table(operations.filter((o) => !readsOnly(o))))(
  '%s reads a body of exactly its limit',
  async (_, o) => {
    expect((await sendRaw(o, bodyOf(o, o.bodyLimit))).status).not.toBe(413)
  },
)
