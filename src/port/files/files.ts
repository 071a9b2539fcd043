/**
 * Where the bytes of files are kept: in Postgres, or in S3-compatible storage. The row that a
 * record refers to says which.
 */
import { fail } from '#kernel/errors'
import type { KeptFile } from '#store/app/files'
import type { Query, Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'

/** The bytes of a file, either whole or in pieces of any size. */
export type Source = Uint8Array | AsyncIterable<Uint8Array>

/** Stored bytes that do not belong to a record yet. */
export interface NewFile {
  id: string
  byteSize: number
  /** In hex. */
  sha256: string
  /**
   * Returns the writes that keep the file, for the effects of the letter that makes the record.
   * Throws `conflict` if the workspace has no room for it. Without these writes there is no file,
   * and what was stored for it is removed within two days.
   */
  keep(sql: Sql, gate: Pick<Gate, 'counters'>): Promise<Query[]>
}

export interface FileReading {
  tenantId: string
  /** Runs a statement over the workspace's rows. */
  read<Row>(query: Query<Row>): Promise<Row[]>
  /** The first and last byte, counted from 0. Default: all. */
  range?: { from: number; to: number } | undefined
  signal?: AbortSignal | undefined
}

/** One of the two places where files are kept. */
export interface Store {
  /** The most bytes of a file. */
  readonly most: number
  /** How many GiB the files of a workspace may take. */
  readonly mostGib: number
  /**
   * Takes in the bytes, beside the mailbox, in the process that owns the workspace. Throws
   * `payload_too_large`, `conflict` if the workspace has no room, and `unavailable`.
   */
  put(tenantId: string, source: Source, signal?: AbortSignal): Promise<NewFile>
  /**
   * The MiBs of a kept file from number `first` to number `last`, one after the other. Throws
   * `unavailable`.
   */
  blocks(
    file: KeptFile,
    span: { first: number; last: number },
    reading: FileReading,
  ): AsyncGenerator<Uint8Array>
}

export interface Files extends Pick<Store, 'most' | 'mostGib' | 'put'> {
  /**
   * The bytes of a kept file, in pieces of up to a MiB. Each piece is compared with its hash before
   * it is returned. Throws `unavailable`.
   */
  read(file: KeptFile, reading: FileReading): AsyncGenerator<Uint8Array>
}

const KIB_OF_GIB = 1_048_576

/** The room that a file takes, as file_kib in sql/000124-baseline/07-knowledge.sql counts it. */
export const kibOf = (byteSize: number): number => Math.max(4, Math.ceil(byteSize / 1_024))

/** Throws unless the workspace has room for files of this many bytes more. */
export const requireFileRoom = (
  { counters }: Pick<Gate, 'counters'>,
  byteSize: number,
  gib: number,
): void => {
  if ((counters['files@kib'] ?? 0) + kibOf(byteSize) > gib * KIB_OF_GIB)
    fail(
      'conflict',
      `the files of the workspace would take more than ${gib} GiB; delete some first`,
      { reason: 'limit_reached' },
    )
}
