/** The files of the deployment: in the database, or in S3 if it is configured. */
import type { Runtime } from '#actors/engine/runtime'
import type { RemovalDeps } from '#actors/work/app/removal'
import type { Config } from '#config/config'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Files } from '#port/files/files'
import { openFiles } from '#port/files/open'
import { type BucketTimes, openBucket } from '#port/files/s3/bucket'
import { flawOfBucket } from '#port/files/s3/check'
import { type S3Deps, S3Store } from '#port/files/s3/store'

interface FileParts {
  /** Writes down the key of a file before its bytes are sent. */
  note: S3Deps['note']
  log: Log
  failpoints: Failpoints
  /** For tests. */
  times?: Partial<BucketTimes> | undefined
}

/** What the server does with its bucket besides putting and reading files. */
export interface Storage {
  remove: RemovalDeps['remove']
  /** What is wrong with the bucket, in a sentence. Undefined if nothing is. */
  flaw(): Promise<string | undefined>
}

interface OpenedFiles extends Disposable {
  files: Files
  /** Undefined if files are kept in the database. */
  storage: Storage | undefined
}

/** The server itself writes down the keys of files, whoever sends the files. */
const principal = { kind: 'system', id: 'files' } as const

export const noteByLetter =
  (runtime: Pick<Runtime, 'ask'>): S3Deps['note'] =>
  (tenantId, decide) =>
    runtime.ask(tenantId, {
      name: 'files.note',
      priority: 'interactive',
      provenance: { principal, surface: 'lane' },
      decide: async (_, gate) => ({ reply: undefined, effects: { writes: decide(gate) } }),
    })

export const filesOf = async (
  { s3 }: Pick<Config, 's3'>,
  { note, log, failpoints, times }: FileParts,
): Promise<OpenedFiles> => {
  if (!s3)
    return {
      files: openFiles({ log, s3: undefined }),
      storage: undefined,
      [Symbol.dispose]: () => {},
    }
  const bucket = await openBucket(s3, times)
  const store = new S3Store({
    bucket,
    log,
    failpoints,
    note,
  })
  return {
    files: openFiles({ log, s3: store }),
    storage: {
      remove: (key, unfinished) => store.remove(key, unfinished),
      flaw: () => flawOfBucket(bucket),
    },
    [Symbol.dispose]: () => bucket[Symbol.dispose](),
  }
}
