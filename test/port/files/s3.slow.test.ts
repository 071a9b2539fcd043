import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { filesCases } from '#test/cases/files'
import { testApp } from '#test/support/app'
import { fileDesk } from '#test/support/files'
import { openS3 } from '#test/support/s3/server'
import { use, useApp } from '#test/support/use'

const MIB = 1_048_576

const s3 = use(openS3)
const app = useApp(() => ({ env: s3.env }))
const desks = use(async () => {
  const { tenantId } = await app.newWorkspace()
  return {
    mine: fileDesk(app, app.tenantId),
    other: fileDesk(app, tenantId),
    async [Symbol.asyncDispose]() {},
  }
})

beforeEach(() => {
  s3.asked.length = 0
})
afterEach(() => {
  s3.fault = () => undefined
  expect(s3.refused).toEqual([])
})

filesCases('S3', {
  get mine() {
    return desks.mine
  },
  get other() {
    return desks.other
  },
  damage: (id, at) => s3.disk.damage(`${app.tenantId}/${id}`, at),
  lose: (id) => s3.disk.lose(`${app.tenantId}/${id}`),
})

describe('a file in S3', () => {
  const put = (size: number) => desks.mine.files.put(app.tenantId, randomBytes(size))

  test('of up to 8 MiB is one request, and a larger one is sent in parts of that size', async () => {
    const small = await put(8 * MIB)
    const key = `${app.tenantId}/${small.id}`
    expect(s3.asked).toEqual([`PUT ${key}`, `HEAD ${key}`])
    s3.asked.length = 0
    const bytes = randomBytes(17 * MIB)
    const large = await desks.mine.files.put(app.tenantId, bytes)
    const parts = Array.from(
      { length: 3 },
      () => `PUT ${app.tenantId}/${large.id}?uploadId&partNumber`,
    )
    expect(s3.asked.filter((asked) => asked.startsWith('PUT'))).toEqual(parts)
    const file = await desks.mine.keep(large)
    expect(bytes.equals(await desks.mine.read(file))).toBe(true)
    expect(
      bytes
        .subarray(9 * MIB - 3, 9 * MIB + 3)
        .equals(await desks.mine.read(file, { from: 9 * MIB - 3, to: 9 * MIB + 2 })),
    ).toBe(true)
  })

  test('leaves nothing in the database but its row', async () => {
    const file = await desks.mine.keep(await put(10))
    expect(await app.owner`select store from file where id = ${file.id}`).toMatchObject([
      { store: 's3' },
    ])
    expect(await app.owner`select 1 from file_block where file_id = ${file.id}`).toHaveLength(0)
  })

  test('is read from where it is, whatever is set now', async () => {
    await using without = await testApp({ database: app.options })
    const { tenantId } = await without.newWorkspace()
    const inPostgres = fileDesk(without, tenantId)
    const there = await inPostgres.keep(await inPostgres.files.put(tenantId, Buffer.from('bytes')))
    expect((await fileDesk(app, tenantId).read(there)).toString()).toBe('bytes')
    const file = await desks.mine.keep(await put(10))
    const reading = fileDesk(without, app.tenantId).read(file)
    await expect(reading).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the file is in S3, which this server has no settings for',
    })
  })
})
