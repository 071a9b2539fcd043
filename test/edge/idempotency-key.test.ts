/** What an Idempotency-Key can be: 200 characters of any script, however they are encoded. */
import { expect, test } from 'bun:test'
import { connectMcp } from '#test/support/mcp/mcp'
import { useApp } from '#test/support/use'

const app = useApp()

/** The header as clients send text that is not ASCII: one character for each byte of its UTF-8. */
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

const learn = (key: string, note = 'once') =>
  app.send('POST', 'learnings', { body: { kind: 'worked', note }, headers: { 'idempotency-key': key } })

const full = { ASCII: 'k'.repeat(200), Latin: 'é'.repeat(200), Cyrillic: 'ж'.repeat(200), emoji: '😀'.repeat(200) }

for (const [script, key] of Object.entries(full))
  test(`200 characters of ${script} are a key, 201 are not`, async () => {
    const [first, again] = [await learn(bytes(key)), await learn(bytes(key))]
    expect([first.status, again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, 201, first.text, 'true'])
    const [row] = await app.owner`select 1 from idempotency where tenant_id = ${app.tenantId} and key = ${key}`
    expect(row).toBeDefined()
    const longer = await learn(bytes(`${key}${[...key][0]}`))
    expect([longer.status, longer.body.error?.message]).toEqual([400, 'Idempotency-Key must have 1 to 200 characters'])
  })

test('bytes that are not UTF-8 are read as Latin-1', async () => {
  const [first, again] = [await learn('caf\xe9', 'latin'), await learn('caf\xe9', 'latin')]
  expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect((await learn(bytes('café'), 'latin')).text).toBe(first.text)
})

test('a key means the same over REST and MCP, and has the same limits', async () => {
  await using mcp = await connectMcp(app.url, { key: app.key })
  const call = (key: string, note = 'both') => mcp.call('growth_add_learning', { kind: 'worked', note }, { 'tendril/idempotency-key': key })
  const overRest = await learn(bytes('ключ 😀'), 'both')
  const overMcp = await call('ключ 😀')
  expect([overMcp._meta?.['tendril/idempotency-replayed'], overMcp.structuredContent as object]).toEqual([true, overRest.body])
  expect((await call('🌱'.repeat(200), 'long')).isError).toBeFalsy()
  for (const [key, message] of [
    ['😀'.repeat(201), 'Idempotency-Key must have 1 to 200 characters'],
    ['', 'Idempotency-Key must have 1 to 200 characters'],
    ['a\0b', 'Idempotency-Key contains a NUL character'],
    ['\ud800', 'Idempotency-Key contains an unpaired surrogate'],
  ] as const)
    expect((await call(key))._meta?.['tendril/error']).toMatchObject({ code: 'invalid_input', message })
})
