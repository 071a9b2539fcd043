/**
 * Downloads of artifacts: whole or in part, by safe names; and of those in S3, refused in words
 * while the storage fails.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { makeArtifact, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { openS3 } from '#test/support/s3/server'
import { use, useApp, useSharedApp } from '#test/support/use'

const MIB = 1_048_576

const s3 = use(openS3)
const inDatabase = useSharedApp()
const app = useApp(() => ({ env: s3.env, overrides: { bucketTimes: { restMs: 1 } } }))
afterEach(() => {
  s3.fault = () => undefined
})

const inS3 = async (size: number) => {
  const surface = await newSurface(app)
  const bytes = randomBytes(size)
  const { id } = await makeArtifact(surface, { bytes })
  const headers = { authorization: `Bearer ${surface.key}` }
  const download = (more: Record<string, string> = {}) =>
    fetch(`${app.url}/api/v1/artifacts/${id}/download`, { headers: { ...headers, ...more } })
  return { ...surface, id, bytes, download }
}

/** Nothing that names the storage. */
const expectHidden = (response: Response, text: string) => {
  const said = `${text}${JSON.stringify([...response.headers])}`
  for (const word of [
    s3.settings.endpoint,
    s3.settings.bucket,
    s3.settings.accessKeyId,
    'X-Amz',
    'x-amz',
  ])
    expect(said).not.toContain(word)
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** In the database, as where no storage is configured. */
const setUp = async () => {
  const surface = await newSurface(inDatabase)
  const fetched = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${inDatabase.url}/api/v1/artifacts/${id}/download`, {
      method,
      headers: { authorization: `Bearer ${surface.key}`, ...headers },
    })
  return {
    fetched,
    make: (changes: Parameters<typeof makeArtifact>[1] = {}) => makeArtifact(surface, changes),
  }
}

describe('a download', () => {
  const hostile = [
    'a"; filename="b.exe',
    'x\r\nSet-Cookie: a=b',
    '../../../etc/passwd',
    'Größe 😀.md',
    `${'ä'.repeat(300)}.md`,
    '.htaccess',
    '\u202Etxt.exe',
  ]

  test.each(hostile)(
    'of a file named %j is an attachment with one safe name',
    async (file_name) => {
      const { make, fetched } = await setUp()
      const { id, file_name: kept } = await make({ file_name })
      const { headers, status } = await fetched(id)
      expect([status, headers.get('set-cookie')]).toEqual([200, null])
      const [, plain, extended] =
        /^attachment; filename="([ -!#-[\]-~]*)"(?:; filename\*=UTF-8''(.*))?$/.exec(
          headers.get('content-disposition')!,
        )!
      expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(kept)
      expect(kept).not.toMatch(/[/\\\r\n"]|^\.|\u202E/)
    },
  )

  test('of a page is never something that a browser would run', async () => {
    const { make, fetched } = await setUp()
    const { id } = await make({
      bytes: '<script>alert(1)</script>',
      mime_type: 'text/html',
      file_name: 'a.html',
    })
    const { headers } = await fetched(id)
    expect(
      Object.fromEntries(
        ['content-type', 'x-content-type-options', 'content-security-policy', 'cache-control'].map(
          (name) => [name, headers.get(name)],
        ),
      ),
    ).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-cache',
    })
    expect(headers.get('content-disposition')).toStartWith('attachment; ')
  })

  test.each([1, 1_048_576, 1_048_577, 4 * 1_048_576])(
    'of %d bytes is whole, and can be asked for by range',
    async (size) => {
      const { make, fetched } = await setUp()
      const bytes = new Uint8Array(size).map((_, index) => (index * 7 + (index >> 12)) % 256)
      const { id, sha256: hash } = await make({ bytes })
      expect(hash).toBe(sha256(bytes))
      const whole = await fetched(id)
      const received = await whole.bytes()
      expect([
        whole.status,
        received.length,
        sha256(received),
        whole.headers.get('etag'),
        whole.headers.get('accept-ranges'),
      ]).toEqual([200, size, hash, `"${hash}"`, 'bytes'])
      const ranges: [string, number, number][] = [
        ['bytes=0-0', 0, 0],
        [`bytes=${size - 1}-`, size - 1, size - 1],
        ['bytes=-10', Math.max(0, size - 10), size - 1],
        [`bytes=${size >> 1}-${size + 9}`, size >> 1, size - 1],
      ]
      for (const [range, from, to] of ranges) {
        const part = await fetched(id, { range })
        expect([range, part.status, part.headers.get('content-range')]).toEqual([
          range,
          206,
          `bytes ${from}-${to}/${size}`,
        ])
        expect(sha256(await part.bytes())).toBe(sha256(bytes.subarray(from, to + 1)))
      }
      const beyond = await fetched(id, { range: `bytes=${size}-` })
      expect([beyond.status, beyond.headers.get('content-range'), await beyond.text()]).toEqual([
        416,
        `bytes */${size}`,
        '',
      ])
    },
  )

  test('answers whether a copy is current, and HEAD with the size', async () => {
    const { make, fetched } = await setUp()
    const { id, sha256: hash } = await make({ bytes: 'abc' })
    for (const known of [`"${hash}"`, `W/"${hash}"`, `"x", "${hash}"`, '*']) {
      const { status, headers } = await fetched(id, { 'if-none-match': known })
      expect([known, status, headers.get('etag')]).toEqual([known, 304, `"${hash}"`])
    }
    expect((await fetched(id, { 'if-none-match': '"x"' })).status).toBe(200)
    const stale = await fetched(id, { range: 'bytes=1-1', 'if-range': '"x"' })
    expect([stale.status, await stale.text()]).toEqual([200, 'abc'])
    const head = await fetched(id, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      '3',
      '',
    ])
  })

  test('of a file that is damaged where it is stored is refused', async () => {
    const { make, fetched } = await setUp()
    const { id, file_id } = await make({ bytes: 'abc' })
    await inDatabase.owner`update file_block set bytes = 'abd' where file_id = ${file_id}`
    const reply = await fetched(id)
    expect([reply.status, await reply.json()]).toEqual([
      503,
      { error: expect.objectContaining({ code: 'unavailable' }) },
    ])
  })
})

describe('an artifact in S3', () => {
  test('is downloaded whole and by range, from this server and not from the storage', async () => {
    const { bytes, download } = await inS3(10 * MIB)
    const whole = await download()
    expect([whole.status, whole.redirected]).toEqual([200, false])
    expect(bytes.equals(Buffer.from(await whole.arrayBuffer()))).toBe(true)
    expectHidden(whole, '')
    const part = await download({ range: `bytes=${MIB - 2}-${MIB + 1}` })
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes ${MIB - 2}-${MIB + 1}/${10 * MIB}`,
    ])
    expect(bytes.subarray(MIB - 2, MIB + 2).equals(Buffer.from(await part.arrayBuffer()))).toBe(
      true,
    )
  })

  test('is shared', async () => {
    const { bytes, id, key } = await inS3(100)
    const { token } = await makeShare({ app, key }, id)
    const response = await fetch(`${app.url}/api/v1/artifacts/shared/${token}`)
    expect(bytes.equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
    expectHidden(response, '')
  })

  test('is refused in words while the storage is away, and is there again with it', async () => {
    const { bytes, download } = await inS3(100)
    s3.fault = () => 'away'
    const refused = await download()
    const text = await refused.text()
    expect([refused.status, JSON.parse(text).error.code]).toEqual([503, 'unavailable'])
    expect(text).toContain('the storage of files does not answer as it should; try again later')
    expectHidden(refused, text)
    s3.fault = () => undefined
    expect(bytes.equals(Buffer.from(await (await download()).arrayBuffer()))).toBe(true)
  })

  test('that is damaged breaks off before the first wrong byte', async () => {
    const { id, bytes, download, tenantId } = await inS3(2 * MIB)
    const [row] = await app.owner<
      { file_id: string }[]
    >`select file_id from artifact where id = ${id}`
    await s3.disk.damage(`${tenantId}/${row!.file_id}`, MIB + 1)
    const response = await download()
    const got: Uint8Array[] = []
    const reading = async () => {
      for await (const piece of response.body!) got.push(piece)
    }
    await expect(reading()).rejects.toThrow()
    const all = Buffer.concat(got)
    expect(bytes.subarray(0, MIB).subarray(0, all.length).equals(all)).toBe(true)
    await s3.disk.damage(`${tenantId}/${row!.file_id}`, 5)
    expect((await download()).status).toBe(503)
  })
})
