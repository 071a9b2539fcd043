/**
 * Databases from before the baseline, whose schema was made by 89 migrations. A database with
 * exactly these becomes a database of the baseline as it is. An older one needs the last program
 * that had them.
 */
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { AppError } from '#kernel/errors'
import { BASELINE, versionOf } from './migrations.ts'
import { dumpSchema } from './schema-dump.ts'

/** SHA-256 of the 89 migrations, with a line of name and hash for each. */
const LAST_BEFORE = '970b1ba4e762720291a2b3c80e601c7a7e57a66daa4a71065abc8ac01254d3aa'
/** The last commit with these migrations. */
const COMMIT = 'a0a86b787679ca90f31c511aa90959e30b1f6f9c'

/** Hashes of the applied migrations, by name. */
export type Applied = Map<string, string>

export const isBeforeBaseline = (applied: Applied): boolean =>
  applied.size > 0 && [...applied.keys()].every((name) => name < BASELINE)

/** Throws if the database is from before the baseline but not from the last version before it. */
export const requireLastBefore = (applied: Applied): void => {
  const lines = [...applied].toSorted().map(([name, hash]) => `${name} ${hash}\n`)
  if (createHash('sha256').update(lines.join('')).digest('hex') === LAST_BEFORE) return
  throw new AppError(
    'conflict',
    `the database has version ${versionOf([...applied.keys()])}, which this program cannot migrate: ` +
      `start the server of commit ${COMMIT} once, which brings it to version 000123, and then this one`,
    { reason: 'unfit_database' },
  )
}

/**
 * Turns a database of the last version before the baseline into one of the baseline, in the given
 * transaction. Throws if its schema is not the one that `baseline` makes. Versions of Postgres
 * write the same expression differently, so it makes the baseline's schema on the same Postgres,
 * compares the two, and undoes that again.
 */
export async function adopt(sql: postgres.TransactionSql, baseline: string): Promise<void> {
  const found = await dumpSchema(sql)
  await sql`savepoint aside`
  await moveAside(sql)
  await sql.unsafe(baseline)
  const made = await dumpSchema(sql)
  await sql`rollback to savepoint aside`
  const difference = differenceOf(found, made)
  if (difference)
    throw new AppError(
      'conflict',
      `the schema of the database was changed by hand: ${difference}. Undo that, then start the server again`,
      { reason: 'unfit_database' },
    )
  await sql`delete from migration`
}

/** Moves the schema out of the way of another one with the same names. Drops nothing. */
const moveAside = async (sql: postgres.TransactionSql): Promise<void> => {
  await sql`alter schema sandbox rename to aside_sandbox`
  await sql`create schema aside`
  const moves = await sql<{ move: string }[]>`
    select format('alter table %s set schema aside', oid::regclass) as move from pg_class c
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
      and relname <> 'migration' and not exists (select from pg_depend
        where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    union all
    select format('alter routine %s set schema aside', oid::regprocedure) from pg_proc p
    where pronamespace = 'public'::regnamespace and prokind <> 'a' and not exists (select from
      pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')`
  for (const { move } of moves) await sql.unsafe(move)
}

/** The first difference in words; undefined if there is none. */
const differenceOf = (
  found: Map<string, string>,
  made: Map<string, string>,
): string | undefined => {
  for (const object of [...new Set([...found.keys(), ...made.keys()])].toSorted()) {
    const [ours, theirs] = [made.get(object), found.get(object)]
    if (ours === theirs) continue
    if (ours === undefined) return `${object} does not belong to it`
    if (theirs === undefined) return `${object} is missing`
    const [wanted, had] = [linesOf(ours), linesOf(theirs)]
    const extra = had.find((line) => !wanted.includes(line))
    if (extra !== undefined) return `${object} has "${extra}"`
    const missing = wanted.find((line) => !had.includes(line))
    return missing === undefined
      ? `${object} has its lines in another order`
      : `${object} lacks "${missing}"`
  }
  return undefined
}

const linesOf = (text: string): string[] =>
  text.split('\n').map((line) => line.trim().replace(/[,;]$/, ''))
