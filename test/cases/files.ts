/** What each place for files must do, in one suite that runs against each. */
import { describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '#kernel/errors'
import type { FileDesk } from '#test/support/files'

export interface FilesCase {
  mine: FileDesk
  other: FileDesk
  /** Changes one stored byte of a file, past the port. */
  damage(id: string, at: number): Promise<void>
  /** Removes what is stored of a file, past the port. */
  lose(id: string): Promise<void>
}

const MIB = 1_048_576

const refusalOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => 'none',
    (cause) => (cause instanceof AppError ? `${cause.code}: ${cause.message}` : cause),
  )

const stored = async (desk: FileDesk, bytes: Uint8Array) =>
  desk.keep(await desk.files.put(desk.tenantId, bytes))

/** Bytes in pieces that end nowhere in particular. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 300_007)
    yield bytes.subarray(at, at + size)
}

export const filesCases = (name: string, it: FilesCase): void => {
  describe(`files in ${name}`, () => {
    test.each([0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 5])(
      'of %d bytes come back as they were',
      async (size) => {
        const bytes = randomBytes(size)
        const put = await it.mine.files.put(it.mine.tenantId, bytes)
        expect(put).toMatchObject({
          byteSize: size,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        })
        const file = await it.mine.keep(put)
        expect(file).toMatchObject({ id: put.id, byte_size: size, sha256: put.sha256 })
        expect(bytes.equals(await it.mine.read(file))).toBe(true)
      },
    )

    test('of bytes that come in pieces are the same', async () => {
      const bytes = randomBytes(2 * MIB + 77)
      const file = await it.mine.keep(await it.mine.files.put(it.mine.tenantId, pieces(bytes)))
      expect(file.byte_size).toBe(bytes.length)
      expect(bytes.equals(await it.mine.read(file))).toBe(true)
    })

    test('are read by range, also across the ends of their MiBs', async () => {
      const bytes = randomBytes(2 * MIB + 100)
      const file = await stored(it.mine, bytes)
      const ranges = [
        [0, 0],
        [5, 9],
        [MIB - 1, MIB],
        [MIB, MIB],
        [0, 2 * MIB],
        [2 * MIB + 99, 2 * MIB + 99],
        [0, 2 * MIB + 99],
      ] as const
      for (const [from, to] of ranges)
        expect(bytes.subarray(from, to + 1).equals(await it.mine.read(file, { from, to }))).toBe(
          true,
        )
    })

    test.each([
      [-1, 0],
      [1, 0],
      [0, 10],
      [10, 10],
    ])('have no bytes from %d to %d beyond their own', async (from, to) => {
      const file = await stored(it.mine, randomBytes(10))
      expect(await refusalOf(it.mine.read(file, { from, to }))).toBeInstanceOf(RangeError)
    })

    test('are not given out once a byte of them has changed, but those before it are', async () => {
      const bytes = randomBytes(2 * MIB)
      const file = await stored(it.mine, bytes)
      await it.damage(file.id, MIB + 3)
      expect(await refusalOf(it.mine.read(file))).toBe(
        'unavailable: the file is damaged where it is stored',
      )
      expect(await refusalOf(it.mine.read(file, { from: MIB, to: MIB }))).toBe(
        'unavailable: the file is damaged where it is stored',
      )
      expect(
        bytes.subarray(0, MIB).equals(await it.mine.read(file, { from: 0, to: MIB - 1 })),
      ).toBe(true)
    })

    test('whose bytes are gone say so', async () => {
      const file = await stored(it.mine, randomBytes(10))
      await it.lose(file.id)
      expect(await refusalOf(it.mine.read(file))).toBe('unavailable: the file is no longer there')
    })

    test('of one workspace are not found from another', async () => {
      const bytes = randomBytes(10)
      const file = await stored(it.mine, bytes)
      expect(await refusalOf(it.other.read(file))).toBe('unavailable: the file is no longer there')
      expect(bytes.equals(await it.mine.read(file))).toBe(true)
    })

    test('that are too large are refused as they come, and whole', async () => {
      const { most } = it.mine.files
      const text = `payload_too_large: a file has at most ${most / MIB} MiB`
      const large = Buffer.alloc(most + 1)
      expect(await refusalOf(it.mine.files.put(it.mine.tenantId, large))).toBe(text)
      expect(await refusalOf(it.mine.files.put(it.mine.tenantId, pieces(large)))).toBe(text)
    })

    test('whose source breaks off are not stored', async () => {
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield randomBytes(MIB)
        throw new Error('the source broke off')
      }
      expect(await refusalOf(it.mine.files.put(it.mine.tenantId, broken()))).toEqual(
        new Error('the source broke off'),
      )
    })
  })
}
