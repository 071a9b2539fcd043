/** A bare server to compare with, a process of its own: Elysia, one query or transaction a request, no key, no gate, no check. */
import { Elysia } from 'elysia'
import { optionsOf } from '#src/database-url'
import { openPeer, queries } from './peer-sql.ts'

const sql = openPeer(optionsOf(process.env.DATABASE_URL ?? ''))
const tenantOf = (headers: Record<string, string | undefined>): string => headers['x-tenant'] ?? ''

new Elysia()
  .get('/health', () => ({ status: 'ok' }))
  .get('/api/v1/growth/items', ({ headers }) => queries.items(sql, { tenantId: tenantOf(headers) }))
  .get('/api/v1/growth/connection', ({ headers }) => queries.connection(sql, { tenantId: tenantOf(headers) }))
  .put('/api/v1/growth/profile', ({ headers }) => queries.profile(sql, { tenantId: tenantOf(headers) }))
  .post('/api/v1/growth/items/:id/approve', ({ headers, params }) =>
    queries.approve(sql, { tenantId: tenantOf(headers), itemId: params.id }),
  )
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' })
