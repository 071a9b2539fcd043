/** Databases as earlier versions left them. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import postgres from 'postgres'
import type { ConnectionOptions } from '#store/engine/db'

/** The migrations, as `sql/000001-foundation.sql`, in order. */
export const migrations: string[] = readdirSync('sql')
  .filter((name) => /^\d{6}-.*\.sql$/.test(name))
  .sort()
  .map((name) => `sql/${name}`)

/** Applies only the migrations that `applies` accepts, as an earlier version would. */
export async function migrateOnly(
  options: ConnectionOptions,
  applies: (name: string) => boolean,
): Promise<void> {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  try {
    await sql`create table migration (name text primary key, hash text not null,
      applied_at timestamptz not null default now())`
    for (const name of migrations.filter(applies)) {
      const text = readFileSync(name, 'utf8')
      await sql.begin(async (tx) => {
        await tx`insert into migration (name, hash) values (${name},
          ${createHash('sha256').update(text).digest('hex')})`
        await tx.unsafe(text)
      })
    }
  } finally {
    await sql.end()
  }
}
