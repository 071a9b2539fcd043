/** Streams that are compressed by zstd, told by their first bytes. */

/** How many bytes are read and inflated at once. */
export const CHUNK_BYTES = 262_144
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** The first bytes of a stream, fewer if it ends before, and all that follows. */
export const split = async (
  bytes: AsyncIterable<Uint8Array>,
  length: number,
): Promise<{ head: Buffer; rest: AsyncGenerator<Uint8Array> }> => {
  const iterator = bytes[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < length) {
    const { done, value } = await iterator.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    if (head.length > length) yield head.subarray(length)
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head: head.subarray(0, length), rest: rest() }
}

export async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>) {
  yield head
  yield* rest
}

/** All of a stream, if it is compressed; otherwise undefined. */
export const asZstd = async (
  bytes: AsyncIterable<Uint8Array>,
): Promise<AsyncIterable<Uint8Array> | undefined> => {
  const { head, rest } = await split(bytes, ZSTD_MAGIC.length)
  return head.equals(ZSTD_MAGIC) ? joined(head, rest) : undefined
}
