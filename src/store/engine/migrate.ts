import { createHash } from 'node:crypto'
import postgres from 'postgres'
import { listAssets, readText } from '#kernel/assets'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { ConnectionOptions } from './db.ts'
import { LEASE_MS, type NodeState, nodeStates } from './placement.ts'

/** Serialises migrations of one database. Any constant will do. */
const MIGRATION_LOCK = 7_164_011

const MIGRATION = /^sql\/\d{6}-.*\.sql$/

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Migrates the database to this version: each file of sql/ once, in order, each in its own transaction. Refuses a database newer than this
 * program, one whose applied files were edited since, and one that still serves another process, whose tables would change under it.
 */
export async function migrate(options: ConnectionOptions, log: Log): Promise<void> {
  const sql = postgres({ ...options, max: 1, onnotice: () => {}, connect_timeout: 10 })
  try {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    await sql`create table if not exists migration (name text primary key, hash text not null, applied_at timestamptz not null default now())`
    const applied = new Map(
      (await sql<{ name: string; hash: string }[]>`select name, hash from migration`).map((row) => [row.name, row.hash]),
    )
    const pending = pendingOf(applied)
    if (applied.size > 0 && pending.length > 0) await awaitNoNodes(sql)
    for (const { name, text } of pending) {
      await sql.begin(async (tx) => {
        await tx`insert into migration (name, hash) values (${name}, ${hashOf(text)})`
        await tx.unsafe(text)
      })
      log[applied.size > 0 ? 'info' : 'debug']({ migration: name }, 'migrated')
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The migrations that the database lacks. `applied`: hashes of those that it has. */
const pendingOf = (applied: Map<string, string>): { name: string; text: string }[] => {
  const files = listAssets('sql').filter((path) => MIGRATION.test(path))
  if (files.length === 0) throw new Error('this program contains no migrations')
  const unknown = [...applied.keys()].filter((name) => !files.includes(name))
  if (unknown.length > 0) throw new Error(`the database is newer than this program: it has ${unknown.join(', ')}`)
  const texts = files.map((name) => ({ name, text: readText(name) }))
  const edited = texts.find(({ name, text }) => applied.has(name) && applied.get(name) !== hashOf(text))
  if (edited) throw new Error(`migration ${edited.name} was changed after it was applied to this database`)
  return texts.filter(({ name }) => !applied.has(name))
}

/** The lease of a process killed just now ends within this time. */
const NODES_END_WITHIN_MS = LEASE_MS + 500
const CHECK_EVERY_MS = 250

/** Throws if another process still runs on the database. One that was killed or is stopping has until its lease ends. */
const awaitNoNodes = async (sql: postgres.Sql): Promise<void> => {
  for (const until = performance.now() + NODES_END_WITHIN_MS; ; await Bun.sleep(CHECK_EVERY_MS)) {
    const isLast = performance.now() >= until
    // If the clock stepped back, a lease may not end: a process without its lock is dead.
    const living = (await nodeStates(sql)).find(({ expired, ahead, backend }) => backend !== null || !(expired || (ahead && isLast)))
    if (!living) return
    if (isLast) throw new AppError('conflict', refusalOf(living))
  }
}

const refusalOf = ({ incarnation, url, expired, backend }: NodeState): string =>
  `the database must be migrated, but node ${incarnation} at ${url} still uses it; stop every server of the earlier version first${
    expired
      ? `. It has not renewed its lease, but its session is open: if its machine is gone, run select pg_terminate_backend(${backend})`
      : ''
  }`
