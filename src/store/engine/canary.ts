import { createHmac, timingSafeEqual } from 'node:crypto'
import postgres from 'postgres'
import type { ConnectionOptions } from './db.ts'

/**
 * Refuses a database that was used with another secret: its encrypted data would be unreadable. The first server on a database writes the
 * mark. Runs as the role of the URL, because the server's own roles cannot see the table.
 */
export async function checkCanary(options: ConnectionOptions, key: Buffer): Promise<void> {
  const canary = createHmac('sha256', key).update('canary').digest()
  const sql = postgres({ ...options, max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    await sql`insert into deployment (canary) values (${canary}) on conflict do nothing`
    const [row] = await sql<{ canary: Buffer }[]>`select canary from deployment`
    if (row && timingSafeEqual(row.canary, canary)) return
    throw new Error('TENDRIL_SECRET_KEY differs from the key that this database was created with; start with that key')
  } finally {
    await sql.end({ timeout: 5 })
  }
}
