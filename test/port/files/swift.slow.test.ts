/**
 * The same cases against a storage that others have made: it checks signatures by itself, and
 * shares no code with the client.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type Bucket, openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'
import { filesCases } from '#test/cases/files'
import { type TestApp, testApp } from '#test/support/app'
import { type FileDesk, fileDesk } from '#test/support/files'
import { s3Env } from '#test/support/s3/server'
import { hasSwift, type Swift, startSwift } from '#test/support/s3/swift'

const MIB = 1_048_576

if (!hasSwift)
  console.log(
    'skipped: Swift is not installed (apt install swift-proxy swift-account swift-container swift-object)',
  )

describe.skipIf(!hasSwift)('with Swift', () => {
  const world = new AsyncDisposableStack()
  let swift: Swift
  let app: TestApp
  let bucket: Bucket
  let [mine, other] = [{} as FileDesk, {} as FileDesk]

  beforeAll(async () => {
    swift = world.use(await startSwift('tendril-test'))
    app = world.use(await testApp({ env: s3Env(swift.settings) }))
    bucket = world.use(await openBucket(swift.settings))
    mine = fileDesk(app, app.tenantId)
    other = fileDesk(app, (await app.newWorkspace()).tenantId)
  }, 120_000)
  afterAll(() => world.disposeAsync())

  const never = new AbortController().signal
  const keyOf = (id: string) => `${app.tenantId}/${id}`

  const bytesOf = async (key: string): Promise<Buffer> => {
    const size = (await bucket.sizeOf(key, never))!
    return Buffer.concat(
      await Array.fromAsync(bucket.get(key, { from: 0, to: size - 1, size }, never)),
    )
  }

  filesCases('Swift', {
    get mine() {
      return mine
    },
    get other() {
      return other
    },
    async damage(id, at) {
      const bytes = await bytesOf(keyOf(id))
      bytes[at]! ^= 1
      await bucket.put(keyOf(id), bytes, never)
    },
    lose: (id) => bucket.delete(keyOf(id), never),
  })

  test('the check finds nothing wrong, and tells of a wrong secret and of a bucket that is not there', async () => {
    const flaw = async (changes: Partial<Swift['settings']>) => {
      using other = await openBucket({ ...swift.settings, ...changes })
      return await flawOfBucket(other)
    }
    expect(await flaw({})).toBeUndefined()
    expect(await flaw({ secretAccessKey: 'wrong' })).toContain(
      'S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID',
    )
    expect(await flaw({ bucket: 'elsewhere' })).toContain('there is no bucket elsewhere')
  })

  test('a file in parts comes back, and can be read by range', async () => {
    const bytes = randomBytes(20 * MIB + 3)
    const file = await mine.keep(await mine.files.put(app.tenantId, bytes))
    expect(bytes.equals(await mine.read(file))).toBe(true)
    expect(
      bytes
        .subarray(8 * MIB - 5, 8 * MIB + 5)
        .equals(await mine.read(file, { from: 8 * MIB - 5, to: 8 * MIB + 4 })),
    ).toBe(true)
  })

  test('an upload that was not finished is removed, and removing what is gone is fine', async () => {
    const key = keyOf('unfinished')
    const upload = await bucket.begin(key, never)
    await bucket.part({ key, upload, number: 1 }, randomBytes(5 * MIB), never)
    expect(await bucket.uploadsOf(key, never)).toEqual([upload])
    const { remove } = app.workplace.storage!
    await remove(key, true)
    expect(await bucket.uploadsOf(key, never)).toEqual([])
    await remove(key, true)
  })
})
