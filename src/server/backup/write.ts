/** Writes one backup of whatever kind. */
import type { Config } from '#config/config'
import { systemClock } from '#kernel/clock'
import type { SecretKey } from '#kernel/secret'
import type { DeploymentFacts } from '#store/backup/deployment-facts'
import type { BackupKeys } from '../secret-key.ts'
import { BACKUP_FORMAT, type BackupHead, bytesOf, OLD_SECRET, SECRET } from './contents.ts'
import { asRefusal, shelfFor } from './destination.ts'
import { type BackupOrder, type TakenBackup, USUAL_LIMITS, USUAL_MB_PER_S } from './order.ts'
import { Pace } from './pace.ts'
import { newSeal } from './sealing.ts'
import { BackupWatch, type Watched } from './watch.ts'
import { Writing } from './writing.ts'

const MB = 1_000_000

/** What is backed up. */
export interface BackupSource {
  kind: BackupHead['kind']
  facts: DeploymentFacts
  keys: BackupKeys
  /** How many bytes a restore needs, about. */
  room: number
  database?: Watched['database']
  /** Writes the parts. Returns the time up to which every acknowledged command is in them. */
  copy(writing: Writing): Promise<Date>
}

const headOf = ({ s3 }: Config, { kind, facts, keys, room }: BackupSource): BackupHead => ({
  format: BACKUP_FORMAT,
  kind,
  began_at: new Date().toISOString(),
  ...facts,
  room,
  secret_key: keys.newest.fingerprint,
  ...(keys.old && { old_secret_key: keys.old.fingerprint }),
  files: s3
    ? { store: 's3', endpoint: s3.endpoint, bucket: s3.bucket, region: s3.region }
    : { store: 'postgres' },
})

const textOf = ({ bytes }: SecretKey): string => `${bytes.toString('base64')}\n`

/** A failure leaves nothing behind. */
export const writeBackup = async (
  config: Config,
  { to, passphrase, mbPerSecond = USUAL_MB_PER_S, clock = systemClock, ...order }: BackupOrder,
  source: BackupSource,
): Promise<TakenBackup> => {
  const began = clock.monotonic()
  const seal = passphrase === undefined ? undefined : await newSeal(passphrase)
  const pace = new Pace(mbPerSecond * MB, clock)
  const limits = { ...USUAL_LIMITS, ...order.limits }
  const { onHeld, signal } = order
  using watch = new BackupWatch({ pace, clock, limits, database: source.database, onHeld, signal })
  const shelf = await shelfFor(to, seal)
  const writing = new Writing(shelf, pace, watch)
  try {
    const { newest, old } = source.keys
    await writing.head(headOf(config, source))
    await writing.text(SECRET, textOf(newest))
    if (old) await writing.text(OLD_SECRET, textOf(old))
    const { at, files } = await writing.finish(await watch.unless(source.copy(writing)))
    return {
      at,
      kind: source.kind,
      version: source.facts.version,
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
