/** Files while the storage fails: none is kept without its bytes, and none is read with others. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import type { AppError } from '#kernel/errors'
import { createLog } from '#kernel/log'
import { fileDesk } from '#test/support/files'
import { type Asked, openS3, type S3Fault } from '#test/support/s3/server'
import { use, useApp } from '#test/support/use'

const MIB = 1_048_576

const lines: string[] = []
const s3 = use(openS3)
const app = useApp(() => ({
  env: { ...s3.env, LOG_LEVEL: 'info' },
  log: createLog('info', { write: (line: string) => void lines.push(line) }),
  overrides: { bucketTimes: { restMs: 5 } },
}))
const desk = use(async () => ({ ...fileDesk(app, app.tenantId), async [Symbol.asyncDispose]() {} }))

beforeEach(() => {
  s3.asked.length = 0
  lines.length = 0
})
afterEach(() => {
  s3.fault = () => undefined
})

/** The fault of the first so many requests that are meant. */
const failing = (
  when: (asked: Asked) => boolean,
  fault: S3Fault,
  times = Number.POSITIVE_INFINITY,
) => {
  let left = times
  s3.fault = (asked) => (when(asked) && left-- > 0 ? fault : undefined)
}

const isPut = ({ method, query }: Asked) => method === 'PUT' && !query.has('partNumber')
const isPart = ({ method, query }: Asked) => method === 'PUT' && query.has('partNumber')
const isEnd = ({ method, query }: Asked) => method === 'POST' && query.has('uploadId')
const isHead = ({ method }: Asked) => method === 'HEAD'
const isGet = ({ method }: Asked) => method === 'GET'

const OUT_OF_ORDER = { status: 503, code: 'SlowDown' }
const UNAVAILABLE =
  'unavailable: the storage of files does not answer as it should; try again later'

const refusalOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'none',
    (cause: AppError) => `${cause.code}: ${cause.message}`,
  )

const put = (size: number, signal?: AbortSignal) =>
  desk.files.put(app.tenantId, randomBytes(size), signal)
const keptRows = async () =>
  (
    await app.owner<{ id: string }[]>`select id from file where kept_at is not null order by id`
  ).map(({ id }) => id)
const count = (start: string) => s3.asked.filter((asked) => asked.startsWith(start)).length

describe('storing', () => {
  test.each<[string, S3Fault]>([
    ['is away', 'away'],
    ['answers 503', OUT_OF_ORDER],
    ['answers 500', { status: 500, code: 'InternalError' }],
    ['loses its answers', 'lost'],
  ])('is refused after three tries if the storage %s, and keeps nothing', async (_, fault) => {
    const before = await keptRows()
    failing(isPut, fault)
    expect(await refusalOf(put(100))).toBe(UNAVAILABLE)
    expect(count('PUT')).toBe(3)
    expect(await keptRows()).toEqual(before)
  })

  test.each<[string, S3Fault]>([
    ['is away', 'away'],
    ['answers 503', OUT_OF_ORDER],
    ['loses its answer', 'lost'],
  ])('succeeds if the storage %s twice', async (_, fault) => {
    failing(isPut, fault, 2)
    const bytes = randomBytes(100)
    const file = await desk.keep(await desk.files.put(app.tenantId, bytes))
    expect(bytes.equals(await desk.read(file))).toBe(true)
  })

  test.each([403, 400, 404])('is refused at once if the storage answers %d', async (status) => {
    failing(isPut, { status, code: 'AccessDenied' })
    expect(await refusalOf(put(100))).toBe(UNAVAILABLE)
    expect(count('PUT')).toBe(1)
  })

  test('is refused if the storage says that it has the object, and has not', async () => {
    failing(isHead, { status: 404, code: 'NotFound' })
    expect(await refusalOf(put(100))).toBe(UNAVAILABLE)
  })

  test('in parts succeeds if parts and the end need several tries, also if the end is done and its answer lost', async () => {
    for (const [when, fault] of [
      [isPart, OUT_OF_ORDER],
      [isEnd, OUT_OF_ORDER],
      [isEnd, 'lost'],
    ] as const) {
      failing(when, fault, 2)
      const bytes = randomBytes(9 * MIB)
      const file = await desk.keep(await desk.files.put(app.tenantId, bytes))
      expect(
        createHash('sha256')
          .update(await desk.read(file))
          .digest('hex'),
      ).toBe(file.sha256)
    }
    expect(await s3.disk.uploads()).toEqual([])
  })

  test.each<[string, (asked: Asked) => boolean]>([
    ['part', isPart],
    ['end', isEnd],
  ])('leaves no upload behind if a %s fails for good', async (_, when) => {
    failing(when, OUT_OF_ORDER)
    expect(await refusalOf(put(9 * MIB))).toBe(UNAVAILABLE)
    expect(await s3.disk.uploads()).toEqual([])
  })

  test('stops when its caller does', async () => {
    const stop = new AbortController()
    s3.fault = () => {
      stop.abort(new Error('the caller is gone'))
      return 'hang'
    }
    expect(await put(100, stop.signal).catch((cause) => cause.message)).toBe('the caller is gone')
  })

  test('is refused if more wait than may, and goes on one after the other', async () => {
    const first = Promise.withResolvers<void>()
    s3.fault = async (asked) => void (isPut(asked) && (await first.promise))
    const all = Array.from({ length: 13 }, () => refusalOf(put(10)))
    expect(await Promise.race(all)).toStartWith('rate_limited: rate_limited:uploads of files')
    first.resolve()
    // Three at once are one workspace's, and eight wait.
    expect((await Promise.all(all)).filter((refusal) => refusal === 'none')).toHaveLength(11)
  })
})

