/** Passes the parts of a logical backup to a database. */
import { fail } from '#kernel/errors'
import { beginLoading, type DatabaseLoading } from '#store/backup/loading'
import type { ConnectionOptions } from '#store/engine/db'
import type { CheckedBackup } from './check.ts'
import { type BackupHead, type TableList, tableOfPart } from './contents.ts'

export class RowLoading implements AsyncDisposable {
  private constructor(private readonly loading: DatabaseLoading) {}

  static async begin(options: ConnectionOptions, { migrations }: BackupHead): Promise<RowLoading> {
    return new RowLoading(
      await beginLoading(
        options,
        migrations.map(({ name }) => name),
      ),
    )
  }

  tables(tables: TableList): void {
    this.loading.expect(tables)
  }

  async file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const table =
      tableOfPart(path) ??
      fail('invalid_input', `${path} is in the backup, but is part of no table`)
    await this.loading.rows(table, bytes)
  }

  /** `madeAt`: for a database that no home with a note of the restore belongs to. */
  async finish({ counts }: CheckedBackup, madeAt?: string): Promise<void> {
    await this.loading.commit(new Map(Object.entries(counts!.rows)), counts!.sequences, madeAt)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.loading[Symbol.asyncDispose]()
  }
}
