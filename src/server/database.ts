/** The database of DATABASE_URL, or our own embedded Postgres. */
import type { Config } from '#config/config'
import type { Log } from '#kernel/log'
import type { SecretKeys } from '#kernel/secret-keys'
import { hasCluster } from '#postgres/data-owner'
import { findEmbedded, startEmbedded } from '#postgres/start'
import { checkCanary, requireFittingSecret } from '#store/engine/canary'
import type { ConnectionOptions } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'
import { migrate, type NextMigrations, nextMigrations, requireSchema } from '#store/engine/migrate'
import { awaitDatabase, withVersion } from '#store/engine/reach'
import { connectionOptionsOf } from './database-url.ts'
import { homeOf } from './home.ts'
import { settleIdentity } from './identity.ts'
import { secretKeys, settleKeyFiles } from './secret-key.ts'

interface Database extends AsyncDisposable {
  options: ConnectionOptions
  /** For the lines that the server prints at its start. */
  description: string
}

export interface OpenDatabase extends Database {
  /** The deployment's secret keys. The canary has proven that they belong to this database. */
  keys: SecretKeys
}

const openExternal = async (url: string, log: Log): Promise<Database> => {
  const options = connectionOptionsOf(url)
  await awaitDatabase(options, log)
  return {
    options,
    description: 'the Postgres of DATABASE_URL',
    [Symbol.asyncDispose]: async () => {},
  }
}

const openEmbedded = async (home: string, log: Log): Promise<Database> => {
  const postgres = await startEmbedded({ home, log })
  return {
    options: postgres.target,
    description: `an embedded Postgres in ${home}`,
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Opens the database for a server: checks the secret, migrates, and makes logins for the pools. */
export async function openDatabase(config: Config, log: Log): Promise<OpenDatabase> {
  return await prepare(await open(config, log), config, log, {
    makeSchema: (options) => migrate(options, log),
    settle: (options) => settleIdentity(config, options, log),
    serves: true,
  })
}

interface Joining {
  /** Whether the command makes the schema in an empty database. */
  makesSchema: boolean
}

/**
 * Opens the database for a command: either the one of the running server, or one that is open only
 * while the command runs. Commands do not migrate. Only servers do, and only after they have been
 * started for that.
 */
export async function joinDatabase(
  config: Config,
  log: Log,
  joining: Joining = { makesSchema: false },
): Promise<OpenDatabase> {
  const database = await join(config, log)
  return await prepare(database, config, log, {
    makeSchema: (options) => requireSchema(options, log, joining),
    settle: () => Promise.resolve(),
    serves: false,
  })
}

const join = async (config: Config, log: Log): Promise<Database> => {
  const running = config.databaseUrl ? undefined : await findEmbedded(homeOf(config))
  const joined = running && {
    options: running,
    description: 'the embedded Postgres of the running server',
    [Symbol.asyncDispose]: async () => {},
  }
  return joined ?? (await open(config, log))
}

/**
 * What the next start of a server does to the schema, whatever the version of the database. Makes
 * no database where there is none.
 */
export async function inspectSchema(config: Config, log: Log): Promise<NextMigrations> {
  if (!config.databaseUrl && !hasCluster(homeOf(config))) return await nextMigrations(undefined)
  await using database = await join(config, log)
  return await nextMigrations(database.options)
}

const open = (config: Config, log: Log): Promise<Database> =>
  config.databaseUrl ? openExternal(config.databaseUrl, log) : openEmbedded(homeOf(config), log)

/** Makes the logins of the pools. A later rotation need not wait for other ones. */
const enter = async (
  options: ConnectionOptions,
  keys: SecretKeys,
  log: Log,
): Promise<ConnectionOptions> => {
  const key = keys.candidate ?? keys.newest
  const entered = await withLogins(options, key, log)
  keys.login = entered.logins && key.fingerprint
  return entered
}

interface Preparing {
  makeSchema(options: ConnectionOptions): Promise<void>
  /** Called with a database that fits the secret. */
  settle(options: ConnectionOptions): Promise<void>
  /** Whether it is for a server. */
  serves: boolean
}

const prepare = async (
  database: Database,
  config: Config,
  log: Log,
  { makeSchema, settle, serves }: Preparing,
): Promise<OpenDatabase> => {
  try {
    const known = await secretKeys(config)
    await requireFittingSecret(database.options, known)
    await makeSchema(database.options)
    const keys = await checkCanary(database.options, known, serves)
    if (keys.isRotated) await settleKeyFiles(config, keys)
    await settle(database.options)
    const options = await enter(await withVersion(database.options), keys, log)
    return { ...database, keys, options }
  } catch (cause) {
    await database[Symbol.asyncDispose]()
    throw cause
  }
}
