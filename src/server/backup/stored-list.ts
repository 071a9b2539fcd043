/**
 * The list of files in S3 that a backup has, since their bytes are not in it, and whether a bucket
 * has them.
 */
import { AppError, fail } from '#kernel/errors'
import type { Bucket } from '#port/files/s3/bucket'
import { S3Fault } from '#port/files/s3/faults'
import type { BucketFile } from '#store/backup/stored-files'
import { type CheckedBackup, checkBackup, drain } from './check.ts'
import { wholePart } from './contents.ts'
import type { BackupOrigin } from './reading.ts'
import type { Writing } from './writing.ts'

const LIST = 's3-files/'

/** Whether a part belongs to the list. A restore needs none of it. */
export const isOfStoredList = (path: string): boolean => path.startsWith(LIST)

/** A part for each page. */
export const writeStoredList = async (
  writing: Writing,
  pages: AsyncIterable<BucketFile[]>,
): Promise<void> => {
  let part = 0
  for await (const files of pages)
    await writing.text(
      `${LIST}${String(part++).padStart(6, '0')}`,
      files.map(({ key, bytes }) => `${key} ${bytes}\n`).join(''),
    )
}

const MOST_PART_BYTES = 4 * 2 ** 20
const LINE = /^([0-9a-f-]{36}\/[0-9a-f-]{36}) (\d{1,12})$/

const filesIn = async (path: string, bytes: AsyncIterable<Uint8Array>): Promise<BucketFile[]> => {
  const lines = String(await wholePart(path, bytes, MOST_PART_BYTES)).split('\n')
  return lines.slice(0, -1).map((line) => {
    const [, key, size] = LINE.exec(line) ?? []
    return key === undefined
      ? fail('invalid_input', `${path} of the backup is damaged: it is not a list of files`)
      : { key, bytes: Number(size) }
  })
}

/** How many objects are asked for at once. */
const AT_ONCE = 16
const ANSWER_MS = 60_000

/** What is wrong with an object; undefined if nothing is. */
const flawOf = async (
  bucket: Bucket,
  { key, bytes }: BucketFile,
): Promise<'missing' | 'altered' | undefined> => {
  try {
    const size = await bucket.sizeOf(key, AbortSignal.timeout(ANSWER_MS))
    return size === undefined ? 'missing' : size === bytes ? undefined : 'altered'
  } catch (cause) {
    const why = cause instanceof S3Fault ? cause.message : 'the storage has not answered'
    throw new AppError('unavailable', `${key} could not be asked for: ${why}`, { cause })
  }
}

export interface StoredFlaw extends BucketFile {
  flaw: 'missing' | 'altered'
}

/**
 * Reads and checks all of a backup, and asks the bucket for each file of its list. Keeps none of
 * the list in memory but a part.
 */
export const checkStoredFiles = async (
  { from, passphrase }: { from: BackupOrigin; passphrase: string | undefined },
  bucket: Bucket | undefined,
  onFlaw: (flaw: StoredFlaw) => void,
): Promise<CheckedBackup & { files: number; flaws: number }> => {
  let [files, flaws] = [0, 0]
  const ask = async (file: BucketFile): Promise<void> => {
    if (!bucket)
      return fail('invalid_input', 'the backup has files in S3: set S3_ENDPOINT and the others')
    const flaw = await flawOf(bucket, file)
    files++
    if (flaw === undefined) return
    flaws++
    onFlaw({ ...file, flaw })
  }
  const checked = await checkBackup(from, passphrase, {
    file: async (path, bytes) => {
      if (!isOfStoredList(path)) return await drain(bytes)
      const listed = await filesIn(path, bytes)
      for (let at = 0; at < listed.length; at += AT_ONCE)
        await Promise.all(listed.slice(at, at + AT_ONCE).map(ask))
    },
  })
  return { ...checked, files, flaws }
}
