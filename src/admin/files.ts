/** `tendril admin files …`: where files are kept. */
import { fail } from '#kernel/errors'
import { openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'
import type { AdminGroup } from './command.ts'
import type { AdminContext } from './flags.ts'

const checkFiles = async ({ config: { s3 } }: AdminContext): Promise<object> => {
  if (!s3) return { store: 'postgres' }
  using bucket = await openBucket(s3)
  const flaw = await flawOfBucket(bucket)
  return flaw === undefined
    ? { store: 's3', endpoint: s3.endpoint, bucket: s3.bucket, works: true }
    : fail('unavailable', flaw)
}

export const filesGroup: AdminGroup = {
  name: 'files',
  about: 'where files are kept',
  commands: {
    check: {
      about: 'Try all that the server does with its S3 bucket, and say what is wrong',
      run: checkFiles,
    },
  },
}
