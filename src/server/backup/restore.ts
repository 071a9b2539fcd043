/** Puts a backup back. */
import { AppError, fail } from '#kernel/errors'
import { availableMajors, wayOver } from '#postgres/binaries'
import { requireNoHome } from '#postgres/new-home'
import { requireKnownSchema } from '#store/engine/migrate'
import { homeOf } from '../home.ts'
import { checkBackup, drain, type PartVisitor } from './check.ts'
import type { BackupHead, TableList } from './contents.ts'
import { asRefusal } from './destination.ts'
import type { BackupPlace } from './order.ts'
import type { BackupOrigin } from './reading.ts'
import type { NoteOfRestore, RestoreTarget } from './restore-target.ts'
import { RowsInDatabase } from './restored-database.ts'
import { FilesInHome, RowsInHome, refusing } from './restored-home.ts'
import { isOfStoredList } from './stored-list.ts'

export interface RestoreOrder {
  from: BackupOrigin
  passphrase: string | undefined
  /** The home that is made. By default that of the configuration, or no home but its database. */
  home?: string | undefined
}

interface RestoredBackup extends NoteOfRestore {
  restored: string
  kind: BackupHead['kind']
}

/** Throws if this program is too old for the backup. */
const requireRestorable = async ({
  kind,
  version,
  migrations,
  postgres,
}: BackupHead): Promise<void> => {
  try {
    requireKnownSchema(migrations)
  } catch (cause) {
    throw new AppError(
      'invalid_input',
      `the backup was made by a newer or another version of Tendril (its database has version ${version}): restore it with that version. ${(cause as Error).message}`,
      { cause },
    )
  }
  const majors = await availableMajors()
  if (kind === 'physical' && !majors.includes(postgres))
    fail(
      'invalid_input',
      `the backup has the files of Postgres ${postgres}, and this program has ${majors.map((major) => `Postgres ${major}`).join(' and ') || 'no Postgres'}: ${wayOver(postgres)}`,
    )
}

/** Nothing is opened, and nothing written, until the head of the backup is known. */
class Restoring implements PartVisitor, AsyncDisposable {
  target: RestoreTarget | undefined

  constructor(
    private readonly place: BackupPlace,
    /** Undefined for the database of DATABASE_URL. */
    private readonly home: string | undefined,
  ) {}

  async head(head: BackupHead): Promise<void> {
    await requireRestorable(head)
    const { config, log } = this.place
    this.target =
      this.home === undefined
        ? await RowsInDatabase.open(config, head)
        : head.kind === 'physical'
          ? new FilesInHome(this.home, head)
          : await RowsInHome.open(this.home, head, log)
  }

  tables(tables: TableList): void {
    this.target!.tables?.(tables)
  }

  async folder(path: string): Promise<void> {
    if (!isOfStoredList(`${path}/`)) await this.target!.folder!(path)
  }

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await (isOfStoredList(path) ? drain(bytes) : this.target!.file!(path, bytes))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.target?.[Symbol.asyncDispose]()
  }
}

/**
 * Makes a home of a backup, or fills the empty database of DATABASE_URL, if all of the backup is as
 * it should be. A failure leaves nothing behind.
 */
export const restoreBackup = (place: BackupPlace, order: RestoreOrder): Promise<RestoredBackup> =>
  restore(place, order).catch((cause: unknown) => {
    throw asRefusal(cause)
  })

const restore = async (
  place: BackupPlace,
  { from, passphrase, home: named }: RestoreOrder,
): Promise<RestoredBackup> => {
  const { config } = place
  const home = named ?? (config.databaseUrl ? undefined : homeOf(config))
  if (home !== undefined) refusing(() => requireNoHome(home))
  await using restoring = new Restoring(place, home)
  const checked = await checkBackup(from, passphrase, restoring)
  const { head, manifest } = checked
  const note: NoteOfRestore = {
    backup_at: manifest.at,
    restored_at: new Date().toISOString(),
    version: head.version,
  }
  const restored = await restoring.target!.finish(checked, note)
  return { restored, ...note, kind: head.kind }
}
