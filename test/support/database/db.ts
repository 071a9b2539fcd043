/** Databases for tests: one template for each run, prepared as a server does it, and its clones. */

import postgres from 'postgres'
import { randomBase62 } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions, Logins } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { withVersion } from '#store/engine/reach'
import { WarmDatabase } from './warm.ts'

/** Carries a `Template` as JSON from the runner to the worker processes. */
export const TEMPLATE_VARIABLE = 'TENDRIL_TEST_TEMPLATE'

/** All servers of a test are one deployment. */
export const TEST_SECRET = Buffer.alloc(32, 'test')

export interface Template {
  /**
   * Connects to the server, not to the template: Postgres clones only databases without
   * connections.
   */
  options: ConnectionOptions
  /** The name of the template; the names of its clones begin with it. */
  name: string
  /**
   * Logins for the pools of all clones, because making roles for each would cost more than the
   * clone. Undefined if the tests' role cannot create them.
   */
  logins: Logins | undefined
}

export interface TestDatabase extends AsyncDisposable {
  /** Connects to the new database as its owner, a superuser if the tests started the server. */
  options: ConnectionOptions
}

/** How many servers in this process are open on each database, by its name. */
const servers = new Map<string, number>()

/** A server is open on the database until this is disposed of. */
export const openOn = ({ database = '' }: ConnectionOptions): Disposable => {
  const count = (by: number) => servers.set(database, (servers.get(database) ?? 0) + by)
  count(1)
  return { [Symbol.dispose]: () => count(-1) }
}

/**
 * Throws if a test has left a server open, even a crashed one: it would try to reach its database
 * for as long as the process lives.
 */
const assertClosed = (database: string): void => {
  const open = servers.get(database) ?? 0
  servers.delete(database)
  if (open > 0) throw new Error(`${open} servers are open on a database that was dropped`)
}

const uniqueName = (prefix: string): string => `${prefix}_${randomBase62(8).toLowerCase()}`

