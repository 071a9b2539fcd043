/** What a backup consists of, and the order in which its parts come. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { fail } from '#kernel/errors'

/** The format of backups that this program writes; it reads this one and earlier ones. */
export const BACKUP_FORMAT = 1

/** The first part: what a restore must know before it writes anything. */
export const HEAD = 'backup.json'
export const SECRET = 'secret.key'
/** The old key, during a rotation. */
export const OLD_SECRET = 'secret-old.key'
/** The last part but one: all parts before it, and the time that the backup states. */
export const MANIFEST = 'manifest.json'
/** The last part: the SHA-256 of the manifest. A backup without it was never finished. */
export const FINISHED = 'finished.json'
export const DATA = 'postgres/data'
export const PASSWORD = 'postgres/password'
/** Of a logical backup: its tables, before their rows; and how many rows there are, after them. */
export const TABLES_LIST = 'tables.json'
export const COUNTS = 'counts.json'
const ROWS = 'rows'

/** `rows/public.item/000000` */
export const rowsPart = (table: string, part: number): string =>
  `${ROWS}/${table}/${String(part).padStart(6, '0')}`

/** The table whose rows a part has; undefined for other parts. */
export const tableOfPart = (path: string): string | undefined => {
  const [folder, table, part, ...more] = path.split('/')
  return folder === ROWS && part !== undefined && more.length === 0 ? table : undefined
}

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** Of what errors name. Anybody may have written it, and a terminal obeys strange characters. */
const plainText = (most: number) => Type.String({ pattern: `^[\\w./ -]{1,${most}}$` })

const BackupHead = Type.Object({
  format: Type.Integer(),
  kind: Type.Union([Type.Literal('physical'), Type.Literal('logical')]),
  began_at: Type.String(),
  /** The number of the last migration. */
  version: plainText(20),
  migrations: Type.Array(Type.Object({ name: plainText(200), hash: Type.String() })),
  deployment: plainText(36),
  /** The major version of the database. */
  postgres: Type.Integer(),
  /** How many bytes a restore needs, about. */
  room: Type.Integer({ minimum: 0 }),
  /** Tells secret keys apart without revealing them. */
  secret_key: Type.String(),
  /** Of the old key, during a rotation. */
  old_secret_key: Type.Optional(Type.String()),
  /** Where files are kept. Their bytes are in the backup only if that is the database. */
  files: Type.Union([
    Type.Object({ store: Type.Literal('postgres') }),
    Type.Object({
      store: Type.Literal('s3'),
      endpoint: Type.String(),
      bucket: Type.String(),
      region: Type.String(),
    }),
  ]),
})
export type BackupHead = Static<typeof BackupHead>

const ListedFile = Type.Object({
  path: Type.String(),
  size: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
})
export type ListedFile = Static<typeof ListedFile>

const BackupManifest = Type.Object({
  /** Every command that was acknowledged before this time is in the backup. */
  at: Type.String(),
  finished_at: Type.String(),
  folders: Type.Array(Type.String()),
  files: Type.Array(ListedFile),
})
export type BackupManifest = Static<typeof BackupManifest>

export const bytesOf = (files: ListedFile[]): number =>
  files.reduce((sum, { size }) => sum + size, 0)

const Finished = Type.Object({ manifest_sha256: Sha256 })

const TableList = Type.Array(
  Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) }),
)
export type TableList = Static<typeof TableList>

const TableCounts = Type.Object({
  rows: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), value: Type.String(), called: Type.Boolean() }),
  ),
})
export type TableCounts = Static<typeof TableCounts>

const parsePart = <S extends TSchema>(schema: S, path: string, bytes: Uint8Array): Static<S> => {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (Value.Check(schema, value)) return value
  } catch {
    // Said below.
  }
  return fail(
    'invalid_input',
    `${path} of the backup is damaged: its contents are not in the expected form`,
  )
}

export const parseManifest = (bytes: Uint8Array): BackupManifest =>
  parsePart(BackupManifest, MANIFEST, bytes)

export const parseTables = (bytes: Uint8Array): TableList =>
  parsePart(TableList, TABLES_LIST, bytes)

export const parseCounts = (bytes: Uint8Array): TableCounts => parsePart(TableCounts, COUNTS, bytes)

export const parseFinished = (bytes: Uint8Array): string =>
  parsePart(Finished, FINISHED, bytes).manifest_sha256

const FormatAlone = Type.Object({ format: Type.Integer() })

/** Throws if a later program made the backup. */
export const parseHead = (bytes: Uint8Array): BackupHead => {
  const { format } = parsePart(FormatAlone, HEAD, bytes)
  if (format > BACKUP_FORMAT)
    fail(
      'invalid_input',
      `the backup was made by a newer version of Tendril (its format is ${format}, and this program reads up to ${BACKUP_FORMAT}): restore it with that version`,
    )
  return parsePart(BackupHead, HEAD, bytes)
}

const SEGMENT = /^(?!\.{1,2}$)[\w.+-]+$/

const isPlainPath = (path: string): boolean =>
  path.length <= 1_024 && path.split('/').every((segment) => SEGMENT.test(segment))

/**
 * Throws unless a path stays inside of the folder that it is put into. Who writes a backup and who
 * reads one use this, so that no backup is made that is then refused.
 */
export const requirePlainPath = (path: string, where: 'source' | 'backup'): void => {
  if (isPlainPath(path)) return
  const shown = JSON.stringify(path.slice(0, 200))
  fail(
    'invalid_input',
    where === 'source'
      ? `${shown} cannot be in a backup, because of the characters or the length of its name`
      : `the backup has a part with a strange name: ${shown}`,
  )
}

/** The bytes of a part that must be small. */
export const wholePart = async (
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length > most) fail('invalid_input', `${path} of the backup is too long to be what it says`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What a key, a password or a short list may have. */
export const SMALL_PART_BYTES = 65_536

/** Each row ends with the only line break in it. */
export const rowsIn = (bytes: Buffer): number => {
  let rows = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) rows++
  return rows
}
