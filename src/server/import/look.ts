/** The first reading of an archive, which writes nothing: what is in it, and whether it fits. */
import { createHash } from 'node:crypto'
import { requireDocumentRoom } from '#domain/agent/knowledge/document-room'
import { defaultPlan } from '#domain/app/plan'
import { documentRoom } from '#domain/app/room'
import { fail } from '#kernel/errors'
import type { SecretKeys } from '#kernel/secret-keys'
import { type Files, kibOf, requireFileRoom } from '#port/files/files'
import { ImportIds } from './ids.ts'
import { isLeft, Judge, type TakenRecord } from './judge.ts'
import type { ImportContext } from './kind.ts'
import type { ArchivedRecord, ArchiveVisitor, ReadArchive } from './read.ts'
import { readArchive } from './read.ts'

/** The bytes of an artifact: what its record says of them, and what is wrong with them. */
interface Expected {
  byteSize: number
  sha256: string
  fault: string | undefined
}

export interface Looked {
  read: ReadArchive
  arrival: ImportContext
  /** By the ids of artifacts that are taken over, but for faults of their bytes. */
  expected: ReadonlyMap<string, Expected>
  /** The ids of its channels. */
  channels: readonly string[]
}

class Looking implements ArchiveVisitor {
  readonly expected = new Map<string, Expected>()
  readonly channels: string[] = []
  readonly #judge: Judge

  constructor(
    private readonly arrival: ImportContext,
    private readonly files: Pick<Files, 'most' | 'mostGib'>,
  ) {
    this.#judge = new Judge(arrival, false)
  }

  record(record: ArchivedRecord): void {
    const verdict = this.#judge.judge(record)
    if (!isLeft(verdict)) this.#note(verdict)
  }

  async file(id: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const expected = this.expected.get(id)
    if (!expected) return
    const hash = createHash('sha256')
    for await (const chunk of bytes) hash.update(chunk)
    const isIt = size === expected.byteSize && hash.digest('hex') === expected.sha256
    expected.fault = isIt ? this.#faultOfSize(size) : 'its bytes do not match its sha256'
  }

  /** Throws unless the plan of a new workspace has room for all of it. */
  requireRoom(): void {
    const plan = { plan: defaultPlan, billing: 'ok', overrides: {} } as const
    const room = documentRoom({ plan, counters: {} })
    const documents = this.#judge.used('documents')
    if (documents > room.documents)
      fail(
        'conflict',
        `the archive has ${documents} documents, and a new workspace has room for ${room.documents}: nothing was imported`,
        { reason: 'limit_reached' },
      )
    if (documents > 0) requireDocumentRoom(room, this.#judge.used('bytes of documents'), 0)
    const whole = [...this.expected.values()].filter(({ fault }) => fault === undefined)
    const kib = whole.reduce((sum, { byteSize }) => sum + kibOf(byteSize), 0)
    requireFileRoom({ counters: { 'files@kib': kib } }, 0, this.files.mostGib)
  }

  #note({ kind, id, row }: TakenRecord): void {
    if (kind === 'profile') {
      const { language } = row.data as { language?: string }
      this.arrival.language = language ?? this.arrival.language
    }
    if (kind === 'channel') this.channels.push(id)
    if (kind === 'artifact') {
      const { byte_size: byteSize, sha256 } = row as { byte_size: number; sha256: string }
      this.expected.set(id, { byteSize, sha256, fault: 'its bytes are not in the archive' })
    }
  }

  #faultOfSize(size: number): string | undefined {
    const { most } = this.files
    return size > most ? `files have at most ${most} bytes here` : undefined
  }
}

/** Throws where the archive is not whole, and where a new workspace has no room for it. */
export const lookInto = async (
  from: string,
  keys: SecretKeys,
  files: Pick<Files, 'most' | 'mostGib'>,
): Promise<Looked> => {
  const arrival: ImportContext = {
    ids: new ImportIds(),
    sealed: false,
    now: new Date(),
    language: 'en',
  }
  const looking = new Looking(arrival, files)
  const read = await readArchive(from, keys, looking)
  looking.requireRoom()
  arrival.sealed = read.sealed
  const { expected, channels } = looking
  return { read, arrival, expected, channels }
}
