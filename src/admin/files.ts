/** Lets operators check where files are kept. */
import type { Config } from '#config/config'
import { fail } from '#kernel/errors'
import { openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'

export const checkFiles = async ({ s3 }: Pick<Config, 's3'>): Promise<object> => {
  if (!s3) return { store: 'postgres' }
  using bucket = await openBucket(s3)
  const flaw = await flawOfBucket(bucket)
  return flaw === undefined
    ? { store: 's3', endpoint: s3.endpoint, bucket: s3.bucket, works: true }
    : fail('unavailable', flaw)
}
