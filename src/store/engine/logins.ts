/**
 * The roles that pools log in as. Each inherits from one of the roles in policies and has no other
 * rights, so a statement that resets its role gains nothing. Roles belong to the cluster. Their
 * names contain the database's oid, which is unique in the cluster, an identifier of our own, which
 * tells it from an earlier database with the same oid, and some digits of the fingerprint of the
 * secret key, so that the logins of two keys stand beside each other while the key is rotated.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import postgres from 'postgres'
import type { Log } from '#kernel/log'
import { deriveKey, type SecretKey } from '#kernel/secret'
import {
  type ConnectionOptions,
  codeOf,
  type Login,
  type Logins,
  type PoolRole,
  poolRoles,
} from './db.ts'

/** Serialises servers that start together on one database. Any constant will do. */
const LOGIN_LOCK = 7_164_013

const SALT_BYTES = 16
/**
 * More iterations make guessing dearer, but nobody can guess 256 bits that are derived from the
 * secret. The usual 4,096 would block the event loop for 2 ms at each new connection.
 */
const SCRAM_ITERATIONS = 1

/**
 * The form in which Postgres stores a password (RFC 5803). By sending this form, no password
 * reaches the database's log.
 */
const verifierOf = (password: string): string => {
  const salt = randomBytes(SALT_BYTES)
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}

/** Ends the name of a login. The name of a role has at most 63 characters. */
const loginSuffix = (fingerprint: string): string => fingerprint.slice(0, 8)

/** With what the names of the logins for this database begin, after the name of the role. */
const placeOf = async (sql: postgres.Sql): Promise<string> => {
  const [row] = await sql<
    { oid: number; id: string }[]
  >`select (select oid from pg_database where datname = current_database()), id from deployment`
  return `${row!.oid}_${row!.id.slice(-12)}`
}

const loginsOf = async (sql: postgres.Sql, { bytes, fingerprint }: SecretKey): Promise<Logins> => {
  const place = await placeOf(sql)
  const loginOf = (role: PoolRole): Login => {
    const username = `${role}_${place}_${loginSuffix(fingerprint)}`
    return {
      username,
      password: deriveKey(bytes, `password of ${username}`).toString('base64url'),
    }
  }
  return Object.fromEntries(poolRoles.map((role) => [role, loginOf(role)])) as Logins
}

/**
 * A wrong password, a missing role or a missing authentication method, as Postgres, a pooler or the
 * client reports it.
 */
const REFUSED = /^(28[0-9A-Z]{3}|08P01|AUTH_TYPE_NOT_IMPLEMENTED)$/

const namesOf = (logins: Logins): string[] => Object.values(logins).map(({ username }) => username)

/** Checked before any login, because the database logs a failed one as a warning. */
const areMade = async (sql: postgres.Sql, logins: Logins): Promise<boolean> => {
  const names = namesOf(logins)
  return (
    (await sql`select 1 from pg_roles where rolname in ${sql(names)} and rolcanlogin`).length ===
    names.length
  )
}

/** Undefined if all logins work, otherwise why one does not. */
const obstacleOf = async (
  options: ConnectionOptions,
  logins: Logins,
): Promise<string | undefined> => {
  for (const role of poolRoles) {
    const sql = postgres({
      ...options,
      ...logins[role],
      max: 1,
      connect_timeout: 10,
      onnotice: () => {},
    })
    try {
      const [row] = await sql<
        { inherits: boolean }[]
      >`select pg_has_role(current_user, ${role}, 'usage') as inherits`
      if (!row!.inherits) return `${logins[role].username} does not inherit from ${role}`
    } catch (cause) {
      if (!REFUSED.test(codeOf(cause))) throw cause
      return (cause as Error).message
    } finally {
      await sql.end({ timeout: 5 })
    }
  }
  return undefined
}

/** Creates the logins, or resets the passwords of existing ones. */
const makeLogins = (sql: postgres.Sql, logins: Logins): Promise<unknown> =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOGIN_LOCK})`
    for (const role of poolRoles) {
      const { username, password } = logins[role]
      const found = await tx`select 1 from pg_roles where rolname = ${username}`
      if (found.length === 0) await tx.unsafe(`create role ${username}`)
      await tx.unsafe(
        `alter role ${username} login inherit connection limit -1 valid until 'infinity' password '${verifierOf(password)}'`,
      )
      await tx.unsafe(`grant ${role} to ${username}`)
    }
  })

const FORBIDDEN = '42501'

/**
 * Returns the options with logins for the pools, which it creates if they are missing. If their
 * role cannot create logins, or the database does not accept them, logs a warning and returns the
 * options unchanged. Call it after the canary check, which keeps a server with another secret from
 * changing passwords.
 */
export async function withLogins(
  options: ConnectionOptions,
  key: SecretKey,
  log: Log,
): Promise<ConnectionOptions> {
  const sql = postgres({ ...options, max: 1, connect_timeout: 10, onnotice: () => {} })
  const shared = (reason: string, remedy: string): ConnectionOptions => {
    log.warn(
      { reason },
      `the pools log in as the role of DATABASE_URL and drop its rights only by the startup parameter "role"; for separate logins, ${remedy}`,
    )
    return options
  }
  try {
    const logins = await loginsOf(sql, key)
    if ((await areMade(sql, logins)) && (await obstacleOf(options, logins)) === undefined)
      return { ...options, logins }
    await makeLogins(sql, logins)
    const obstacle = await obstacleOf(options, logins)
    return obstacle === undefined
      ? { ...options, logins }
      : shared(obstacle, `let ${namesOf(logins).join(', ')} log in with passwords (pg_hba.conf)`)
  } catch (cause) {
    if (codeOf(cause) !== FORBIDDEN) throw cause
    return shared(
      (cause as Error).message,
      `grant its role CREATEROLE, and ${poolRoles.join(', ')} with admin option`,
    )
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * Drops the logins for this database that come from other keys than these. Returns their names.
 * Nothing of theirs stands in the way: they own nothing, and are granted nothing but a role.
 */
export const dropOtherLogins = async (
  sql: postgres.Sql,
  fingerprints: readonly string[],
): Promise<string[]> => {
  const place = await placeOf(sql)
  const kept = poolRoles.flatMap((role) =>
    fingerprints.map((fingerprint) => `${role}_${place}_${loginSuffix(fingerprint)}`),
  )
  const prefixes = poolRoles.map((role) => `${role}_${place}`)
  const found = await sql<{ rolname: string }[]>`select rolname from pg_roles
    where rolname like any(${prefixes.map((prefix) => `${prefix.replaceAll('_', '\\_')}%`)})
      and rolname <> all(${kept})`
  for (const { rolname } of found) await sql`drop role ${sql(rolname)}`
  return found.map(({ rolname }) => rolname)
}
