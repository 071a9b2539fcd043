/** Archives that are not whole, not of one export, or made to harm: all of it is refused. */
import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { zstdCompressSync } from 'node:zlib'
import { documentRecord } from '#contract/records/agent/document'
import { newId } from '#kernel/ids'
import { type SecretKey, secretKeyOf } from '#kernel/secret'
import { SecretKeys, soleKey } from '#kernel/secret-keys'
import { archiveLines, archiveParts, LONGEST_LINE } from '#server/import/archive'
import { lookInto } from '#server/import/look'
import { readArchive } from '#server/import/read'
import { type ArchiveLine, exportedRow, listAgain, writeArchive } from '#test/support/archives'
import { sampleOf } from '#test/support/database/sample'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
const to = (name: string): string => join(folder.path, name)
const SECRET = Buffer.alloc(32, 'ours')
const KEYS = soleKey(SECRET)
const FILES = { most: 4 * 2 ** 20, mostGib: 1 }

const artifact = newId()
const bytes = Buffer.from('# Docks\n')
const product = (id: string): ArchiveLine => ({
  kind: 'product',
  record: {
    id,
    name: 'Dock',
    one_liner: 'Schedules docks',
    url: null,
    status: 'active',
    created_at: new Date(),
    updated_at: new Date(),
  },
})
const records: ArchiveLine[] = [
  product(newId()),
  product(newId()),
  { kind: 'spell', record: { id: newId() } },
  {
    kind: 'artifact',
    record: {
      id: artifact,
      job_id: null,
      conversation_id: null,
      created_by_user_id: null,
      source: 'capability',
      kind: 'report',
      file_name: 'docks.md',
      mime_type: 'text/markdown',
      byte_size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      metadata: {},
      untrusted: false,
      created_at: new Date(),
      deleted_at: null,
    },
  },
]

beforeAll(async () => {
  const files = { [artifact]: bytes }
  await writeArchive(to('ours'), { records, files, secret: SECRET })
  await writeArchive(to('ours.tar.zst'), { records, files, secret: SECRET })
})

const read = (from: string) => readArchive(from, KEYS, { record() {} })

test.each(['ours', 'ours.tar.zst'])(
  '%s is read in order, and proves by its seal who has made it',
  async (name) => {
    const seen: string[] = []
    const { head, sealed } = await readArchive(to(name), KEYS, {
      record: ({ kind }) => void seen.push(kind),
      file: async (id) => void seen.push(id),
    })
    expect(seen).toEqual(['product', 'product', 'spell', 'artifact', artifact])
    expect([head.name, sealed]).toEqual(['Edited', true])
    const other = secretKeyOf(Buffer.alloc(32, 'other'))
    const isSealed = async (...known: SecretKey[]) =>
      (await readArchive(to(name), new SecretKeys(known), { record() {} })).sealed
    expect(await isSealed(other)).toBe(false)
    // As while the key is rotated.
    expect(await isSealed(other, secretKeyOf(SECRET))).toBe(true)
  },
)

const edited = (edit: (path: string) => void): string => {
  const path = to(newId())
  cpSync(to('ours'), path, { recursive: true })
  edit(path)
  return path
}

const LINES = 'records/000001.ndjson'
const withLines = (change: (lines: string[]) => string[]) => (path: string) => {
  const lines = readFileSync(join(path, LINES), 'utf8').trimEnd().split('\n')
  writeFileSync(join(path, LINES), `${change(lines).join('\n')}\n`)
  listAgain(path)
}

test.each<[string, (path: string) => void, string]>([
  ['without a listing', (path) => rmSync(join(path, 'listing.json')), 'cut off'],
  ['without a head', (path) => rmSync(join(path, 'tenant.json')), 'does not begin with'],
  [
    'with other bytes than its listing says',
    (path) => writeFileSync(join(path, `files/${artifact}`), 'other'),
    'is not what its listing says',
  ],
  ['with a part missing', (path) => rmSync(join(path, `files/${artifact}`)), 'is missing'],
  [
    'with a part too many',
    (path) => writeFileSync(join(path, `files/${newId()}`), 'more'),
    'not in its listing',
  ],
  ['with a strange part', (path) => writeFileSync(join(path, 'escape'), 'more'), 'strange name'],
  ['with a link', (path) => symlinkSync('/etc', join(path, 'files/etc')), 'is not a plain file'],
  [
    'with a head of another format',
    (path) => writeFileSync(join(path, 'tenant.json'), '{"format":"other"}'),
    'tenant.json of the archive',
  ],
  [
    'with records in another order',
    withLines(([first = '', ...lines]) => [first, ...lines.slice(0, -1).reverse(), lines.at(-1)!]),
    'is out of order',
  ],
  ['with a line too few', withLines((lines) => lines.toSpliced(1, 1)), 'its last line says'],
  ['without its last line', withLines((lines) => lines.slice(0, -1)), 'last line of the export'],
  ['without its first line', withLines((lines) => lines.slice(1)), 'not those of one export'],
  ['with two exports', withLines((lines) => [...lines, ...lines]), 'after the end'],
  [
    'with a line that is no record',
    withLines(([first = '', ...lines]) => [first, '[]', ...lines]),
    'is malformed',
  ],
  [
    'with a line that is no JSON',
    withLines(([first = '', ...lines]) => [first, '{', ...lines]),
    'is malformed',
  ],
  [
    'with a line that is cut off',
    (path) => {
      writeFileSync(join(path, LINES), readFileSync(join(path, LINES)).subarray(0, -1))
      listAgain(path)
    },
    'cut off',
  ],
  [
    'with a line in no encoding',
    (path) => {
      writeFileSync(join(path, LINES), Buffer.from([0xff, 0x0a]))
      listAgain(path)
    },
    'is not valid UTF-8',
  ],
])('an archive %s is refused', async (_, edit, message) => {
  await expect(read(edited(edit))).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(message),
  })
})