describe('reading', () => {
  const stored = async (size: number) => {
    const bytes = randomBytes(size)
    const file = await desk.keep(await desk.files.put(app.tenantId, bytes))
    s3.asked.length = 0
    return { bytes, file }
  }

  test.each<[string, S3Fault]>([
    ['breaks off at its begin', { cut: 0 }],
    ['breaks off within a MiB', { cut: MIB + 500_000 }],
    ['breaks off between two', { cut: MIB }],
    ['is 503', OUT_OF_ORDER],
    ['is none', 'away'],
  ])('goes on where it was if an answer %s', async (_, fault) => {
    const { bytes, file } = await stored(3 * MIB)
    failing(isGet, fault, 2)
    expect(bytes.equals(await desk.read(file))).toBe(true)
    expect(count('GET')).toBe(3)
  })

  test('gives up after three answers without a whole MiB', async () => {
    const { file } = await stored(3 * MIB)
    failing(isGet, { cut: 1_000 })
    expect(await refusalOf(desk.read(file))).toBe(UNAVAILABLE)
    expect(count('GET')).toBe(3)
  })

  test('gives out what came before a changed byte, and nothing of its MiB', async () => {
    const { bytes, file } = await stored(3 * MIB)
    failing(isGet, { change: MIB + 5 })
    const given: Uint8Array[] = []
    const reading = async () => {
      for await (const piece of desk.files.read(file, { tenantId: app.tenantId, read: desk.rows }))
        given.push(piece)
    }
    expect(await refusalOf(reading())).toBe('unavailable: the file is damaged where it is stored')
    expect(bytes.subarray(0, MIB).equals(Buffer.concat(given))).toBe(true)
  })

  test('refuses an object of another size', async () => {
    const { file } = await stored(3 * MIB)
    expect(await refusalOf(desk.read({ ...file, byte_size: 3 * MIB - 1 }))).toBe(UNAVAILABLE)
  })

  test('ends the request when its reader stops', async () => {
    const { file } = await stored(3 * MIB)
    failing(isGet, { stall: MIB + 1 })
    for await (const piece of desk.files.read(file, { tenantId: app.tenantId, read: desk.rows })) {
      expect(piece.length).toBe(MIB)
      break
    }
    expect(count('GET')).toBe(1)
  })
})

test('the log says what failed, where and for whom, and contains no secret', async () => {
  failing(isPut, { status: 403, code: 'SignatureDoesNotMatch' })
  await refusalOf(put(10))
  const [line] = lines.filter((text) => text.includes('the storage of files failed'))
  expect(JSON.parse(line!)).toMatchObject({
    level: 50,
    workspace: app.tenantId,
    err: { type: 'S3Fault' },
  })
  expect(line).toContain('S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID')
  for (const text of lines)
    expect(text).not.toMatch(/AWS4-HMAC|Signature=|Credential=|secretAccessKey/)
})
