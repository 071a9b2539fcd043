/** Files while the storage accepts connections and says nothing: every wait has an end. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { fileDesk } from '#test/support/files'
import { type Asked, openS3, type S3Fault } from '#test/support/s3/server'
import { use, useApp } from '#test/support/use'

const MIB = 1_048_576
/** Long enough for a storage that answers, on a machine that is busy. */
const WAIT_MS = 1_500

const s3 = use(openS3)
const app = useApp(() => ({
  env: s3.env,
  overrides: { bucketTimes: { requestMs: WAIT_MS, silenceMs: WAIT_MS, restMs: 5 } },
}))
const desk = use(async () => ({ ...fileDesk(app, app.tenantId), async [Symbol.asyncDispose]() {} }))

beforeEach(() => {
  s3.asked.length = 0
})
afterEach(() => {
  s3.fault = () => undefined
})

const failing = (method: Asked['method'], fault: S3Fault, times: number) => {
  let left = times
  s3.fault = (asked) => (asked.method === method && left-- > 0 ? fault : undefined)
}

const put = (bytes: Uint8Array) => desk.files.put(app.tenantId, bytes)
const count = (method: string) => s3.asked.filter((asked) => asked.startsWith(method)).length

test('storing is refused after three tries', async () => {
  failing('PUT', 'hang', 3)
  expect(await put(randomBytes(10)).catch((cause) => cause.code)).toBe('unavailable')
  expect(count('PUT')).toBe(3)
})

test('storing succeeds if the third try is answered', async () => {
  failing('PUT', 'hang', 2)
  const bytes = randomBytes(10)
  const file = await desk.keep(await put(bytes))
  expect(bytes.equals(await desk.read(file))).toBe(true)
})

test.each<[string, S3Fault]>([
  ['before an answer', 'hang'],
  ['within one', { stall: MIB + 7 }],
])('reading goes on where it was after a silence %s', async (_, fault) => {
  const bytes = randomBytes(2 * MIB)
  const file = await desk.keep(await put(bytes))
  failing('GET', fault, 1)
  expect(bytes.equals(await desk.read(file))).toBe(true)
  expect(count('GET')).toBe(2)
})
