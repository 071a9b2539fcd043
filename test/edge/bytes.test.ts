/** Stored files over HTTP: ranges, validators, and what happens when their bytes fail. */
import { expect, test } from 'bun:test'
import { bytesResponse, type FileSending, fileSlots, rangeOf } from '#edge/bytes'
import { AppError } from '#kernel/errors'
import { createLog } from '#kernel/log'
import type { StoredFile } from '#ops/engine/call'

const SIZE = 1_000
const ETAG = `"${'a'.repeat(64)}"`

const asked = (headers: Record<string, string>, method = 'GET') =>
  new Request('http://localhost/', { method, headers })
const range = (text: string, size = SIZE) => rangeOf(asked({ range: text }), size, ETAG)

test.each([
  ['bytes=0-0', { from: 0, to: 0 }],
  ['bytes=0-', { from: 0, to: 999 }],
  ['bytes=990-', { from: 990, to: 999 }],
  ['bytes=10-20', { from: 10, to: 20 }],
  ['bytes=10-99999', { from: 10, to: 999 }],
  ['bytes=-1', { from: 999, to: 999 }],
  ['bytes=-5000', { from: 0, to: 999 }],
  ['BYTES=0-1', { from: 0, to: 1 }],
  ['bytes=1000-', 'none'],
  ['bytes=1000-2000', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=20-10', undefined],
  ['bytes=0-1,5-6', undefined],
  ['bytes=a-b', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1x', undefined],
  ['bytes=99999999999999999999-', undefined],
  ['lines=0-1', undefined],
  ['', undefined],
])('Range %j of a thousand bytes', (text, expected) => {
  expect(range(text)).toEqual(expected as never)
})

test('an empty file has no range', () => {
  for (const text of ['bytes=0-', 'bytes=0-0', 'bytes=-1'])
    expect([text, range(text, 0)]).toEqual([text, 'none'])
})

test('a range counts only for GET, and only while the copy that it belongs to is current', () => {
  const given = { range: 'bytes=0-1' }
  expect(rangeOf(asked(given, 'HEAD'), SIZE, ETAG)).toBeUndefined()
  expect(rangeOf(asked({ ...given, 'if-range': ETAG }), SIZE, ETAG)).toEqual({ from: 0, to: 1 })
  for (const other of ['"other"', `W/${ETAG}`, 'Wed, 21 Oct 2026 07:28:00 GMT'])
    expect(rangeOf(asked({ ...given, 'if-range': other }), SIZE, ETAG)).toBeUndefined()
})

const MIB = 1_048_576

const fileOf = (pieces: () => AsyncGenerator<Uint8Array>, byteSize = 3 * MIB): StoredFile => ({
  name: 'a.bin',
  mimeType: 'application/octet-stream',
  byteSize,
  sha256: 'a'.repeat(64),
  read: pieces,
})

const answer = (
  file: StoredFile,
  slots = fileSlots(),
  request = asked({}),
  holder: FileSending['holder'] = { party: 'p' },
) => bytesResponse(file, { request, requestId: 'r', slots, holder, log: createLog('silent') })

async function* pieces(count: number, failing?: unknown) {
  for (let number = 0; number < count; number++) yield new Uint8Array(MIB).fill(number)
  if (failing) throw failing
}

test('a file that cannot be read is an error before the answer begins, and cuts it off afterwards', async () => {
  const gone = new AppError('unavailable', 'the file is no longer there')
  await expect(answer(fileOf(() => pieces(0, gone)))).rejects.toBe(gone)
  await expect(answer(fileOf(() => pieces(0, gone), 10))).rejects.toBe(gone)
  const begun = await answer(fileOf(() => pieces(2, gone)))
  expect(begun.status).toBe(200)
  expect(
    await begun.bytes().then(
      ({ length }) => length,
      () => 'cut off',
    ),
  ).toBe('cut off')
})

test('a connection that breaks off mid-way reaches the client as an error, never as a shorter file', async () => {
  const server = Bun.serve({
    port: 0,
    fetch: () => answer(fileOf(() => pieces(2, new AppError('unavailable')))),
  })
  const received = await fetch(server.url).then((response) =>
    response.bytes().then(
      ({ length }) => length,
      () => 'cut off',
    ),
  )
  expect(received).toBe('cut off')
  await server.stop(true)
})

test('downloads at once are bounded for each party, and each end makes room', async () => {
  const slots = fileSlots()
  const open = async () =>
    (
      await answer(
        fileOf(() => pieces(3)),
        slots,
      )
    ).body!.getReader()
  const readers = await Promise.all(Array.from({ length: 16 }, open))
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited', detail: 'files' })
  await readers[0]!.cancel()
  const next = await open()
  await expect(open()).rejects.toMatchObject({ code: 'rate_limited' })
  while (!(await next.read()).done);
  await (await open()).cancel()
  // What needs no bytes takes no place.
  const head = await answer(
    fileOf(() => pieces(3)),
    slots,
    asked({}, 'HEAD'),
  )
  expect(head.headers.get('content-length')).toBe(String(3 * MIB))
})

test('strangers from any number of networks take no more than the share of the workspace whose file it is, and give it up to others', async () => {
  const slots = fileSlots()
  const open = async (party: string, workspace: string) => {
    const long = fileOf(() => pieces(3))
    return (await answer(long, slots, asked({}), { party, workspace })).body!.getReader()
  }
  const taken = async (workspace: string) =>
    await Promise.all(
      Array.from({ length: 64 }, (_, net) => open(`net ${workspace} ${net}`, workspace)),
    )
  const first = await taken('one')
  await expect(open('another net', 'one')).rejects.toMatchObject({
    code: 'rate_limited',
    detail: 'files',
  })
  for (const workspace of ['two', 'three', 'four']) await taken(workspace)
  // All places are taken now, and nobody reads.
  await open('somebody', 'somebody')
  const given = first.at(-1)!
  await expect(given.read().then(() => given.read())).rejects.toBeUndefined()
})

test('a download that is given up stops reading', async () => {
  let read = 0
  let isEnded = false
  const file = fileOf(async function* () {
    try {
      for (;;) {
        read++
        yield new Uint8Array(MIB)
      }
    } finally {
      isEnded = true
    }
  })
  const reader = (await answer(file)).body!.getReader()
  await reader.read()
  await reader.cancel()
  expect([read <= 3, isEnded]).toEqual([true, true])
})
