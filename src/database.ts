/** Which database: the one of DATABASE_URL, or an embedded Postgres of our own. */
import type { Log } from '#kernel/log'
import type { ConnectionOptions } from '#store/db'
import { findEmbedded, startEmbedded } from '#store/embedded/start'
import { migrate } from '#store/migrate'
import { awaitDatabase } from '#store/reach'
import type { Config } from './config.ts'
import { optionsOf } from './database-url.ts'

export interface Database extends AsyncDisposable {
  options: ConnectionOptions
  /** For the first lines that the server prints. */
  description: string
}

const external = async (url: string, log: Log): Promise<Database> => {
  const options = optionsOf(url)
  await awaitDatabase(options, log)
  return { options, description: 'the Postgres of DATABASE_URL', [Symbol.asyncDispose]: async () => {} }
}

const embedded = async (home: string, log: Log): Promise<Database> => {
  const postgres = await startEmbedded({ home, log })
  return {
    options: postgres.target,
    description: `an embedded Postgres in ${home}`,
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Opens the database for a server, brought up to this version. */
export async function openDatabase({ databaseUrl, home }: Config, log: Log): Promise<Database> {
  return await upToDate(await (databaseUrl ? external(databaseUrl, log) : embedded(home, log)), log)
}

/** For a command: the database of the running server, or one opened for as long as the command takes. */
export async function joinDatabase(config: Config, log: Log): Promise<Database> {
  const running = config.databaseUrl ? undefined : await findEmbedded(config.home)
  if (!running) return openDatabase(config, log)
  const joined = { options: running, description: 'the embedded Postgres of the running server', [Symbol.asyncDispose]: async () => {} }
  return await upToDate(joined, log)
}

const upToDate = async (database: Database, log: Log): Promise<Database> => {
  try {
    await migrate(database.options, log)
    return database
  } catch (cause) {
    await database[Symbol.asyncDispose]()
    throw cause
  }
}
