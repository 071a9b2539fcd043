/**
 * Files in the database. Their bytes are part of the letter that makes their record, so neither
 * exists without the other.
 */
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { fileBlock, insertBlock, insertFile } from '#store/app/files'
import { BLOCK_BYTES, Hashing, splitBytes } from './blocks.ts'
import { requireFileRoom, type Store } from './files.ts'

/** The limit is low because the workspace's letters wait while one writes its bytes. */
const MOST = 4 * BLOCK_BYTES
const MOST_GIB = 1

export const postgresStore = (): Store => ({
  most: MOST,
  mostGib: MOST_GIB,
  async put(_, source) {
    const id = newId()
    const hashing = new Hashing()
    const blocks: Uint8Array[] = []
    for await (const bytes of splitBytes(source, { size: BLOCK_BYTES, most: MOST })) {
      hashing.add(bytes)
      blocks.push(bytes)
    }
    const file = { id, ...hashing.end() }
    return {
      id,
      byteSize: file.byte_size,
      sha256: file.sha256,
      async keep(_sql, gate) {
        requireFileRoom(gate, file.byte_size, MOST_GIB)
        return [insertFile(file), ...blocks.map((bytes, number) => insertBlock(id, number, bytes))]
      },
    }
  },
  async *blocks({ id }, { first, last }, { read, signal }) {
    for (let number = first; number <= last; number++) {
      signal?.throwIfAborted()
      const [row] = await read(fileBlock(id, number))
      if (!row) fail('unavailable', 'the file is no longer there')
      yield row!.bytes
    }
  },
})
