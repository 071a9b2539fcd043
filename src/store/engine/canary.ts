/** Whether a database belongs to the secret keys that a process knows. */
import { timingSafeEqual } from 'node:crypto'
import type postgres from 'postgres'
import { AppError } from '#kernel/errors'
import { canaryOf, type SecretKey } from '#kernel/secret'
import { keysToServe, neededKeys, type SecretKeyRow, SecretKeys } from '#kernel/secret-keys'
import type { ConnectionOptions } from './db.ts'
import { asOwner } from './owner.ts'

const DIFFERS =
  'TENDRIL_SECRET_KEY is not the secret key of this database; start with the key it uses'

const rotating = (missing: string[], isSealed: boolean): string =>
  `the rotation of the secret key of this database is not over, and the key with the fingerprint ${missing.join(', ')} is missing here: set TENDRIL_SECRET_KEY and TENDRIL_SECRET_KEY_NEXT to both keys${isSealed ? '; if that key is lost, `tendril admin secret drop-old --end-sessions` does without it' : ''}`

const rotated = (missing: string[]): string =>
  `the secret key of this database was rotated: set TENDRIL_SECRET_KEY to the key with the fingerprint ${missing.join(', ')}`

/** None in a schema from before keys could be rotated. */
const rowsOf = async (sql: postgres.Sql): Promise<SecretKeyRow[]> => {
  const [found] = await sql`select to_regclass('secret_key') is not null as rotates`
  if (!found!.rotates) return []
  return await sql<SecretKeyRow[]>`select fingerprint, state, sealed_at is not null as sealed
    from secret_key`
}

/** Throws if a key is missing that the database needs. */
const keysFor = async (
  sql: postgres.Sql,
  known: readonly SecretKey[],
  serves: boolean,
): Promise<SecretKeys | undefined> => {
  const [row] = await sql<{ canary: Buffer }[]>`select canary from deployment`
  if (!row) return undefined
  const rows = await rowsOf(sql)
  const isKnown = (one: string) => known.some(({ fingerprint }) => fingerprint === one)
  const missing = (serves ? keysToServe : neededKeys)(rows).filter((one) => !isKnown(one))
  if (missing.length > 0) {
    const isOver = !rows.some(({ state }) => state === 'old')
    const isSealed = !missing.some((one) => neededKeys(rows).includes(one))
    const said = isOver ? rotated(missing) : rotating(missing, isSealed)
    throw new AppError(
      'invalid_input',
      rows.some((row) => isKnown(row.fingerprint)) ? said : DIFFERS,
    )
  }
  const newest = known.find((key) => timingSafeEqual(canaryOf(key), row.canary))
  if (!newest) throw new AppError('invalid_input', DIFFERS)
  const keys = new SecretKeys(known, newest)
  keys.read(rows)
  return keys
}

/**
 * Refuses a database that was used with another secret, because its encrypted data would be
 * unreadable. Changes nothing. A database without a mark, such as an empty one, fits any secret.
 * Runs as the role of the URL, because the server's own roles cannot see the table.
 */
export const requireFittingSecret = (
  options: ConnectionOptions,
  known: readonly SecretKey[],
): Promise<SecretKeys> => asOwner(options, (sql) => fittingKeys(sql, known))

/** The same in a session that sees the table, for what a command needs. */
export const fittingKeys = async (
  sql: postgres.Sql,
  known: readonly SecretKey[],
): Promise<SecretKeys> => {
  const [found] = await sql`select to_regclass('deployment') is not null as marked`
  return (found!.marked && (await keysFor(sql, known, false))) || new SecretKeys(known)
}

/**
 * The same check for a database with a schema. The first server that uses it writes the mark.
 * `serves`: for a process that accepts tokens of people.
 */
export const checkCanary = (
  options: ConnectionOptions,
  known: readonly SecretKey[],
  serves = true,
): Promise<SecretKeys> =>
  asOwner(options, async (sql) => {
    await sql`insert into deployment (canary) values (${canaryOf(known[0]!)}) on conflict do nothing`
    return (await keysFor(sql, known, serves))!
  })
