/** Backups that the server makes by itself. */
import { join } from 'node:path'
import { startPeriodic } from '#actors/engine/periodic'
import type { BackupSettings } from '#config/backups'
import type { Config } from '#config/config'
import { systemClock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { deploymentFacts } from '#store/backup/deployment-facts'
import type { ConnectionOptions } from '#store/engine/db'
import { homeOf } from '../home.ts'
import { keptBackups, keptName, pruneBackups } from './kept.ts'
import { type BackupOrder, RUNNING, type TakenBackup } from './order.ts'
import { readPassphrase } from './passphrase.ts'
import { isInside } from './room.ts'
import { takeBackup } from './take.ts'

/** How often to look whether one is due. */
const LOOK_MS = 60_000
/** After a failure, the next one is tried no sooner. */
const RETRY_MS = 900_000
/** A last good one that is this many periods old is an error. */
const OVERDUE = 2

/** What a server knows of the backups that it makes. */
export interface BackupReport {
  everyMs: number
  /** Since the last good one was begun; before the first, since the server started. */
  ageMs: number
  /** In milliseconds since 1970. */
  lastGoodAt: number | undefined
  lastError: { at: number; message: string } | undefined
  /** Bytes of the write-ahead log that a running backup keeps from removal. */
  heldBytes: number
}

interface BackupServiceDeps {
  settings: BackupSettings
  deployment: string
  log: Log
  take(order: BackupOrder): Promise<TakenBackup>
  lookMs?: number
  now?: () => number
}

const OPEN_KEY =
  'backups are not encrypted, so whoever can read one has the secret key: guard BACKUP_DIR like a password, or set BACKUP_PASSPHRASE_FILE'

/** Throws if the backups would lie in the home. */
export const checkBackupFolder = ({ backups, databaseUrl, ...config }: Config): void => {
  if (!backups || databaseUrl) return
  if (isInside(backups.folder, homeOf(config)))
    throw new AppError(
      'invalid_input',
      `BACKUP_DIR must lie outside of TENDRIL_HOME, whose disk the backups must outlive: ${backups.folder}`,
    )
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : `${cause}`)

export class BackupService implements AsyncDisposable {
  readonly #deps: BackupServiceDeps
  readonly #stop = new AbortController()
  readonly #looking: AsyncDisposable
  /** Apart from the looks, because one that makes a backup takes long, and may hang. */
  readonly #ageing: AsyncDisposable
  readonly #now: () => number
  readonly #since: number
  #lastGoodAt: number | undefined
  #lastError: BackupReport['lastError']
  #heldBytes = 0
  #isOverdue = false

  constructor(deps: BackupServiceDeps) {
    this.#deps = deps
    this.#now = deps.now ?? Date.now
    this.#since = this.#now()
    const timing = { clock: systemClock, everyMs: deps.lookMs ?? LOOK_MS }
    this.#looking = startPeriodic({ ...timing, pass: () => this.#look() })
    this.#ageing = startPeriodic({ ...timing, pass: async () => this.#checkAge() })
  }

  report(): BackupReport {
    return {
      everyMs: this.#deps.settings.everyMs,
      ageMs: Math.max(0, this.#now() - (this.#lastGoodAt ?? this.#since)),
      lastGoodAt: this.#lastGoodAt,
      lastError: this.#lastError,
      heldBytes: this.#heldBytes,
    }
  }

  async #look(): Promise<void> {
    const { settings, deployment } = this.#deps
    try {
      const [newest] = await keptBackups(settings.folder, deployment)
      // A clock that was ahead must not keep the next one away.
      this.#lastGoodAt = newest && Math.min(newest.at, this.#now())
      if (this.#isDue()) await this.#make()
    } catch (cause) {
      this.#fail(cause)
    }
  }

  /** One error for each time that the last good one becomes too old. */
  #checkAge(): void {
    const { settings, log } = this.#deps
    const { ageMs, everyMs } = this.report()
    if (ageMs > OVERDUE * everyMs && !this.#isOverdue)
      log.error(
        { folder: settings.folder, age_hours: Math.round(ageMs / 3_600_000), ...this.#why() },
        'the last good backup is twice as old as it should be',
      )
    this.#isOverdue = ageMs > OVERDUE * everyMs
  }

  #why(): object {
    return this.#lastError ? { reason: this.#lastError.message } : {}
  }

  #isDue(): boolean {
    const { everyMs } = this.#deps.settings
    const [now, failed] = [this.#now(), this.#lastError?.at]
    if (failed !== undefined && now - failed < Math.min(RETRY_MS, everyMs)) return false
    return this.#lastGoodAt === undefined || now - this.#lastGoodAt >= everyMs
  }

  async #make(): Promise<void> {
    const { settings, deployment, log, take } = this.#deps
    const { folder, keep, passphraseFile } = settings
    const at = this.#now()
    const name = keptName(deployment, new Date(at))
    const taken = await take({
      to: join(folder, name),
      passphrase: passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile),
      signal: this.#stop.signal,
      onHeld: (bytes) => {
        this.#heldBytes = bytes
      },
    }).finally(() => {
      this.#heldBytes = 0
    })
    this.#lastGoodAt = at
    this.#lastError = undefined
    const removed = await pruneBackups(folder, deployment, keep).catch((cause: unknown) => {
      log.error({ err: cause, folder }, `old backups were not removed: ${messageOf(cause)}`)
      return []
    })
    log.info({ folder, name, ...taken, removed }, 'made a backup')
  }

  #fail(cause: unknown): void {
    if (this.#stop.signal.aborted) return
    const message = messageOf(cause)
    // Another server of the deployment makes one. If that fails, this one tries.
    if (message === RUNNING) return
    this.#lastError = { at: this.#now(), message }
    this.#deps.log.error({ err: cause }, `no backup was made: ${message}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ageing[Symbol.asyncDispose]()
    await this.#looking[Symbol.asyncDispose]()
  }
}

let running: BackupService | undefined

/** What this process knows of the backups that it makes; undefined if it makes none. */
export const backupState = (): BackupReport | undefined => running?.report()

const none: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} }

/** Makes backups until it is disposed of, if the configuration asks for them. */
export const startBackups = async (
  config: Config,
  options: ConnectionOptions,
  log: Log,
): Promise<AsyncDisposable> => {
  const { backups: settings } = config
  const facts = settings && (await deploymentFacts(options))
  if (!settings || !facts) return none
  if (settings.passphraseFile === undefined) log.warn({ folder: settings.folder }, OPEN_KEY)
  const take = (order: BackupOrder) => takeBackup({ config, log }, order, { logical: false })
  const service = new BackupService({ settings, deployment: facts.deployment, log, take })
  running = service
  return service
}
