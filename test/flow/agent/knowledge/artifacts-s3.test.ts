/** Artifacts whose bytes are in S3: downloaded and shared as others are, and refused in words while the storage fails. */
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { makeArtifact, makeShare } from '#test/support/agent/artifacts'
import { newSurface } from '#test/support/agent/surface'
import { openS3 } from '#test/support/s3/server'
import { use, useApp } from '#test/support/use'

const MIB = 1_048_576

const s3 = use(openS3)
const app = useApp(() => ({ env: s3.env, overrides: { bucketTimes: { restMs: 1 } } }))
afterEach(() => {
  s3.fault = () => undefined
})

const setUp = async (size: number) => {
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
  for (const word of [s3.settings.endpoint, s3.settings.bucket, s3.settings.accessKeyId, 'X-Amz', 'x-amz']) expect(said).not.toContain(word)
}

describe('an artifact in S3', () => {
  test('is downloaded whole and by range, from this server and not from the storage', async () => {
    const { bytes, download } = await setUp(10 * MIB)
    const whole = await download()
    expect([whole.status, whole.redirected]).toEqual([200, false])
    expect(bytes.equals(Buffer.from(await whole.arrayBuffer()))).toBe(true)
    expectHidden(whole, '')
    const part = await download({ range: `bytes=${MIB - 2}-${MIB + 1}` })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${MIB - 2}-${MIB + 1}/${10 * MIB}`])
    expect(bytes.subarray(MIB - 2, MIB + 2).equals(Buffer.from(await part.arrayBuffer()))).toBe(true)
  })

  test('is shared', async () => {
    const { bytes, id, key } = await setUp(100)
    const { token } = await makeShare({ app, key }, id)
    const response = await fetch(`${app.url}/api/v1/artifacts/shared/${token}`)
    expect(bytes.equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
    expectHidden(response, '')
  })

  test('is refused in words while the storage is away, and is there again with it', async () => {
    const { bytes, download } = await setUp(100)
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
    const { id, bytes, download, tenantId } = await setUp(2 * MIB)
    const [row] = await app.owner<{ file_id: string }[]>`select file_id from artifact where id = ${id}`
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
