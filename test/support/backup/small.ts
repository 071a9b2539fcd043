/** A backup with the parts of a home, none of which is real. */
import { systemClock } from '#kernel/clock'
import { type BackupHead, DATA, OLD_SECRET, PASSWORD, SECRET } from '#server/backup/contents'
import { type Destination, shelfFor } from '#server/backup/destination'
import { Pace } from '#server/backup/pace'
import { newSeal } from '#server/backup/sealing'
import { BackupWatch } from '#server/backup/watch'
import { Writing } from '#server/backup/writing'
import { neededVersion } from '#store/engine/migrate'

/** Of a passphrase, for tests. */
export const CHEAP = { memoryKib: 64, passes: 1, lanes: 1 }

const limits = { mostHeldBytes: 1, leastFree: 0, everyMs: 1_000, stalledMs: 60_000 }

const smallHead: BackupHead = {
  format: 1,
  kind: 'physical',
  began_at: '2026-11-01T10:00:00.000Z',
  version: neededVersion(),
  migrations: [],
  deployment: '6f0c4d1e-0000-4000-8000-000000000000',
  postgres: 18,
  room: 1_000,
  secret_key: '0123456789abcdef',
  files: { store: 'postgres' },
}

/** When the backup says that it was made. */
export const SMALL_AT = '2026-11-01T10:00:05.000Z'

/** A part of several frames and chunks. */
export const BIG_PART = `${DATA}/base/1/1259`
const BIG = Buffer.alloc(700_001, 'a page of a table, ')

const SECRET_KEY = `${Buffer.alloc(32, 'k').toString('base64')}\n`

interface Small {
  passphrase?: string
  head?: Partial<BackupHead>
  secret?: string
  /** The key that a rotation has left. */
  old?: string
  /** Further parts. */
  more?: Record<string, string>
}

export const smallBackup = async (
  to: Destination,
  { passphrase, head, secret = SECRET_KEY, old, more = {} }: Small = {},
): Promise<void> => {
  const pace = new Pace(1e9, systemClock)
  using watch = new BackupWatch({ pace, clock: systemClock, limits })
  const seal = passphrase === undefined ? undefined : await newSeal(passphrase, CHEAP)
  const writing = new Writing(await shelfFor(to, seal), pace, watch)
  await writing.head({ ...smallHead, ...head })
  await writing.text(SECRET, secret)
  if (old !== undefined) await writing.text(OLD_SECRET, old)
  await writing.text(PASSWORD, 'password')
  await writing.folder(DATA)
  await writing.folder(`${DATA}/pg_notify`)
  await writing.text(`${DATA}/PG_VERSION`, '18\n')
  await writing.put(BIG_PART, BIG)
  await writing.text(`${DATA}/empty`, '')
  for (const [path, text] of Object.entries(more)) await writing.text(path, text)
  await writing.text(`${DATA}/global/pg_control`, 'control')
  await writing.text(`${DATA}/backup_label`, 'label')
  await writing.finish(new Date(SMALL_AT))
}
