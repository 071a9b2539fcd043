/** Tar streams as our archives have them, and as others could make them. */
import { expect, test } from 'bun:test'
import { pack } from 'tar-stream'
import { readTar } from '#server/import/tar'

async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

type Entry = [header: Parameters<ReturnType<typeof pack>['entry']>[0], text?: string]

const packed = async (...entries: Entry[]): Promise<Buffer> => {
  const stream = pack()
  for (const [header, text = ''] of entries) stream.entry(header, text)
  stream.finalize()
  return Buffer.concat(await Array.fromAsync(stream as unknown as AsyncIterable<Buffer>))
}

const read = async (bytes: Uint8Array, size?: number): Promise<[string, string][]> => {
  const files: [string, string][] = []
  for await (const { path, bytes: content } of readTar(inPieces(bytes, size)))
    files.push([path, Buffer.concat(await Array.fromAsync(content)).toString()])
  return files
}

const long = 'long '.repeat(1_000)

test('files come one after the other, whatever the pieces of the stream', async () => {
  const bytes = await packed(
    [{ name: 'a' }, 'one'],
    [{ name: 'folder', type: 'directory' }],
    [{ name: './b/c' }, long],
    [{ name: 'empty' }],
  )
  for (const size of [1, 511, 512, 100_000])
    expect(await read(bytes, size)).toEqual([
      ['a', 'one'],
      ['b/c', long],
      ['empty', ''],
    ])
})

test('a file that is not read is passed over', async () => {
  const paths: string[] = []
  for await (const { path } of readTar(
    inPieces(await packed([{ name: 'a' }, long], [{ name: 'b' }])),
  ))
    paths.push(path)
  expect(paths).toEqual(['a', 'b'])
})

test('folders without end are refused', async () => {
  const folder = (await packed([{ name: 'folder', type: 'directory' }])).subarray(0, 512)
  let given = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; given < 100_000; given++) yield folder
  }
  await expect(readTar(endless()).next()).rejects.toMatchObject({
    message: expect.stringContaining('too many folders'),
  })
  expect(given).toBeLessThan(200)
})

const header = async (change: (bytes: Buffer) => void): Promise<Buffer> => {
  const bytes = await packed([{ name: 'a' }, 'one'])
  change(bytes)
  bytes.fill(' ', 148, 156)
  const sum = bytes.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return bytes
}

test.each([
  ['a link', () => packed([{ name: 'a', type: 'symlink', linkname: '/etc/passwd' }])],
  ['a name that needs a header of its own', () => packed([{ name: 'é'.repeat(200) }, 'one'])],
  ['a name in two parts', () => packed([{ name: `${'a/'.repeat(60)}b` }, 'one'])],
  ['a size that is no number', () => header((bytes) => bytes.write('9999999', 124))],
  ['a size in another form', () => header((bytes) => bytes.writeUInt8(0x80, 124))],
  [
    'a sum that does not fit',
    async () => {
      const bytes = await packed([{ name: 'a' }, 'one'])
      bytes[0]! ^= 1
      return bytes
    },
  ],
  ['an end in the middle', async () => (await packed([{ name: 'a' }, long])).subarray(0, 2_000)],
  ['an end in a header', async () => (await packed([{ name: 'a' }, long])).subarray(0, 100)],
])('%s is refused', async (_, make) => {
  await expect(read(await make())).rejects.toMatchObject({ code: 'invalid_input' })
})
