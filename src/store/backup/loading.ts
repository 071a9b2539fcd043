/** Fills an empty database with the rows of a backup, in one transaction. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type postgres from 'postgres'
import { fail } from '#kernel/errors'
import { type ConnectionOptions, withDeadline } from '../engine/db.ts'
import { makeSchemaIn } from '../engine/migrate.ts'
import { openBackupSession, refuseHiddenRows, takeBackupLock } from './session.ts'
import {
  type BackupTable,
  backupTables,
  countRows,
  type SequenceValue,
  sequenceValues,
  tableInTheWay,
} from './tables.ts'

/** Disposing without `commit` leaves the database empty. */
export interface DatabaseLoading extends AsyncDisposable {
  /** The tables of the backup, before their rows. Throws if the database has no such ones. */
  expect(tables: BackupTable[]): void
  /** Rows of a table in the form of COPY. Those of a table come one after the other. */
  rows(table: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Throws unless each table has that many rows. `madeAt`: the time of the backup, which the
   * database then bears in place of an identity, so that no server takes it for its own.
   */
  commit(
    counts: ReadonlyMap<string, number>,
    sequences: SequenceValue[],
    madeAt?: string,
  ): Promise<void>
}

interface ForeignKey {
  tbl: string
  name: string
  made: string
}

/**
 * Rows come in no order that suits foreign keys, and as they were when triggers had already seen
 * them. The owner of the tables need not be a superuser for any of this.
 */
const openTables = async (sql: postgres.Sql): Promise<() => Promise<void>> => {
  const tables = await backupTables(sql)
  const keys = await sql<ForeignKey[]>`
    select conrelid::regclass::text as tbl, quote_ident(conname) as name,
      pg_get_constraintdef(oid) as made
    from pg_constraint where contype = 'f' and connamespace <> 'pg_catalog'::regnamespace`
  const forced = await sql<{ tbl: string }[]>`
    select oid::regclass::text as tbl from pg_class where relforcerowsecurity`
  const all = (statements: string[]) => sql.unsafe(statements.join(';\n'))
  await all([
    ...keys.map(({ tbl, name }) => `alter table ${tbl} drop constraint ${name}`),
    ...forced.map(({ tbl }) => `alter table ${tbl} no force row level security`),
    ...tables.map(({ name }) => `alter table ${name} disable trigger user`),
    // Rows that migrations have made are in the backup too.
    ...tables.map(({ name }) => `delete from ${name}`),
  ])
  return async () => {
    await all([
      ...keys.map(({ tbl, name, made }) => `alter table ${tbl} add constraint ${name} ${made}`),
      ...tables.map(({ name }) => `alter table ${name} enable trigger user`),
      ...forced.map(({ tbl }) => `alter table ${tbl} force row level security`),
    ])
  }
}

/**
 * What a backup says of tables becomes part of statements, so only what the database itself says is
 * taken.
 */
class ExpectedTables {
  readonly #expected = new Map<string, BackupTable>()

  constructor(private readonly own: BackupTable[]) {}

  expect(tables: BackupTable[]): void {
    for (const { name, columns } of tables) {
      const own =
        this.own.find((table) => table.name === name) ??
        fail('invalid_input', `${shown(name)} is in the backup, but is not a table of Tendril`)
      const given = columns.map(
        (column) =>
          own.columns.find((one) => unquoted(one) === unquoted(column)) ??
          fail('invalid_input', `${name} of the backup has a strange column: ${shown(column)}`),
      )
      if (new Set(given).size !== own.columns.length || given.length !== own.columns.length)
        fail('invalid_input', `${name} of the backup must have each column of the table once`)
      this.#expected.set(name, { name, columns: given })
    }
  }

  named(name: string): BackupTable {
    return (
      this.#expected.get(name) ??
      fail(
        'invalid_input',
        `${shown(name)} has rows in the backup, but is not in its list of tables`,
      )
    )
  }
}

/** Versions of Postgres differ in which names they quote. */
const unquoted = (column: string): string => column.replace(/^"(.*)"$/, '$1')

/** Of a text that anybody may have written. */
const shown = (text: string): string => JSON.stringify(text.slice(0, 100))

/** How long the database may take for a piece of rows, or to end a COPY. */
const COPY_MS = 600_000

/** One COPY at a time. */
class Copying {
  #table: string | undefined
  #out: Writable | undefined
  #failed = Promise.withResolvers<never>()
  #failure: unknown

