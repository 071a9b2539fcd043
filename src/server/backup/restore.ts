/** Puts a backup back. */
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, fail } from '#kernel/errors'
import { availableMajors } from '#postgres/binaries'
import { claimNewHome, type NewHome, requireNoHome } from '#postgres/new-home'
import { requireKnownSchema } from '#store/engine/migrate'
import { checkBackup, type PartVisitor } from './check.ts'
import { type BackupHead, DATA, PASSWORD, SECRET } from './contents.ts'
import type { BackupOrigin } from './reading.ts'
import { inMib, spaceOf } from './room.ts'

export interface RestoreOrder {
  from: BackupOrigin
  passphrase: string | undefined
  /** The home that is made. */
  home: string
}

export interface Restored {
  home: string
  /** Every command that was acknowledged before this time is in it. */
  backup_at: string
  restored_at: string
  version: string
  kind: BackupHead['kind']
}

/** Tells the next start that what it finds is from an earlier time. */
const NOTE = 'restored.json'
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]

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
      `the backup has the files of Postgres ${postgres}, and this program comes with ${majors.join(' and ') || 'none'}: bring it over with admin backup --logical where Postgres ${postgres} runs`,
    )
}

const requireRoomIn = (folder: string, bytes: number): void => {
  const { free } = spaceOf(folder)
  if (free < bytes)
    fail('unavailable', `the backup needs ${inMib(bytes)}, and ${folder} has ${inMib(free)}`)
}

const isOfHome = (path: string): boolean =>
  [SECRET, PASSWORD, DATA, dirname(DATA)].includes(path) || path.startsWith(`${DATA}/`)

const write = async (target: string, bytes: AsyncIterable<Uint8Array>): Promise<void> => {
  await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE })
  await pipeline(
    Readable.from(bytes, { objectMode: false }),
    createWriteStream(target, { mode: FILE_MODE, flags: 'wx' }),
  )
}

/** Writes the parts of a home as they come. The home is taken once the head is known. */
class HomeVisitor implements PartVisitor, Disposable {
  home: NewHome | undefined

  constructor(private readonly path: string) {}

  async head(head: BackupHead): Promise<void> {
    await requireRestorable(head)
    this.home = asRefused(() => claimNewHome(this.path))
    requireRoomIn(this.home.path, head.room)
  }

  async folder(path: string): Promise<void> {
    if (!isOfHome(path)) refuse(path)
    await mkdir(join(this.home!.folder, path), { recursive: true, mode: FOLDER_MODE })
  }

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (!isOfHome(path)) refuse(path)
    await write(join(this.home!.folder, path), bytes)
  }

  [Symbol.dispose](): void {
    this.home?.[Symbol.dispose]()
  }
}

const refuse = (path: string): never =>
  fail('invalid_input', `${path} is in the backup, but belongs into no home`)

/** What is wrong with the operator's place is no bug of ours. */
const asRefused = <T>(step: () => T): T => {
  try {
    return step()
  } catch (cause) {
    throw new AppError('invalid_input', (cause as Error).message, { cause })
  }
}

/**
 * Makes a home of a backup, which becomes one only when all of it has been checked. A failure
 * leaves nothing behind.
 */
export const restoreHome = async ({
  from,
  passphrase,
  home: path,
}: RestoreOrder): Promise<Restored> => {
  asRefused(() => requireNoHome(path))
  using visitor = new HomeVisitor(path)
  const { head, manifest } = await checkBackup(from, passphrase, visitor)
  const home = visitor.home!
  const missing = [SECRET, PASSWORD, `${DATA}/backup_label`, `${DATA}/global/pg_control`].find(
    (needed) => !manifest.files.some((file) => file.path === needed),
  )
  if (missing !== undefined) fail('invalid_input', `${missing} is missing in the backup`)
  const restored_at = new Date().toISOString()
  const note = { backup_at: manifest.at, restored_at, version: head.version }
  await writeFile(join(home.folder, NOTE), `${JSON.stringify(note)}\n`, {
    mode: FILE_MODE,
    flush: true,
  })
  await home.keep()
  return { home: home.path, ...note, kind: head.kind }
}
