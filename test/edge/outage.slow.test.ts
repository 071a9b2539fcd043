import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { newApiKey } from '#kernel/api-key'
import type { ConnectionOptions } from '#store/engine/db'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { type DatabaseProxy, startProxy } from '#test/support/database/proxy'

/** A way in which a database becomes unavailable for everyone, and available again. */
type Outage = (
  proxy: DatabaseProxy,
  options: ConnectionOptions,
) => { cut(): Promise<void>; restore(): Promise<void> }

const unreachable: Outage = (proxy) => ({ cut: () => proxy.refuse(), restore: () => proxy.open() })

const closed: Outage = (_, { database = '', ...options }) => {
  const onServer = async (allowed: boolean) => {
    const sql = postgres({ ...options, database: 'postgres', max: 1, onnotice: () => {} })
    await sql`alter database ${sql(database)} with allow_connections ${sql.unsafe(String(allowed))}`
    if (!allowed)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database}`
    await sql.end()
  }
  return { cut: () => onServer(false), restore: () => onServer(true) }
}

const expectUnavailable = async (app: TestApp) => {
  const replies = [
    await app.send('GET', 'overview'),
    await app.send('GET', 'overview', { key: newApiKey() }),
    await app.send('POST', 'batches', { body: { count: 1 } }),
    await app.send('POST', 'automation/pause-all', { headers: { 'idempotency-key': 'key' } }),
  ]
  for (const reply of replies) {
    expect(reply.status).toBe(503)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(reply.body.error).toMatchObject({
      code: 'unavailable',
      request_id: reply.headers.get('x-request-id')!,
    })
  }
}

test.each([
  ['cannot be reached', unreachable],
  ['refuses all connections', closed],
])(
  'while the database %s, whatever needs it answers 503 with Retry-After; afterwards all works as before',
  async (_, outage) => {
    await using db = await freshDb()
    await using proxy = await startProxy(db.options)
    await using app = await testApp({ database: proxy.options })
    const { cut, restore } = outage(proxy, db.options)
    expect((await app.send('GET', 'overview')).status).toBe(200)

    await cut()
    await expectUnavailable(app)
    await expectUnavailable(app)
    for (const path of ['/health', '/api/v1/openapi.json', '/api/v1/capabilities'])
      expect((await app.send('GET', path, { key: null })).status).toBe(200)

    await restore()
    const read = () => app.send('GET', 'overview')
    expect((await eventually(read, ({ status }) => status === 200)).status).toBe(200)
    const write = () =>
      app.send('POST', 'automation/resume-all', { headers: { 'idempotency-key': 'after' } })
    expect((await eventually(write, ({ status }) => status === 200)).status).toBe(200)
  },
)
