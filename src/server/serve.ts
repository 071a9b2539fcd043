/**
 * The server's life: it opens configuration, database, actors and edge, waits for a signal, and
 * disposes in reverse.
 */
import { type Config, readConfig } from '#config/config'
import { hostAndPort } from '#config/values'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import { createLog, type Log } from '#kernel/log'
import { parseFaults } from '#port/network/sandbox/faults'
import { printAddresses } from './announce.ts'
import { checkBackupFolder, startBackups } from './backup/service.ts'
import { startCollecting } from './collecting.ts'
import { openDatabase } from './database.ts'
import { firstStart, type NewWorkspace } from './first-start.ts'
import { keepFirstStart, startForgetting } from './first-start-file.ts'
import { homeOf } from './home.ts'
import { type Listening, listen } from './listen.ts'
import { requireSecretKey } from './secret-key.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

/** Supervisors usually kill a process 30 seconds after asking it to stop. */
const STOP_WITHIN_MS = 24_000

const untilStopped = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve(signal))
  })

/** Throws on a wrong configuration, before anything is opened. */
export const checkedConfig = (env?: Record<string, string>): Config => {
  const config = readConfig(env)
  parseFaults(config.sandboxFaults)
  requireSecretKey(config)
  if (!config.databaseUrl || config.firstStart === 'file') homeOf(config)
  checkBackupFolder(config)
  return config
}

const portRefusals: Record<string, (config: Config) => string> = {
  EADDRINUSE: ({ host, port }) =>
    `${hostAndPort(host, port)} is taken: stop the program that listens there, or set PORT to another port`,
  EADDRNOTAVAIL: ({ host }) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: ({ host }) => `HOST ${host} is no address of this machine`,
  EACCES: ({ port }) => `PORT ${port} is not open to this user: set PORT to one above 1023`,
}

/** Takes the port. If that fails, says which variable to change. */
const listenOn = async (
  config: Config,
  workplace: Workplace,
  { log, ready }: { log: Log; ready: () => boolean },
): Promise<Listening> => {
  try {
    return await listen(config, workplace, log, ready)
  } catch (cause) {
    const refusal = portRefusals[String((cause as { code?: unknown }).code)]
    throw refusal ? new AppError('unavailable', refusal(config), { cause }) : cause
  }
}

/** Reports what is wrong with the storage of files. Everything but files works without it. */
const checkStorage = async ({ storage }: Workplace, { s3 }: Config, log: Log): Promise<void> => {
  const flaw = await storage?.flaw()
  if (flaw !== undefined)
    log.error({ bucket: s3?.bucket, endpoint: s3?.endpoint }, `files cannot be kept in S3: ${flaw}`)
}

const STRANDED =
  'the secret key was rotated to one that this server does not know, so it stops: set TENDRIL_SECRET_KEY and TENDRIL_SECRET_KEY_NEXT as on the other servers'

const nothing = Promise.resolve()

export async function runServer(): Promise<void> {
  const config = checkedConfig()
  const log = createLog(config.logLevel)
  const stopped = untilStopped()
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await openDatabase(config, log))
  const { options, keys } = database
  const workplace = stack.use(await openWorkplace(config, options, { log, keys }))
  let ready = false
  const { port } = stack.use(await listenOn(config, workplace, { log, ready: () => ready }))
  const publicUrl = config.publicUrl.replace(/:0$/, `:${port}`)
  // Only after the port has been taken: a start that fails there must not make a key that nobody
  // sees.
  const isFiled = config.firstStart === 'file'
  const keep = (its: NewWorkspace) => (isFiled ? keepFirstStart(homeOf(config), its) : nothing)
  const made = await firstStart({ ...config, publicUrl }, workplace, keep)
  if (config.home) stack.use(await startForgetting(config.home, { db: workplace.db, log }))
  ready = true
  stack.use(startCollecting({ clock: systemClock, log }))
  stack.use(await startBackups(config, options, log))
  void checkStorage(workplace, config, log)
  printAddresses({ ...config, publicUrl }, { database: database.description, made })
  const signal = await Promise.race([stopped, keys.stranded])
  if (Array.isArray(signal)) log.error({ missing: signal }, STRANDED)
  else log.info({ signal }, 'stopping')
  setTimeout(() => {
    log.error('could not shut down gracefully in time')
    process.exit(1)
  }, STOP_WITHIN_MS).unref()
}