test('a seal of somebody else’s is none', async () => {
  const from = edited((path) =>
    writeFileSync(join(path, 'seal.json'), JSON.stringify({ seal: 'A'.repeat(44) })),
  )
  expect((await read(from)).sealed).toBe(false)
  expect((await read(edited((path) => rmSync(join(path, 'seal.json'))))).sealed).toBe(false)
})

test.each(['cut off', 'altered', 'with more behind it', 'no archive'])(
  'a file that is %s is refused',
  async (how) => {
    const whole = readFileSync(to('ours.tar.zst'))
    const half = Math.floor(whole.length / 2)
    const broken = {
      'cut off': whole.subarray(0, half),
      altered: Buffer.concat([whole.subarray(0, half), Buffer.from([1]), whole.subarray(half + 1)]),
      'with more behind it': Buffer.concat([whole, zstdCompressSync(Buffer.alloc(2 ** 24))]),
      'no archive': Buffer.from('PK\u0003\u0004'),
    }[how]!
    writeFileSync(to(`${how}.tar.zst`), broken)
    await expect(read(to(`${how}.tar.zst`))).rejects.toMatchObject({ code: 'invalid_input' })
  },
)

test('no more of a line is held than the longest one has', async () => {
  let given = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (const chunk = Buffer.alloc(2 ** 16, 'x'); ; given += chunk.length) yield chunk
  }
  const lines = archiveLines({ path: LINES, size: 0, bytes: endless() })
  await expect(lines.next()).rejects.toMatchObject({ code: 'invalid_input' })
  expect(given).toBeLessThan(LONGEST_LINE + 2 ** 17)
})

test('bytes without end that nobody lists are refused by their size', async () => {
  const block = Buffer.alloc(512)
  block.write(`files/${newId()}`)
  block.write('77777777777\0', 124)
  block.write('0', 156)
  block.write('ustar', 257)
  block.fill(' ', 148, 156)
  block.write(`${block.reduce((sum, byte) => sum + byte, 0).toString(8)}\0`, 148)
  writeFileSync(to('bomb.tar.zst'), zstdCompressSync(Buffer.concat([block, Buffer.alloc(2 ** 24)])))
  await expect(read(to('bomb.tar.zst'))).rejects.toMatchObject({
    message: 'the archive is larger than any workspace',
  })
})

test('more records than any workspace has are refused by their size', async () => {
  const path = to('large')
  mkdirSync(join(path, 'records'), { recursive: true })
  for (let part = 1; part <= 33; part++) {
    const name = join(path, 'records', `${String(part).padStart(6, '0')}.ndjson`)
    writeFileSync(name, '')
    // It has no blocks.
    truncateSync(name, 128 * 2 ** 20)
  }
  let parts = 0
  const count = async () => {
    for await (const { bytes } of archiveParts(path)) {
      ;(bytes as Readable).destroy()
      parts++
    }
  }
  await expect(count()).rejects.toMatchObject({
    message: 'the archive is larger than any workspace',
  })
  expect(parts).toBe(32)
})

test('what does not fit into the plan of a new workspace is refused before anything is written', async () => {
  await expect(lookInto(to('ours'), KEYS, { ...FILES, mostGib: 0 })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('GiB'),
  })
  const many = Array.from({ length: 2_001 }, (_, at) => {
    const content = `Document ${at}`
    const sha256 = createHash('sha256').update(content).digest('hex')
    const author = { kind: 'key', id: 'k', personId: null } as const
    const changes = { content, sha256, author, metadata: {}, error: null, mime_type: 'text/plain' }
    const record = exportedRow(documentRecord, {
      ...sampleOf(documentRecord, 'text', { status: 'ready' }),
      ...changes,
    })
    return { kind: 'document', record }
  })
  await writeArchive(to('documents'), { records: many })
  await expect(lookInto(to('documents'), KEYS, FILES)).rejects.toMatchObject({
    message: expect.stringContaining('2001 documents'),
  })
})

test('an artifact without its bytes, or with others, is known by that', async () => {
  const from = edited((path) => {
    writeFileSync(join(path, `files/${artifact}`), 'other')
    listAgain(path)
  })
  const faults = async (path: string) =>
    [...(await lookInto(path, KEYS, FILES)).expected.values()].map(({ fault }) => fault)
  expect(await faults(from)).toEqual(['its bytes do not match its sha256'])
  expect(await faults(to('ours'))).toEqual([undefined])
})
