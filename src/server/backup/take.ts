/** Makes one backup. */
import { existsSync, realpathSync } from 'node:fs'
import type { Config } from '#config/config'
import { type Clock, systemClock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { deriveKey } from '#kernel/secret'
import { databasePassword, dataOf } from '#postgres/cluster'
import { beginOnlineBackup, type OnlineBackup } from '#postgres/online-backup'
import { type DatabaseAddress, findEmbedded, startEmbedded } from '#postgres/start'
import { type DeploymentFacts, deploymentFacts } from '#store/backup/deployment-facts'
import { requireFittingSecret } from '#store/engine/canary'
import { homeOf } from '../home.ts'
import { secretKey } from '../secret-key.ts'
import { BACKUP_FORMAT, type BackupHead, bytesOf, SECRET } from './contents.ts'
import { asRefusal, checkDestination, type Destination, shelfFor } from './destination.ts'
import { Pace } from './pace.ts'
import { copyDatabase, sizeOfData } from './physical.ts'
import { LEAST_FREE, requireFreeDisk, requireRoom } from './room.ts'
import { newSeal } from './sealing.ts'
import { type BackupLimits, BackupWatch } from './watch.ts'
import { Writing } from './writing.ts'

const MB = 1_000_000
/** A disk of a small machine reads this much beside its usual work. */
export const USUAL_MB_PER_S = 20

const USUAL_LIMITS: BackupLimits = {
  mostHeldBytes: 2 ** 30,
  leastFree: LEAST_FREE,
  everyMs: 500,
  stalledMs: 600_000,
}

export interface BackupOrder {
  to: Destination
  passphrase: string | undefined
  mbPerSecond?: number | undefined
  limits?: Partial<BackupLimits>
  clock?: Clock
  /** Called with the bytes of the write-ahead log that the backup holds back. */
  onHeld?(bytes: number): void
}

export interface TakenBackup {
  /** Every command that was acknowledged before this time is in it. */
  at: string
  kind: BackupHead['kind']
  version: string
  files: number
  bytes: number
  encrypted: boolean
  seconds: number
}

interface Place {
  config: Config
  log: Log
}

/** The running server's database, or one that runs as long as the backup. */
const openHome = async (
  home: string,
  log: Log,
): Promise<AsyncDisposable & { target: DatabaseAddress }> => {
  const target = await findEmbedded(home)
  return target
    ? { target, [Symbol.asyncDispose]: async () => {} }
    : await startEmbedded({ home, log })
}

const fingerprintOf = (secret: Buffer): string =>
  deriveKey(secret, 'fingerprint').toString('hex').slice(0, 16)

const headOf = (
  { s3 }: Config,
  facts: DeploymentFacts,
  { kind, secret, room }: { kind: BackupHead['kind']; secret: Buffer; room: number },
): BackupHead => ({
  format: BACKUP_FORMAT,
  kind,
  began_at: new Date().toISOString(),
  ...facts,
  room,
  secret_key: fingerprintOf(secret),
  files: s3
    ? { store: 's3', endpoint: s3.endpoint, bucket: s3.bucket, region: s3.region }
    : { store: 'postgres' },
})

const RUNNING = 'another backup of this database is being made: wait until it is done'
const EMPTY = 'there is nothing to back up: no server has used this database yet'

const begin = async (target: DatabaseAddress): Promise<OnlineBackup> =>
  (await beginOnlineBackup(target)) ?? fail('unavailable', RUNNING)

/** Copies the files of the embedded database, beside a running server or without one. */
export const takePhysical = async (
  { config, log }: Place,
  { to, passphrase, mbPerSecond = USUAL_MB_PER_S, clock = systemClock, ...order }: BackupOrder,
): Promise<TakenBackup> => {
  const began = clock.monotonic()
  const limits = { ...USUAL_LIMITS, ...order.limits }
  const path = homeOf(config)
  checkDestination(to, path)
  if (!existsSync(dataOf(path))) fail('not_found', `${path} has no database: ${EMPTY}`)
  const data = dataOf(realpathSync(path))
  requireFreeDisk(data, limits.leastFree)
  const room = await sizeOfData(data)
  if (typeof to === 'string') requireRoom(to, room, { data, least: limits.leastFree })
  await using database = await openHome(path, log)
  const { target } = database
  const secret = await secretKey(config)
  await requireFittingSecret(target, secret)
  const facts = (await deploymentFacts(target)) ?? fail('not_found', EMPTY)
  const seal = passphrase === undefined ? undefined : await newSeal(passphrase)
  await using backup = await begin(target)
  const pace = new Pace(mbPerSecond * MB, clock)
  using watch = new BackupWatch({
    pace,
    clock,
    limits,
    database: { data, heldBytes: () => backup.heldBytes() },
    onHeld: order.onHeld,
  })
  const shelf = await shelfFor(to, seal)
  const writing = new Writing(shelf, pace, watch)
  try {
    await writing.head(headOf(config, facts, { kind: 'physical', secret, room }))
    await writing.text(SECRET, `${secret.toString('base64')}\n`)
    const at = await copyDatabase(writing, backup, { data, password: databasePassword(path)! })
    const { files } = await writing.finish(at)
    return {
      at: at.toISOString(),
      kind: 'physical',
      version: facts.version,
      files: files.length,
      bytes: bytesOf(files),
      encrypted: seal !== undefined,
      seconds: Math.round((clock.monotonic() - began) / 100) / 10,
    }
  } catch (cause) {
    await shelf.discard()
    throw asRefusal(cause)
  }
}
