/**
 * The files of this deployment. New files go to one store, and each file is read from the store
 * that has it.
 */
import { fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import type { FileStore } from '#store/app/files'
import { isBlock, sliceRange, spanOf } from './blocks.ts'
import type { Files, Store } from './files.ts'
import { postgresStore } from './postgres.ts'

/** New files go to S3 if it is configured. */
export const openFiles = ({ log, s3 }: { log: Log; s3: Store | undefined }): Files => {
  const postgres = postgresStore()
  return filesOf({ postgres, s3 }, s3 ?? postgres, log)
}

/** A store that is not set up cannot be read. */
type Stores = Record<FileStore, Store | undefined>

const filesOf = (stores: Stores, newest: Store, log: Log): Files => ({
  most: newest.most,
  mostGib: newest.mostGib,
  put: (tenantId, source, signal) => newest.put(tenantId, source, signal),
  async *read(file, reading) {
    const store =
      stores[file.store] ??
      fail('unavailable', 'the file is in S3, which this server has no settings for')
    const span = spanOf(file, reading.range)
    if (!span) return
    let number = span.first
    for await (const bytes of store.blocks(file, span, reading)) {
      if (!isBlock(file, number, bytes)) {
        log.error(
          { file: file.id, tenant: reading.tenantId, store: file.store, block: number },
          'the bytes of a file are not those that were stored',
        )
        fail('unavailable', 'the file is damaged where it is stored')
      }
      yield sliceRange(bytes, number, reading.range)
      number++
    }
  },
})
