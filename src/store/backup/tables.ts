/** The tables of the deployment, as a logical backup sees them. */
import type postgres from 'postgres'
import { fail } from '#kernel/errors'
import { shippedMigrations } from '../engine/migrations.ts'

/** Our schemas; the others belong to Postgres. */
const SCHEMAS = ['public', 'sandbox']

export interface BackupTable {
  /** `public.item`, quoted where it must be. */
  name: string
  /** Quoted, in their order. Without those that Postgres computes. */
  columns: string[]
}

export interface SequenceValue {
  name: string
  value: string
  /** Whether that value has been given out. */
  called: boolean
}

/** In the order of their names. The list of migrations is left out: a restore makes it anew. */
export const backupTables = async (sql: postgres.Sql): Promise<BackupTable[]> => {
  const rows = await sql<{ name: string; columns: string }[]>`
    select format('%I.%I', nspname, relname) as name,
      string_agg(format('%I', attname), ',' order by attnum) as columns
    from pg_class c join pg_namespace n on n.oid = relnamespace
      join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
        and attgenerated = ''
    where relkind = 'r' and nspname in ${sql(SCHEMAS)}
      and relname <> 'migration' and not exists (select from pg_depend
        where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    group by 1 order by 1`
  return rows.map(({ name, columns }) => ({ name, columns: columns.split(',') }))
}

const MAKES = /\bcreate (?:table|sequence) (?:if not exists )?(?:(\w+)\.)?(\w+)/gi

/** Throws if a table or sequence is in our schemas that a restore could not put back. */
export const refuseForeign = async (sql: postgres.Sql): Promise<void> => {
  const own = new Set(
    shippedMigrations().flatMap(({ text }) =>
      Array.from(text.matchAll(MAKES), ([, schema = 'public', name]) => `${schema}.${name}`),
    ),
  )
  // Not those of extensions, nor sequences of columns.
  const found = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name from pg_class c
      join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'S') and nspname in ${sql(SCHEMAS)}
      and relname <> 'migration' and not exists (select from pg_depend
        where classid = 'pg_class'::regclass and objid = c.oid and deptype in ('e', 'a', 'i'))
    order by 1`
  const foreign = found.find(({ name }) => !own.has(name))
  if (foreign)
    fail(
      'invalid_input',
      `${foreign.name} is not part of Tendril, so a restore could not put it back: move it to a schema of its own`,
    )
}

export const countRows = async (sql: postgres.Sql, { name }: BackupTable): Promise<number> => {
  const [row] = await sql.unsafe<{ count: string }[]>(`select count(*) as count from ${name}`)
  return Number(row!.count)
}

/** Those of columns and others. Read after the tables: they only grow. */
export const sequenceValues = async (sql: postgres.Sql): Promise<SequenceValue[]> => {
  const names = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name from pg_class c
      join pg_namespace n on n.oid = relnamespace
    where relkind = 'S' and nspname in ${sql(SCHEMAS)} order by 1`
  const values: SequenceValue[] = []
  for (const { name } of names) {
    const [row] = await sql.unsafe<{ value: string; called: boolean }[]>(
      `select last_value::text as value, is_called as called from ${name}`,
    )
    values.push({ name, value: row!.value, called: row!.called })
  }
  return values
}

export const databaseSize = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ bytes: string }[]>`select pg_database_size(current_database()) as bytes`
  return Number(row!.bytes)
}

/** The name of a table that stands in the way of a restore. */
export const tableInTheWay = async (sql: postgres.Sql): Promise<string | undefined> => {
  const [row] = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name from pg_class c
      join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm') and nspname in ${sql(SCHEMAS)}
      and not exists (select from pg_depend
        where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    order by 1 limit 1`
  return row?.name
}