  constructor(private readonly sql: postgres.Sql) {}

  async write(table: BackupTable, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (table.name !== this.#table) {
      await this.end()
      await this.#begin(table)
    }
    for await (const chunk of bytes) {
      if (this.#failure !== undefined) throw this.#failure
      if (!this.#out!.write(chunk)) await this.#unlessFailed(once(this.#out!, 'drain'))
    }
  }

  async #begin({ name, columns }: BackupTable): Promise<void> {
    const query = this.sql.unsafe(`copy ${name} (${columns.join(', ')}) from stdin`)
    const out = await query.writable()
    this.#failed = Promise.withResolvers<never>()
    this.#failed.promise.catch(() => {})
    const reject = (cause: unknown): void => {
      this.#failure ??= cause
      this.#failed.reject(cause)
    }
    // The stream was the query's answer. What fails after it has taken everything would be told to
    // the query alone, which takes no second answer.
    Object.assign(query, { reject })
    out.on('error', reject)
    this.#out = out
    this.#table = name
  }

  #unlessFailed(step: Promise<unknown>): Promise<unknown> {
    step.catch(() => {})
    const until = performance.now() + COPY_MS
    return withDeadline(Promise.race([this.#failed.promise, step]), undefined, until)
  }

  async end(): Promise<void> {
    const out = this.#out
    if (!out) return
    this.#out = undefined
    this.#table = undefined
    out.end()
    await this.#unlessFailed(once(out, 'finish'))
    if (this.#failure !== undefined) throw this.#failure
  }
}

const setSequences = async (sql: postgres.Sql, sequences: SequenceValue[]): Promise<void> => {
  const own = (await sequenceValues(sql)).map(({ name }) => name)
  for (const { name, value, called } of sequences) {
    if (!own.includes(name))
      fail('invalid_input', `${shown(name)} is in the backup, but is not a sequence of Tendril`)
    await sql`select setval(${name}::regclass, ${value}::bigint, ${called})`
  }
}

const requireCounts = async (
  sql: postgres.Sql,
  counts: ReadonlyMap<string, number>,
): Promise<void> => {
  for (const table of await backupTables(sql)) {
    const [found, listed] = [await countRows(sql, table), counts.get(table.name) ?? 0]
    if (found !== listed)
      fail('invalid_input', `${table.name} has ${found} rows, and the backup lists ${listed}`)
  }
}

/** The schema of an earlier version has no place for it: its migration reads a comment. */
const noteTime = async (sql: postgres.Sql, madeAt: string): Promise<void> => {
  const [found] = await sql<{ has: boolean; comment: string }[]>`
    select count(*) > 0 as has, quote_literal(${`restored ${madeAt}`}) as comment
    from pg_attribute where attrelid = 'deployment'::regclass and attname = 'identity'`
  if (!found!.has) await sql.unsafe(`comment on table deployment is ${found!.comment}`)
  else await sql`update deployment set identity = ${sql.json({ restored: madeAt })}`
}

/** Makes the schema that the backup was made with. Throws if the database is not empty. */
export const beginLoading = async (
  options: ConnectionOptions,
  migrations: readonly string[],
): Promise<DatabaseLoading> => {
  const sql = openBackupSession(options)
  const dispose = () => sql.end({ timeout: 5 })
  try {
    if (!(await takeBackupLock(sql)))
      fail('unavailable', 'a backup or a restore of this database runs: wait until it is done')
    await sql.unsafe('begin')
    const inTheWay = await tableInTheWay(sql)
    if (inTheWay !== undefined)
      fail(
        'invalid_input',
        `the database is not empty, since it has ${inTheWay}: restore into a new one`,
      )
    await makeSchemaIn(sql, migrations)
    const closeTables = await openTables(sql)
    await refuseHiddenRows(sql)
    const copying = new Copying(sql)
    const tables = new ExpectedTables(await backupTables(sql))
    return {
      expect: (listed) => tables.expect(listed),
      rows: async (table, bytes) => await copying.write(tables.named(table), bytes),
      commit: async (counts, sequences, madeAt) => {
        await copying.end()
        await requireCounts(sql, counts)
        if (madeAt !== undefined) await noteTime(sql, madeAt)
        await closeTables()
        await setSequences(sql, sequences)
        await sql.unsafe('commit')
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (cause) {
    await dispose()
    throw cause
  }
}
