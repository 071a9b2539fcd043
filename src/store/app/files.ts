/** Rows of files, and the bytes of those that are kept in Postgres. */
import type { Query } from '../engine/db.ts'

export type FileStore = 'postgres' | 's3'

/** A file whose bytes are all stored. */
export interface KeptFile {
  id: string
  store: FileStore
  byte_size: number
  /** Of all its bytes, in hex. */
  sha256: string
  /** Of each MiB, one after the other, in hex. */
  digests: string
}

export const keptFile =
  (id: string): Query<KeptFile> =>
  (sql) =>
    sql`select f.id, f.store, f.byte_size, f.sha256, encode(f.digests, 'hex') as digests from file f where f.id = ${id} and f.kept_at is not null`

/** A file of Postgres, kept from the start. */
export const insertFile =
  ({ id, byte_size, sha256, digests }: Omit<KeptFile, 'store'>): Query =>
  (sql) =>
    sql`insert into file (id, store, byte_size, sha256, digests, kept_at)
      values (${id}, 'postgres', ${byte_size}, ${sha256}, decode(${digests}, 'hex'), clock_timestamp())`

export const insertBlock =
  (fileId: string, number: number, bytes: Uint8Array): Query =>
  (sql) =>
    sql`insert into file_block (file_id, number, bytes) values (${fileId}, ${number}, ${bytes})`

export const fileBlock =
  (fileId: string, number: number): Query<{ file_id: string; bytes: Uint8Array }> =>
  (sql) =>
    sql`select b.file_id, b.bytes from file_block b where b.file_id = ${fileId} and b.number = ${number}`

/** Together with its blocks; an object in S3 is left to be removed. */
export const deleteFile =
  (id: string): Query =>
  (sql) =>
    sql`delete from file where id = ${id}`
