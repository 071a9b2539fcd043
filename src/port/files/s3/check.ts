/**
 * Tries everything that the server does with its bucket, so that an operator learns of a problem
 * before anybody else does.
 */
import { randomBytes } from 'node:crypto'
import { newId } from '#kernel/ids'
import type { Bucket } from './bucket.ts'
import { S3Fault } from './faults.ts'

const CHECK_MS = 60_000
const SIZE = 1_000

const read = async (bucket: Bucket, key: string, signal: AbortSignal): Promise<Buffer> => {
  const range = { from: 10, to: SIZE - 1, size: SIZE }
  return Buffer.concat(await Array.fromAsync(bucket.get(key, range, signal)))
}

/** What is wrong with the bucket, in a sentence; undefined if nothing is. */
export const flawOfBucket = async (bucket: Bucket): Promise<string | undefined> => {
  const signal = AbortSignal.timeout(CHECK_MS)
  const key = `check/${newId()}`
  const bytes = randomBytes(SIZE)
  let doing = 'storing an object'
  try {
    await bucket.put(key, bytes, signal)
    doing = 'reading a part of it'
    if (!(await read(bucket, key, signal)).equals(bytes.subarray(10)))
      return `${doing} gave other bytes than were stored`
    doing = 'beginning an upload in parts'
    const upload = await bucket.begin(key, signal)
    doing = 'ending it'
    await bucket.abort({ key, upload }, signal)
    doing = 'listing uploads that were not finished'
    await bucket.uploadsOf(key, signal)
    doing = 'deleting an object'
    await bucket.delete(key, signal)
    return undefined
  } catch (cause) {
    if (doing !== 'deleting an object') await bucket.delete(key, signal).catch(() => {})
    return `${doing} failed: ${cause instanceof S3Fault ? cause.message : 'it took more than a minute'}`
  }
}
