/** A backup that becomes the database of DATABASE_URL. */
import type { Config } from '#config/config'
import { fail } from '#kernel/errors'
import { parseSecret } from '#kernel/secret'
import { connectionOptionsOf } from '../database-url.ts'
import type { CheckedBackup } from './check.ts'
import {
  type BackupHead,
  OLD_SECRET,
  SECRET,
  SMALL_PART_BYTES,
  type TableList,
  wholePart,
} from './contents.ts'
import type { NoteOfRestore, RestoreTarget } from './restore-target.ts'
import { RowLoading } from './row-loading.ts'

const KEY =
  'TENDRIL_SECRET_KEY must be the key that the backup has, since it encrypts what is in the database: tendril admin backup key FROM prints it, and during a rotation one for TENDRIL_SECRET_KEY_NEXT as well'

export class RowsInDatabase implements RestoreTarget {
  private constructor(
    private readonly config: Config,
    private readonly loading: RowLoading,
  ) {}

  static async open(config: Config, head: BackupHead): Promise<RowsInDatabase> {
    if (head.kind === 'physical')
      fail(
        'invalid_input',
        'the backup has the files of an embedded database: name its new home with --home, or make a backup with --logical for DATABASE_URL',
      )
    if (!config.secretKey) fail('invalid_input', KEY)
    const loading = await RowLoading.begin(connectionOptionsOf(config.databaseUrl!), head)
    return new RowsInDatabase(config, loading)
  }

  tables(tables: TableList): void {
    this.loading.tables(tables)
  }

  async folder(): Promise<void> {}

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (path !== SECRET && path !== OLD_SECRET) return await this.loading.file(path, bytes)
    const key = parseSecret(String(await wholePart(path, bytes, SMALL_PART_BYTES)))
    const { secretKey, nextSecretKey } = this.config
    const own = [secretKey, nextSecretKey].map((text) => parseSecret(text ?? ''))
    if (!key || !own.some((one) => one?.equals(key))) fail('invalid_input', KEY)
  }

  async finish(checked: CheckedBackup, note: NoteOfRestore): Promise<string> {
    await this.loading.finish(checked, note.backup_at)
    return 'the database of DATABASE_URL'
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.loading[Symbol.asyncDispose]()
  }
}
