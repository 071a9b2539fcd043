/**
 * Rows of files, the bytes of those that are kept in Postgres, and objects in S3 that are to be
 * removed.
 */
import type { Db, Query } from '../engine/db.ts'

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
    sql`select f.id, f.store, f.byte_size, f.sha256, encode(f.digests, 'hex') as digests from file f
      where f.id = ${id} and f.kept_at is not null`

/** A file of Postgres, kept from the start. */
export const insertFile =
  ({ id, byte_size, sha256, digests }: Omit<KeptFile, 'store'>): Query =>
  (sql) =>
    sql`insert into file (id, store, byte_size, sha256, digests, kept_at)
      values (${id}, 'postgres', ${byte_size}, ${sha256}, decode(${digests}, 'hex'),
        clock_timestamp())`

export const insertBlock =
  (fileId: string, number: number, bytes: Uint8Array): Query =>
  (sql) =>
    sql`insert into file_block (file_id, number, bytes) values (${fileId}, ${number}, ${bytes})`

export const fileBlock =
  (fileId: string, number: number): Query<{ file_id: string; bytes: Uint8Array }> =>
  (sql) =>
    sql`select b.file_id, b.bytes from file_block b where b.file_id = ${fileId}
      and b.number = ${number}`

/** Together with its blocks; an object in S3 is left to be removed. */
export const deleteFile =
  (id: string): Query =>
  (sql) =>
    sql`delete from file where id = ${id}`

/** Before the bytes of a file are sent to S3: at most so many. */
export const noteFile =
  (id: string, most: number): Query =>
  (sql) =>
    sql`insert into file (id, store, byte_size) values (${id}, 's3', ${most})`

/** A file that was noted, unless it was removed since. */
export const notedFile =
  (id: string): Query<{ id: string; is_kept: boolean }> =>
  (sql) =>
    sql`select id, kept_at is not null as is_kept from file where id = ${id}`

export const keepFile =
  ({ id, byte_size, sha256, digests }: Omit<KeptFile, 'store'>): Query =>
  (sql) =>
    sql`update file set byte_size = ${byte_size}, sha256 = ${sha256},
      digests = decode(${digests}, 'hex'), kept_at = clock_timestamp()
      where id = ${id}`

/** An object in S3 that no row names. */
export interface Removal {
  key: string
  /** It may have uploads that were not finished. */
  unfinished: boolean
  /** Counting this one. */
  tries: number
}

/**
 * Objects whose removal is due, until now; the next try of each is later each time. First those
 * never tried: however many storage refuses, they hold up no others. Any number of processes can:
 * each gets others.
 */
export const takeRemovals = (db: Db, limit: number): Promise<Removal[]> =>
  db.system(
    (sql) => sql<Removal>`
      update file_removal set tries = tries + 1, due_at = clock_timestamp() + least(60,
        power(2, least(tries, 6))) * interval '1 minute'
      where key = any((
        array(select key from file_removal where due_at <= clock_timestamp() and tries = 0
          order by due_at limit ${limit} for update skip locked)
        || array(select key from file_removal where due_at <= clock_timestamp() and tries > 0
          order by due_at limit ${limit} for update skip locked)
        )[1:${limit}])
      returning key, unfinished, tries`,
  )

export const forgetRemoval = (db: Db, key: string): Promise<unknown> =>
  db.system((sql) => sql`delete from file_removal where key = ${key}`)
