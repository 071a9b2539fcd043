/**
 * The first connection to an external database. Waits a little for the database, and explains what
 * is wrong with its address.
 */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { type ConnectionOptions, codeOf } from './db.ts'
import { asOwner } from './owner.ts'

const OLDEST_VERSION = 15
const PAUSE_MS = 500

/** How long to keep trying, and how long one try may take. */
interface Patience {
  patienceMs: number
  answerWithinMs: number
}

const USUAL: Patience = { patienceMs: 15_000, answerWithinMs: 5_000 }

/**
 * Errors that may pass within seconds, for example when the database starts together with this
 * server.
 */
const PASSING =
  /^(ECONNREFUSED|ECONNRESET|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|CONNECTION_CLOSED|57P0[123]|53300)$/

interface Place {
  /** `db.example.com:5432`, or the folder of a socket. */
  at: string
  role: string
  database: string
}

const placeOf = ({ options }: postgres.Sql): Place => {
  const { host, port, user, database } = options
  const [name = ''] = host
  return { at: name.startsWith('/') ? name : `${name}:${port[0]}`, role: user, database }
}

const reasons: readonly [codes: RegExp, reason: (place: Place, message: string) => string][] = [
  [/^ECONNREFUSED$/, ({ at }) => `nothing listens at ${at}`],
  [/^ENOENT$/, ({ at }) => `there is no Postgres socket in ${at}`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, ({ at }) => `the host of ${at} cannot be resolved`],
  [
    /^(CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    ({ at }) => `no Postgres answers at ${at}`,
  ],
  [
    /^(ECONNRESET|CONNECTION_CLOSED)$/,
    ({ at }) => `${at} closes the connection; it may not be Postgres`,
  ],
  [
    /^28P01$/,
    ({ at, role }) =>
      `${at} refuses the role ${role}: the password is wrong, or there is no such role`,
  ],
  [/^3D000$/, ({ at, database }) => `there is no database ${database} at ${at}`],
  [
    /^(ERR_TLS|ERR_SSL|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/,
    ({ at }, message) => `the TLS connection to ${at} fails: ${message}`,
  ],
]

/** Never contains the password, whatever the database's message says. */
const refusalOf = (
  cause: unknown,
  { place, password }: { place: Place; password: string | undefined },
): AppError => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = password ? text.replaceAll(password, '…') : text
  const reason =
    reasons.find(([codes]) => codes.test(codeOf(cause)))?.[1] ??
    (({ at }: Place) => `${at} answers: ${message}`)
  return new AppError('unavailable', `DATABASE_URL cannot be used: ${reason(place, message)}`, {
    cause,
  })
}

/** Throws if `version`, in the form of `server_version_num`, is too old. */
export const checkVersion = (version: number): void => {
  if (version >= OLDEST_VERSION * 10_000) return
  throw new AppError(
    'unavailable',
    `DATABASE_URL cannot be used: Postgres ${OLDEST_VERSION} or later is required, not ${Math.floor(version / 10_000)}`,
  )
}

const versionOf = async (sql: postgres.Sql, withinMs: number): Promise<number> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error('late'), { code: 'CONNECT_TIMEOUT' })),
    withinMs,
  )
  try {
    const [row] = await Promise.race([
      sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`,
      late.promise,
    ])
    return row!.version
  } finally {
    clearTimeout(timer)
  }
}

/** The same options, with the version of the database. */
export const withVersion = async (options: ConnectionOptions): Promise<ConnectionOptions> => {
  const version = await asOwner(options, (sql) => versionOf(sql, USUAL.answerWithinMs))
  return { ...options, version: Math.floor(version / 10_000) }
}

/**
 * Returns once the database answers. Throws an error about DATABASE_URL if it does not within
 * `patienceMs`, or never will.
 */
export const awaitDatabase = async (
  options: ConnectionOptions,
  log: Log,
  { patienceMs, answerWithinMs } = USUAL,
): Promise<void> => {
  const sql = postgres({
    ...options,
    max: 1,
    connect_timeout: answerWithinMs / 1_000,
    backoff: false,
    onnotice: () => {},
  })
  const about = { place: placeOf(sql), password: options.password }
  const deadline = performance.now() + patienceMs
  try {
    for (let warned = false; ; warned = true) {
      try {
        checkVersion(await versionOf(sql, answerWithinMs))
        return
      } catch (cause) {
        if (cause instanceof AppError) throw cause
        const refusal = refusalOf(cause, about)
        if (!PASSING.test(codeOf(cause)) || performance.now() >= deadline) throw refusal
        if (!warned) log.warn(`${refusal.message}; trying for ${Math.round(patienceMs / 1_000)} s`)
        await Bun.sleep(PAUSE_MS)
      }
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
