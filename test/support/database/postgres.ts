/** The Postgres of a test run: that of DATABASE_URL, else a container, else the embedded one. */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { startEmbedded } from '#postgres/start'
import type { ConnectionOptions } from '#store/engine/db'
import { temporaryFolder } from '../folder.ts'

export interface TestPostgres extends AsyncDisposable {
  /** Where it comes from, for readers of the run's output. */
  name: string
  /** A role that can create databases and roles, connected to a database that tests do not use. */
  options: ConnectionOptions
}

/** The oldest supported version. */
const IMAGE = 'postgres:15-alpine'
const NO_ENGINE = 'Could not find a working container runtime strategy'
const FAST = [
  ...['fsync', 'synchronous_commit', 'full_page_writes'].map((setting) => `${setting}=off`),
  'plan_cache_mode=force_generic_plan',
  'autovacuum=off',
].flatMap((setting) => ['-c', setting])

const CHOICES = `A Postgres to test with is needed. Choose one:
  DATABASE_URL=postgres://…   of a role that may create databases and roles (TEST_DATABASE=url forces it)
  a container engine          Docker or Podman, running (TEST_DATABASE=container)
  the embedded Postgres       which npm install brings on Linux and macOS (TEST_DATABASE=embedded)`

const fromUrl = async (url: string): Promise<TestPostgres> => {
  const { host, port, database, user, pass } = postgres(url).options
  const options = { host: host[0], port: port[0], database, username: user, password: pass ?? '' }
  const sql = postgres({ ...options, max: 1, connect_timeout: 10 })
  try {
    const [role] = await sql`select rolsuper or rolcreatedb and rolcreaterole as able from pg_roles
        where rolname = current_user`
    if (!role?.able) throw new Error(`the role ${user} may not create databases and roles`)
  } finally {
    await sql.end()
  }
  return { name: `DATABASE_URL (${host[0]})`, options, async [Symbol.asyncDispose]() {} }
}

const startContainer = async (): Promise<TestPostgres> => {
  // Loaded only here, because it takes half a second, and only machines with a container engine
  // need it.
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql')
  const container = await new PostgreSqlContainer(IMAGE).withCommand(['postgres', ...FAST]).start()
  const options = {
    host: container.getHost(),
    port: container.getPort(),
    database: container.getDatabase(),
    username: container.getUsername(),
    password: container.getPassword(),
  }
  return {
    name: `container ${IMAGE}`,
    options,
    [Symbol.asyncDispose]: async () => void (await container.stop()),
  }
}

const startOwn = async (log: Log): Promise<TestPostgres> => {
  await using starting = new AsyncDisposableStack()
  const home = starting.use(await temporaryFolder())
  const { target } = starting.use(await startEmbedded({ home: home.path, log, durable: false }))
  const running = starting.move()
  return { name: 'embedded', options: target, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)

/**
 * Undefined if no container engine answers. An engine that cannot start a Postgres is reported and
 * skipped.
 */
const containerIfAny = async (log: Log): Promise<TestPostgres | undefined> => {
  try {
    return await startContainer()
  } catch (cause) {
    const reason = reasonOf(cause)
    if (!reason.includes(NO_ENGINE)) log.warn(`the container engine gave no Postgres: ${reason}`)
    return undefined
  }
}

const choose = async (env: Record<string, string | undefined>, log: Log): Promise<TestPostgres> => {
  const url = env.DATABASE_URL
  switch (env.TEST_DATABASE || undefined) {
    case 'url':
      if (!url) throw new Error('TEST_DATABASE=url, but DATABASE_URL is not set')
      return await fromUrl(url)
    case 'container':
      return await startContainer()
    case 'embedded':
      return await startOwn(log)
    case undefined:
      return url ? await fromUrl(url) : ((await containerIfAny(log)) ?? (await startOwn(log)))
    default:
      throw new Error(`TEST_DATABASE is url, container or embedded, not ${env.TEST_DATABASE}`)
  }
}

/**
 * Finds or starts it, and stops what it started on dispose. Rejects with a message that names the
 * three choices.
 */
export async function startPostgres(
  env: Record<string, string | undefined>,
  log: Log,
): Promise<TestPostgres> {
  try {
    return await choose(env, log)
  } catch (cause) {
    throw new AppError('unavailable', `${reasonOf(cause)}\n\n${CHOICES}`, { cause })
  }
}
