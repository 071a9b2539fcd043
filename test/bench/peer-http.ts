/**
 * A bare server for comparison, in a process of its own: one query or transaction a request, over
 * Elysia or, with PEER=hono, over Hono, without keys, gate or checks. Its answers carry the same
 * records as ours.
 */
import { Elysia } from 'elysia'
import { Hono } from 'hono'
import { connectionOptionsOf } from '#server/database-url'
import { openPeer, queries } from './peer-sql.ts'

const options = connectionOptionsOf(process.env.DATABASE_URL ?? '')
const reads = openPeer(options)
// Separate pools, as in our server: a transaction that begins behind a query would not have the
// connection to itself.
const writes = openPeer(options)
const listenOn = { port: Number(process.env.PORT), hostname: '127.0.0.1' }
const tenantOf = (headers: Record<string, string | undefined>): string => headers['x-tenant'] ?? ''

const elysia = () =>
  new Elysia()
    .get('/health', () => ({ status: 'ok' }))
    .get('/api/v1/growth/items', ({ headers }) =>
      queries.items(reads, { tenantId: tenantOf(headers) }),
    )
    .get('/api/v1/growth/connection', ({ headers }) =>
      queries.connection(reads, { tenantId: tenantOf(headers) }),
    )
    .put('/api/v1/growth/profile', ({ headers, body }) =>
      queries.profile(writes, { tenantId: tenantOf(headers), body }),
    )
    .post('/api/v1/growth/items/:id/approve', ({ headers, params }) =>
      queries.approve(writes, { tenantId: tenantOf(headers), itemId: params.id }),
    )
    .listen(listenOn)

const hono = () => {
  const app = new Hono()
  const tenantId = (c: { req: { header(name: string): string | undefined } }) =>
    c.req.header('x-tenant') ?? ''
  app.get('/health', (c) => c.json({ status: 'ok' }))
  app.get('/api/v1/growth/items', async (c) =>
    c.json(await queries.items(reads, { tenantId: tenantId(c) })),
  )
  app.get('/api/v1/growth/connection', async (c) =>
    c.json(await queries.connection(reads, { tenantId: tenantId(c) })),
  )
  app.put('/api/v1/growth/profile', async (c) =>
    c.json(await queries.profile(writes, { tenantId: tenantId(c), body: await c.req.json() })),
  )
  app.post('/api/v1/growth/items/:id/approve', async (c) =>
    c.json(await queries.approve(writes, { tenantId: tenantId(c), itemId: c.req.param('id') })),
  )
  Bun.serve({ ...listenOn, fetch: app.fetch })
}

if (process.env.PEER === 'hono') hono()
else elysia()

// A profiler writes its results only when the process exits by itself.
process.on('SIGTERM', () => process.exit(0))
