import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { type Applied, adopt, isBeforeBaseline, requireLastBefore } from './adoption.ts'
import type { ConnectionOptions } from './db.ts'
import { BASELINE, type Migration, shippedMigrations, versionOf } from './migrations.ts'
import { livingNode, type NodeState } from './nodes.ts'
import { asOwner } from './owner.ts'

/** Serialises migrations of one database. Any constant will do. */
const MIGRATION_LOCK = 7_164_011

const MIGRATION_TABLE = `create table if not exists migration (name text primary key,
  hash text not null, applied_at timestamptz not null default now())`

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Migrates the database to this version: each migration once, in order, each in its own
 * transaction. Refuses a database newer than this program, one whose applied migrations were edited
 * since, and one that still serves another process, whose tables would change under it.
 */
export async function migrate(
  options: ConnectionOptions,
  log: Log,
  migrations: Migration[] = shippedMigrations(),
): Promise<void> {
  await asOwner(options, async (sql) => {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    await sql.unsafe(MIGRATION_TABLE)
    const applied = await appliedTo(sql)
    const pending = pendingOf(applied, migrations)
    if (applied.size > 0 && pending.length > 0) {
      await requireNoNodes(sql)
      log.info(
        { from: versionOf([...applied.keys()]), to: lastOf(migrations) },
        'migrating the database',
      )
    }
    const adopts = isBeforeBaseline(applied)
    for (const { name, text } of pending) {
      await sql.begin(async (tx) => {
        if (adopts && name === BASELINE) await adopt(tx, text)
        else await tx.unsafe(text)
        await tx`insert into migration (name, hash) values (${name}, ${hashOf(text)})`
      })
      log[applied.size > 0 ? 'info' : 'debug']({ migration: name }, 'migrated')
    }
  })
}

/**
 * For commands, which run beside servers. Throws unless the schema is the one of this program.
 * Changes nothing, except that with `makesSchema` it makes the schema in an empty database.
 */
export async function requireSchema(
  options: ConnectionOptions,
  log: Log,
  { makesSchema }: { makesSchema: boolean },
): Promise<void> {
  const applied = await appliedIn(options)
  const migrations = shippedMigrations()
  if (pendingOf(applied, migrations).length === 0) return
  if (applied.size === 0 && makesSchema) return await migrate(options, log)
  throw new AppError(
    'conflict',
    applied.size === 0 ? EMPTY : describeOutdated(applied, migrations),
    { reason: 'unfit_database' },
  )
}

/** The version of the schema that this program needs: `000124`. */
export const neededVersion = (): string => lastOf(shippedMigrations())

export interface NextMigrations {
  /** The version of the database; `none` if it is empty. */
  from: string
  /** What the next start of a server runs, in this order. */
  migrations: string[]
  /** Why the next start refuses the database. */
  refusal: string | null
}

/** What the next start of a server does to the schema. Changes nothing. */
export async function nextMigrations(
  options: ConnectionOptions | undefined,
): Promise<NextMigrations> {
  const applied = options ? await appliedIn(options) : new Map<string, string>()
  const shipped = shippedMigrations()
  const from = versionOf([...applied.keys()])
  try {
    const migrations = pendingOf(applied, shipped).map(({ name }) => name)
    return { from, migrations, refusal: null }
  } catch (cause) {
    const refusal = cause instanceof Error ? cause.message : String(cause)
    return { from, migrations: [], refusal }
  }
}

/**
 * Makes the schema that these migrations make, in an empty database and in the transaction of
 * `sql`, as `migrate` would.
 */
export const makeSchemaIn = async (sql: postgres.Sql, names: readonly string[]): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
  await sql.unsafe(MIGRATION_TABLE)
  for (const { name, text } of shippedMigrations().filter((one) => names.includes(one.name))) {
    await sql.unsafe(text)
    await sql`insert into migration (name, hash) values (${name}, ${hashOf(text)})`
  }
}

/** Throws if a database with these migrations is newer than this program, or not one of ours. */
export const requireKnownSchema = (applied: { name: string; hash: string }[]): void =>
  void pendingOf(new Map(applied.map(({ name, hash }) => [name, hash])), shippedMigrations())

const EMPTY = 'the database is empty: start the server, or create a workspace by `tenant create`'

const describeOutdated = (applied: Applied, migrations: Migration[]): string =>
  `the database has version ${versionOf([...applied.keys()])}, and this program needs version ${lastOf(migrations)}: ` +
  'start the server of this program, which migrates it'

/** None in an empty database. */
const appliedIn = (options: ConnectionOptions): Promise<Applied> =>
  asOwner(options, async (sql) => {
    const [found] = await sql`select to_regclass('migration') is not null as made`
    return found!.made ? await appliedTo(sql) : new Map()
  })

const appliedTo = async (sql: postgres.Sql): Promise<Applied> => {
  const rows = await sql<{ name: string; hash: string }[]>`select name, hash from migration`
  return new Map(rows.map((row) => [row.name, row.hash]))
}

const lastOf = (migrations: Migration[]): string => versionOf(migrations.map(({ name }) => name))

/** The migrations that the database lacks. */
const pendingOf = (applied: Applied, migrations: Migration[]): Migration[] => {
  if (isBeforeBaseline(applied)) {
    requireLastBefore(applied)
    return migrations
  }
  const known = migrations.map(({ name }) => name)
  const unknown = [...applied.keys()].filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(`the database is newer than this program: it has ${unknown.join(', ')}`)
  const edited = migrations.find(
    ({ name, text }) => applied.has(name) && applied.get(name) !== hashOf(text),
  )
  if (edited)
    throw new Error(`migration ${edited.name} was changed after it was applied to this database`)
  return migrations.filter(({ name }) => !applied.has(name))
}

/** Throws if another process still runs on the database. */
const requireNoNodes = async (sql: postgres.Sql): Promise<void> => {
  const living = await livingNode(sql)
  if (living) throw new AppError('conflict', refusalOf(living), { reason: 'unfit_database' })
}

const refusalOf = ({ incarnation, url, expired, backend }: NodeState): string =>
  `the database must be migrated, but node ${incarnation} at ${url} still uses it; stop every server of the earlier version first${
    expired
      ? `. It has not renewed its lease, but its session is open: if its machine is gone, run select pg_terminate_backend(${backend})`
      : ''
  }`
