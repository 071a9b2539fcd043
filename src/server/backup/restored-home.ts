/** A backup that becomes a home, by its files or by its rows. */
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError, fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { isOfCopy } from '#postgres/data-files'
import { claimNewHome, type NewHome } from '#postgres/new-home'
import { type Embedded, startEmbedded } from '#postgres/start'
import { NEXT_FILE } from '../secret-key.ts'
import type { CheckedBackup } from './check.ts'
import {
  type BackupHead,
  DATA,
  OLD_SECRET,
  PASSWORD,
  SECRET,
  SMALL_PART_BYTES,
  type TableList,
  wholePart,
} from './contents.ts'
import { type NoteOfRestore, RESTORED_NOTE, type RestoreTarget } from './restore-target.ts'
import { inMib, spaceOf } from './room.ts'
import { RowLoading } from './row-loading.ts'

const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]

/** What is wrong with the operator's place is no bug of ours. */
export const refusing = <T>(step: () => T): T => {
  try {
    return step()
  } catch (cause) {
    throw new AppError('invalid_input', (cause as Error).message, { cause })
  }
}

/** Takes the home for this restore. */
const claim = (path: string, { room }: BackupHead): NewHome => {
  using stack = new DisposableStack()
  const home = stack.use(refusing(() => claimNewHome(path)))
  const { free } = spaceOf(home.path)
  if (free < room)
    fail('unavailable', `the backup needs ${inMib(room)}, and ${home.path} has ${inMib(free)}`)
  stack.move()
  return home
}

/** Parts that others read into memory. */
const SMALL = [SECRET, OLD_SECRET, PASSWORD]

const write = async (
  folder: string,
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const target = join(folder, path === OLD_SECRET ? NEXT_FILE : path)
  await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE })
  const from = SMALL.includes(path) ? [await wholePart(path, bytes, SMALL_PART_BYTES)] : bytes
  await pipeline(
    Readable.from(from, { objectMode: false }),
    createWriteStream(target, { mode: FILE_MODE, flags: 'wx' }),
  )
}

const keep = async (home: NewHome, note: NoteOfRestore): Promise<string> => {
  await writeFile(join(home.folder, RESTORED_NOTE), `${JSON.stringify(note)}\n`, {
    mode: FILE_MODE,
    flush: true,
  })
  await home.keep()
  return home.path
}

const isOfHome = (path: string): boolean =>
  [...SMALL, DATA, dirname(DATA)].includes(path) ||
  (path.startsWith(`${DATA}/`) && isOfCopy(path.slice(DATA.length + 1)))

const refuse = (path: string): never =>
  fail('invalid_input', `${path} is in the backup, but is not part of a home`)

const NEEDED = [SECRET, PASSWORD, `${DATA}/backup_label`, `${DATA}/global/pg_control`]

/** Puts back the files of an embedded database. */
export class FilesInHome implements RestoreTarget {
  readonly #home: NewHome

  constructor(path: string, head: BackupHead) {
    this.#home = claim(path, head)
  }

  async folder(path: string): Promise<void> {
    if (!isOfHome(path)) refuse(path)
    await mkdir(join(this.#home.folder, path), { recursive: true, mode: FOLDER_MODE })
  }

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (!isOfHome(path)) refuse(path)
    await write(this.#home.folder, path, bytes)
  }

  async finish({ manifest }: CheckedBackup, note: NoteOfRestore): Promise<string> {
    const missing = NEEDED.find((path) => !manifest.files.some((file) => file.path === path))
    if (missing !== undefined) fail('invalid_input', `${missing} is missing in the backup`)
    return await keep(this.#home, note)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#home[Symbol.dispose]()
  }
}

/** Makes an embedded database of rows. */
export class RowsInHome implements RestoreTarget {
  readonly #stack = new AsyncDisposableStack()

  private constructor(
    private readonly home: NewHome,
    private readonly embedded: Embedded,
    private readonly loading: RowLoading,
  ) {}

  static async open(path: string, head: BackupHead, log: Log): Promise<RowsInHome> {
    await using stack = new AsyncDisposableStack()
    const home = stack.use(claim(path, head))
    const embedded = stack.use(await startEmbedded({ home: home.folder, log }))
    const loading = stack.use(await RowLoading.begin(embedded.target, head))
    const rows = new RowsInHome(home, embedded, loading)
    rows.#stack.use(stack.move())
    return rows
  }

  tables(tables: TableList): void {
    this.loading.tables(tables)
  }

  async folder(): Promise<void> {}

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await (path === SECRET || path === OLD_SECRET
      ? write(this.home.folder, path, bytes)
      : this.loading.file(path, bytes))
  }

  async finish(checked: CheckedBackup, note: NoteOfRestore): Promise<string> {
    await this.loading.finish(checked)
    await this.loading[Symbol.asyncDispose]()
    await this.embedded[Symbol.asyncDispose]()
    return await keep(this.home, note)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
