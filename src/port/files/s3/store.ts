/**
 * Files in S3-compatible storage. The key is written to a row before the bytes are sent, and the
 * letter that makes the record keeps that row. So whatever happens in between, it is known what is
 * left in the storage, and nothing else is ever removed.
 */
import { fail } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { FairLimit } from '#kernel/fair-limit'
import { newId } from '#kernel/ids'
import type { Log } from '#kernel/log'
import { keepFile, notedFile, noteFile } from '#store/app/files'
import type { Query } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { BLOCK_BYTES, Hashing, refuseSize, splitBytes } from '../blocks.ts'
import { requireFileRoom, type Source, type Store } from '../files.ts'
import { type Bucket, TRIES, type UploadPart } from './bucket.ts'
import { S3Fault } from './faults.ts'

/** Larger files are uploaded in parts of this size. */
const PART = 8 * BLOCK_BYTES
const MOST = 100 * BLOCK_BYTES
const MOST_GIB = 100
const PUT_MS = 600_000
const REMOVE_MS = 120_000
/** Each upload holds two parts in memory. Uploads are granted to workspaces in turn. */
const UPLOADS = {
  name: 'uploads of files',
  total: 4,
  share: { alone: 3, among: 2 },
  bound: 8,
  withinMs: 60_000,
}

export interface S3Deps {
  bucket: Bucket
  /** Writes in a letter of the workspace. */
  note(tenantId: string, decide: (gate: Pick<Gate, 'counters'>) => Query[]): Promise<void>
  log: Log
  failpoints: Failpoints
}

export class S3Store implements Store {
  readonly most = MOST
  readonly mostGib = MOST_GIB
  readonly #uploads = new FairLimit(UPLOADS)

  constructor(private readonly deps: S3Deps) {}

  async put(tenantId: string, source: Source, signal?: AbortSignal) {
    if (source instanceof Uint8Array && source.length > MOST) refuseSize(MOST)
    const until = AbortSignal.any([AbortSignal.timeout(PUT_MS), ...(signal ? [signal] : [])])
    return await this.#uploads.run(tenantId, () => this.#put(tenantId, source, until))
  }

  async *blocks(
    ...[{ id, byte_size: size }, { first, last }, { tenantId, signal: stopped }]: Parameters<
      Store['blocks']
    >
  ) {
    const { bucket } = this.deps
    const signal = stopped ?? new AbortController().signal
    const key = `${tenantId}/${id}`
    const to = Math.min(size, (last + 1) * BLOCK_BYTES) - 1
    for (let [number, failed] = [first, 0]; number <= last; ) {
      const from = number * BLOCK_BYTES
      try {
        for await (const bytes of splitBytes(bucket.get(key, { from, to, size }, signal), {
          size: BLOCK_BYTES,
          most: to + 1 - from,
        })) {
          if (bytes.length < Math.min(BLOCK_BYTES, size - number * BLOCK_BYTES))
            throw new S3Fault('away', 'the answer broke off')
          yield bytes
          number++
          failed = 0
        }
        if (number <= last) throw new S3Fault('away', 'the answer broke off')
      } catch (cause) {
        if (!isAway(cause) || ++failed === TRIES)
          this.#refuse(cause, { tenant: tenantId, file: id })
        await Bun.sleep(bucket.times.restMs * 2 ** (failed - 1))
      }
    }
  }

  /** Removes an object that no row refers to, and its unfinished uploads. Throws an `S3Fault`. */
  async remove(key: string, unfinished: boolean): Promise<void> {
    const { bucket } = this.deps
    const signal = AbortSignal.timeout(REMOVE_MS)
    if (unfinished)
      for (const upload of await bucket.uploadsOf(key, signal).catch(noneIfUnable))
        await bucket.abort({ key, upload }, signal)
    await bucket.delete(key, signal)
  }

  async #put(tenantId: string, source: Source, signal: AbortSignal) {
    const { bucket, note, failpoints } = this.deps
    const id = newId()
    const key = `${tenantId}/${id}`
    const most = source instanceof Uint8Array ? source.length : MOST
    await note(tenantId, (gate) => {
      requireFileRoom(gate, most, MOST_GIB)
      return [noteFile(id, most)]
    })
    await failpoints('files.noted')
    const hashing = new Hashing()
    try {
      await this.#upload(key, hashed(source, hashing), signal)
      if ((await bucket.sizeOf(key, signal)) !== hashing.byteSize)
        throw new S3Fault('away', 'the storage has not kept what was sent')
    } catch (cause) {
      this.#refuse(cause, { tenant: tenantId, file: id })
    }
    await failpoints('files.put')
    const file = { id, ...hashing.end() }
    return {
      id,
      byteSize: file.byte_size,
      sha256: file.sha256,
      keep: async (sql: Parameters<Query>[0]) => {
        const [noted] = await notedFile(id)(sql)
        return noted?.is_kept === false
          ? [keepFile(file)]
          : fail('conflict', 'the file was sent too long ago; send it again', {
              reason: 'too_late',
            })
      },
    }
  }

  async #upload(
    key: string,
    pieces: AsyncGenerator<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const first = await pieces.next()
    const second = first.done ? first : await pieces.next()
    if (second.done) return await this.deps.bucket.put(key, first.value ?? new Uint8Array(), signal)
    await this.#uploadParts(key, followedBy([first.value!, second.value], pieces), signal)
  }

  async #uploadParts(
    key: string,
    pieces: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const { bucket, failpoints, log } = this.deps
    const upload = await bucket.begin(key, signal)
    try {
      const parts: UploadPart[] = []
      for await (const bytes of pieces) {
        parts.push(await bucket.part({ key, upload, number: parts.length + 1 }, bytes, signal))
        await failpoints('files.part')
      }
      await bucket.complete({ key, upload }, parts, signal)
    } catch (cause) {
      const failed = (err: unknown) =>
        log.warn({ err, key }, 'could not end an upload; it will be removed in a day')
      await bucket.abort({ key, upload }, AbortSignal.timeout(bucket.times.silenceMs)).catch(failed)
      throw cause
    }
  }

  /** Logs what happened, and tells the caller what to do. */
  #refuse(cause: unknown, { tenant: workspace, file }: { tenant: string; file: string }): never {
    if (!(cause instanceof S3Fault || isTimeout(cause))) throw cause
    this.deps.log.error({ err: cause, workspace, file }, 'the storage of files failed')
    if (cause instanceof S3Fault && cause.kind === 'missing')
      fail('unavailable', 'the file is no longer there')
    return fail(
      'unavailable',
      'the storage of files does not answer as it should; try again later',
      { retryAfter: 5 },
    )
  }
}

async function* hashed(source: Source, hashing: Hashing): AsyncGenerator<Uint8Array> {
  for await (const bytes of splitBytes(source, { size: PART, most: MOST })) {
    hashing.add(bytes)
    yield bytes
  }
}

async function* followedBy(
  first: Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first
  yield* rest
}

const isAway = (cause: unknown): boolean => cause instanceof S3Fault && cause.kind === 'away'
const isTimeout = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === 'TimeoutError'

/** Servers that cannot list uploads remove unfinished ones by themselves, or never. */
const noneIfUnable = (cause: unknown): string[] => {
  if (cause instanceof S3Fault && cause.kind === 'unable') return []
  throw cause
}
