/** The files of this deployment: new ones go to one store, and each is read from its own. */
import { fail } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { isBlock, spanOf, within } from './blocks.ts'
import type { Files, Store, Stores } from './files.ts'
import { postgresStore } from './postgres.ts'

export const openFiles = ({ log }: { log: Log }): Files => {
  const stores: Stores = { postgres: postgresStore(), s3: undefined }
  return filesOf(stores, stores.postgres!, log)
}

const filesOf = (stores: Stores, newest: Store, log: Log): Files => ({
  most: newest.most,
  put: newest.put,
  async *read(file, reading) {
    const store = stores[file.store] ?? fail('unavailable', 'the file is in S3, which this server has no settings for')
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
      yield within(bytes, number, reading.range)
      number++
    }
  },
})
