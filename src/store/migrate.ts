import { createHash } from 'node:crypto'
import postgres from 'postgres'
import type { Log } from '#kernel/log'
import { listAssets, readText } from './assets.ts'
import type { ConnectionOptions } from './db.ts'

/** Serialises migrations of one database; any constant will do. */
const MIGRATION_LOCK = 7_164_011

const MIGRATION = /^sql\/\d{6}-.*\.sql$/

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Brings the database up to this version: each file of sql/ once, in order, each in a transaction of its own. Refuses a
 * database that is newer than this program, and one whose applied files were edited afterwards.
 */
export async function migrate(options: ConnectionOptions, log: Log): Promise<void> {
  const sql = postgres({ ...options, max: 1, onnotice: () => {}, connect_timeout: 10 })
  try {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    await sql`create table if not exists migration (name text primary key, hash text not null, applied_at timestamptz not null default now())`
    const applied = new Map(
      (await sql<{ name: string; hash: string }[]>`select name, hash from migration`).map((row) => [row.name, row.hash]),
    )
    const files = listAssets('sql').filter((path) => MIGRATION.test(path))
    if (files.length === 0) throw new Error('this program carries no migrations')
    refuseUnknown(applied, files)
    for (const name of files) {
      const text = readText(name)
      if (applied.get(name) === hashOf(text)) continue
      if (applied.has(name)) throw new Error(`migration ${name} was changed after it had been applied to this database`)
      await sql.begin(async (tx) => {
        await tx`insert into migration (name, hash) values (${name}, ${hashOf(text)})`
        await tx.unsafe(text)
      })
      log.info({ migration: name }, 'migrated')
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const refuseUnknown = (applied: Map<string, string>, files: string[]): void => {
  const unknown = [...applied.keys()].filter((name) => !files.includes(name))
  if (unknown.length > 0) throw new Error(`the database is newer than this program: it has ${unknown.join(', ')}`)
}
