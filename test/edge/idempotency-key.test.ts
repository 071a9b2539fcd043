/** What an Idempotency-Key can be, however it is encoded, and what it does for a call of MCP. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { connectMcp } from '#test/support/mcp/mcp'
import { use, useSharedApp } from '#test/support/use'

const app = useSharedApp()
const mcp = use(() => connectMcp(app.url, { key: app.key }))

/** The header as clients send text that is not ASCII: one character for each byte of its UTF-8. */
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

const learn = (key: string, note = 'once') =>
  app.send('POST', 'learnings', {
    body: { kind: 'worked', note },
    headers: { 'idempotency-key': key },
  })

const full = {
  ASCII: 'k'.repeat(200),
  Latin: 'é'.repeat(200),
  Cyrillic: 'ж'.repeat(200),
  emoji: '😀'.repeat(200),
}

for (const [script, key] of Object.entries(full))
  test(`200 characters of ${script} are a key, 201 are not`, async () => {
    const [first, again] = [await learn(bytes(key)), await learn(bytes(key))]
    expect([
      first.status,
      again.status,
      again.text,
      again.headers.get('idempotency-replayed'),
    ]).toEqual([201, 201, first.text, 'true'])
    const [row] =
      await app.owner`select 1 from idempotency where tenant_id = ${app.tenantId} and key = ${key}`
    expect(row).toBeDefined()
    const longer = await learn(bytes(`${key}${[...key][0]}`))
    expect([longer.status, longer.body.error?.message]).toEqual([
      400,
      'Idempotency-Key must have 1 to 200 characters',
    ])
  })

test('bytes that are not UTF-8 are read as Latin-1', async () => {
  const [first, again] = [await learn('caf\xe9', 'latin'), await learn('caf\xe9', 'latin')]
  expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect((await learn(bytes('café'), 'latin')).text).toBe(first.text)
})

test('a key means the same over REST and MCP, and has the same limits', async () => {
  const call = (key: string, note = 'both') =>
    mcp.call('growth_add_learning', { kind: 'worked', note }, { 'tendril/idempotency-key': key })
  const overRest = await learn(bytes('ключ 😀'), 'both')
  const overMcp = await call('ключ 😀')
  expect([
    overMcp._meta?.['tendril/idempotency-replayed'],
    overMcp.structuredContent as object,
  ]).toEqual([true, overRest.body])
  expect((await call('🌱'.repeat(200), 'long')).isError).toBeFalsy()
  for (const [key, message] of [
    ['😀'.repeat(201), 'Idempotency-Key must have 1 to 200 characters'],
    ['', 'Idempotency-Key must have 1 to 200 characters'],
    ['a\0b', 'Idempotency-Key contains a NUL character'],
    ['\ud800', 'Idempotency-Key contains an unpaired surrogate'],
  ] as const)
    expect((await call(key))._meta?.['tendril/error']).toMatchObject({
      code: 'invalid_input',
      message,
    })
})

describe('the same key of calls over MCP', () => {
  const key = (name = 'tendril/idempotency-key') => ({ [name]: newId() })

  test.each(['tendril/idempotency-key', 'idempotencyKey'])(
    'sent as %s runs once and replays',
    async (name) => {
      const meta = key(name)
      const first = await mcp.call('growth_create_batch', { count: 1 }, meta)
      const second = await mcp.call('growth_create_batch', { count: 1 }, meta)
      expect(second.structuredContent).toEqual(first.structuredContent!)
      expect([first._meta, second._meta]).toEqual([
        undefined,
        { 'tendril/idempotency-replayed': true },
      ])
    },
  )

  test('given as an argument runs once and replays, too, and so does one that a client and its model give alike', async () => {
    const idempotency_key = newId()
    const first = await mcp.call('growth_create_batch', { count: 1, idempotency_key })
    const second = await mcp.call('growth_create_batch', { count: 1, idempotency_key })
    const third = await mcp.call(
      'growth_create_batch',
      { count: 1, idempotency_key },
      { 'tendril/idempotency-key': idempotency_key },
    )
    const ids = [first, second, third].map(
      ({ structuredContent }) => (structuredContent as { batch: { id: string } }).batch.id,
    )
    expect(new Set(ids).size).toBe(1)
    expect([second._meta, third._meta]).toEqual([
      { 'tendril/idempotency-replayed': true },
      { 'tendril/idempotency-replayed': true },
    ])
  })

  test.each([
    ['a number', 7, 'idempotency_key must be text'],
    [
      'another than that of the client',
      'b',
      'idempotency_key differs from tendril/idempotency-key in _meta: give one of them',
    ],
  ])('as an argument that is %s is refused', async (_, idempotency_key, message) => {
    const { content, _meta } = await mcp.call(
      'growth_update_profile',
      { voice: 'dry', idempotency_key },
      { 'tendril/idempotency-key': 'a' },
    )
    expect(content[0]).toMatchObject({ text: `invalid_input: ${message}` })
    expect(_meta).toMatchObject({ 'tendril/error': { details: [{ path: 'idempotency_key' }] } })
  })

  test('replays over REST what was done over MCP', async () => {
    const meta = key()
    const first = await mcp.call('growth_update_profile', { voice: 'dry' }, meta)
    const headers = { 'idempotency-key': Object.values(meta)[0]! }
    const again = await app.send('PUT', 'profile', { body: { voice: 'dry' }, headers })
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual([
      'true',
      first.structuredContent as never,
    ])
  })

  test('with another input is refused, and so is a key that is not text', async () => {
    const meta = key()
    await mcp.call('growth_update_profile', { voice: 'dry' }, meta)
    const reused = await mcp.call('growth_update_profile', { voice: 'wet' }, meta)
    expect(reused._meta).toMatchObject({ 'tendril/error': { code: 'idempotency_key_reused' } })
    const wrong = await mcp.call(
      'growth_update_profile',
      { voice: 'dry' },
      { 'tendril/idempotency-key': 7 },
    )
    expect(wrong._meta).toMatchObject({ 'tendril/error': { code: 'invalid_input' } })
  })
})
