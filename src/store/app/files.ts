/**
 * Rows of files, the bytes of files that are stored in Postgres, and the objects in S3 that are to
 * be removed.
 */
import type { Db, Query } from '../engine/db.ts'

export type FileStore = 'postgres' | 's3'

/** A file whose bytes are all stored. */
export interface KeptFile {
  id: string
  store: FileStore
  byte_size: number
  /** The hash of all its bytes, in hex. */
  sha256: string
  /** The hashes of its MiBs, one after the other, in hex. */
  digests: string
}

export const keptFile =
  (id: string): Query<KeptFile> =>
  (sql) =>
    sql`select f.id, f.store, f.byte_size, f.sha256, encode(f.digests, 'hex') as digests from file f
      where f.id = ${id} and f.kept_at is not null`

/** A file that is stored in Postgres, kept from the start. */
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

/** Deletes a file together with its blocks. An object in S3 is marked for removal. */
export const deleteFile =
  (id: string): Query =>
  (sql) =>
    sql`delete from file where id = ${id}`

/** Notes a file before its bytes are sent to S3. `most`: the most bytes that will be sent. */
export const noteFile =
  (id: string, most: number): Query =>
  (sql) =>
    sql`insert into file (id, store, byte_size) values (${id}, 's3', ${most})`

/** A file that was noted and has not been removed since. */
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

/** An object in S3 that no row refers to. */
export interface Removal {
  key: string
  /** Whether it may have unfinished uploads. */
  unfinished: boolean
  /** The number of tries, including this one. */
  tries: number
}

/**
 * Objects whose removal is due. Each try of an object waits longer than the one before. Objects
 * that were never tried come first, so that objects that storage refuses to remove do not hold up
 * others. Several processes can call this at once, and each gets different objects.
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
