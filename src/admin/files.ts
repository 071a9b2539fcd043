/** `tendril admin files …`: where files are kept. */
import { fail } from '#kernel/errors'
import { openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'
import { checkStoredFiles } from '#server/backup/stored-list'
import { originOf, passphraseFlag, passphraseOf } from './backup.ts'
import { type AdminGroup, optional } from './command.ts'
import { type AdminContext, type Flags, text } from './flags.ts'

const checkFiles = async ({ config: { s3 } }: AdminContext): Promise<object> => {
  if (!s3) return { store: 'postgres' }
  using bucket = await openBucket(s3)
  const flaw = await flawOfBucket(bucket)
  return flaw === undefined
    ? { store: 's3', endpoint: s3.endpoint, bucket: s3.bucket, works: true }
    : fail('unavailable', flaw)
}

const WORDS = { missing: 'is missing', altered: 'has another size' }

const checkAgainst = async (place: AdminContext, flags: Flags): Promise<object> => {
  const backup = text(flags, 'against')
  const { s3 } = place.config
  const order = { from: originOf(backup), passphrase: await passphraseOf(flags) }
  using bucket = s3 && (await openBucket(s3))
  const { head, manifest, files, flaws } = await checkStoredFiles(order, bucket, (file) =>
    place.err(`${file.key} (${file.bytes} bytes) ${WORDS[file.flaw]}`),
  )
  if (flaws > 0)
    fail(
      'not_found',
      `of ${files} files of the backup, ${flaws} are not in the bucket as they were`,
    )
  const where = s3 ? { endpoint: s3.endpoint, bucket: s3.bucket } : {}
  return { backup, at: manifest.at, ...where, stored_files: head.files, files, missing: 0 }
}

export const filesGroup: AdminGroup = {
  name: 'files',
  about: 'where files are kept',
  commands: {
    check: {
      about:
        'Try all that the server does with its S3 bucket, or with --against name the files of a backup that the bucket lacks',
      flags: { against: optional('BACKUP'), ...passphraseFlag },
      run: (place, flags) =>
        flags.against === undefined ? checkFiles(place) : checkAgainst(place, flags),
    },
  },
}