const onServer = async <T>(
  options: ConnectionOptions,
  run: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({
    ...options,
    max: 1,
    connect_timeout: 30,
    fetch_types: false,
    onnotice: () => {},
  })
  try {
    return await run(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/**
 * Makes the template: migrated, marked by the secret of tests, with logins for the pools. Disposing
 * drops it, and clones that a killed test left behind.
 */
export async function buildTemplate(
  server: ConnectionOptions,
  log: Log,
): Promise<Template & AsyncDisposable> {
  const options = await withVersion(server)
  const name = uniqueName('tendril_test')
  await using stack = new AsyncDisposableStack()
  stack.defer(() => onServer(options, (sql) => dropAll(sql, name)))
  await onServer(options, (sql) => sql`create database ${sql(name)}`)
  const own = { ...options, database: name }
  await migrate(own, log)
  await checkCanary(own, [secretKeyOf(TEST_SECRET)])
  const { logins } = await withLogins(own, secretKeyOf(TEST_SECRET), log)
  await onServer(options, (sql) => sql`alter database ${sql(name)} with allow_connections false`)
  const owned = stack.move()
  return { options, name, logins, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const dropAll = async (sql: postgres.Sql, prefix: string): Promise<void> => {
  const found = await sql<
    { datname: string }[]
  >`select datname from pg_database where starts_with(datname, ${prefix})`
  for (const { datname } of found) await drop(sql, datname)
}

/** Drops a database and the roles that servers made for it, whose names carry its oid. */
const drop = async (sql: postgres.Sql, name: string): Promise<void> => {
  const made = await sql<{ rolname: string }[]>`select r.rolname from pg_database d
    join pg_roles r on r.rolname ~ ('^tendril_(app|system|sandbox)_' || d.oid || '_')
      where d.datname = ${name}`
  await sql`drop database if exists ${sql(name)} with (force)`
  for (const { rolname } of made) await sql`drop role ${sql(rolname)}`
}

const templateOfThisRun = (): Template => {
  const text = process.env[TEMPLATE_VARIABLE]
  if (text) return JSON.parse(text)
  throw new Error('this test needs a database, which the runner provides: npm test -- <file>')
}

/** The major version of the database that the tests run on. */
export const testedVersion = (): number => templateOfThisRun().options.version ?? 0

const databaseFrom = async (template: Template, source: string): Promise<TestDatabase> => {
  const database = uniqueName(template.name)
  // A copy through the log of the database takes twice the processor time.
  await onServer(
    template.options,
    (sql) => sql`create database ${sql(database)} template ${sql(source)} strategy file_copy`,
  )
  return {
    options: { ...template.options, database },
    async [Symbol.asyncDispose]() {
      await onServer(template.options, (sql) => drop(sql, database))
      assertClosed(database)
    },
  }
}

/**
 * A new database with the schema and no rows except the mark of the secret: `await using db = await
 * freshDb()`. Its options contain the logins of the pools. Dispose of its pools and servers first.
 */
export async function freshDb(): Promise<TestDatabase> {
  const template = templateOfThisRun()
  const database = await databaseFrom(template, template.name)
  const { logins } = template
  return logins ? { ...database, options: { ...database.options, logins } } : database
}

/**
 * For a server that a test stops within transactions: on a busy machine they stand for longer than
 * the two seconds that a database suffers.
 */
export const unhurried = (options: ConnectionOptions): ConnectionOptions => ({
  ...options,
  client: ((given: postgres.Options<Record<string, never>>) => {
    const limits = Object.keys(given.connection ?? {}).filter((name) =>
      ['idle_in_transaction_session_timeout', 'transaction_timeout'].includes(name),
    )
    const longer = Object.fromEntries(limits.map((name) => [name, 60_000]))
    return postgres({ ...given, connection: { ...given.connection, ...longer } })
  }) as typeof postgres,
})

/** Databases of this worker that nobody uses at the moment. */
const idle: { warm: WarmDatabase; drop: () => Promise<void> }[] = []
/** Those in use, by their names. */
const used = new Map<string, WarmDatabase>()
/** Each has two dozen connections. */
const MOST_IDLE = 2

/** Undefined if the role of the tests cannot make a database new again. */
const newWarm = async () => {
  const database = await freshDb()
  const warm = new WarmDatabase(database.options)
  const drop = async () => {
    await warm.close()
    await database[Symbol.asyncDispose]()
  }
  const isOpen = await warm.open().then(
    () => true,
    () => false,
  )
  if (isOpen) return { warm, drop }
  await drop()
  return undefined
}

/**
 * The same, perhaps used by an earlier test, of which it holds nothing. What its servers ask of it
 * is planned already. For one process.
 */
export async function warmDb(): Promise<TestDatabase> {
  const one = idle.pop() ?? (await newWarm())
  if (!one) return await freshDb()
  const { options, clients } = one.warm
  used.set(options.database!, one.warm)
  return {
    options: { ...options, client: clients.open as typeof postgres },
    async [Symbol.asyncDispose]() {
      used.delete(options.database!)
      const isLeft = (servers.get(options.database!) ?? 0) > 0
      const isWanted = !isLeft && idle.length < MOST_IDLE
      const isRenewed = isWanted && (await one.warm.renew().catch(() => false))
      if (isRenewed) idle.push(one)
      else await one.drop()
      if (isLeft) assertClosed(options.database!)
    },
  }
}

/** The same before any server has used it: without mark and logins. */
export async function unusedDb(): Promise<TestDatabase> {
  const template = templateOfThisRun()
  const database = await databaseFrom(template, template.name)
  await onServer(database.options, (sql) => sql`delete from deployment`)
  return database
}

/** A new database before any migration, for tests of migrations. */
export const emptyDb = (): Promise<TestDatabase> => databaseFrom(templateOfThisRun(), 'template1')

/** A new copy of another database, to which nobody may be connected. */
export const copyOf = async ({ database }: ConnectionOptions): Promise<TestDatabase> => {
  await used.get(database!)?.close()
  return await databaseFrom(templateOfThisRun(), database!)
}
