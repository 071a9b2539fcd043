import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import type { Artifact, Share } from '#domain/agent/knowledge/artifact'
import type { FileStore, KeptFile } from '../app/files.ts'
import type { Db, Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(artifactRecord)
const shares = tableOf(shareRecord)

export interface ArtifactPage {
  limit: number
  /** Only artifacts made before this. */
  before?: Date | undefined
  kind?: Artifact['kind'] | undefined
  source?: Artifact['source'] | undefined
  job?: string | undefined
  conversation?: string | undefined
}

/** Newest first, without deleted ones. */
export const listArtifacts =
  ({ limit, before, kind, source, job, conversation }: ArtifactPage): Query<Artifact> =>
  (sql) =>
    sql`select ${table.columns(sql, 'a')} from artifact a where a.deleted_at is null
      ${before ? sql`and a.created_at < ${before}` : sql``} ${kind ? sql`and a.kind = ${kind}` : sql``}
      ${source ? sql`and a.source = ${source}` : sql``} ${job ? sql`and a.job_id = ${job}` : sql``}
      ${conversation ? sql`and a.conversation_id = ${conversation}` : sql``}
      order by a.created_at desc limit ${limit + 1}`

/** An artifact that is not deleted. */
export const artifactPart = (id: string) =>
  one<Artifact>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'a')} from artifact a where a.id = ${id}
        and a.deleted_at is null`,
  )

/** When the newest artifact was made, including deleted ones. */
export const newestArtifact = sure(
  one<{ at: Date | null }>({ at: true }, (sql) => sql`select max(created_at) as at from artifact`),
)

export const insertArtifact = (artifact: Artifact): Query => table.insert(artifact)

export const deleteArtifact =
  ({ id }: Pick<Artifact, 'id'>, now: Date): Query =>
  (sql) =>
    sql`update artifact set deleted_at = ${now} where id = ${id}`

/** The active shares by the database's clock, newest first. */
export const activeShares = (artifactId: string, most: number) =>
  many<Share>(
    shares.times,
    (sql) => sql`select ${shares.columns(sql, 's')} from artifact_share s
      where s.artifact_id = ${artifactId} and s.revoked_at is null
        and s.expires_at > clock_timestamp() order by s.id desc limit ${most}`,
  )

export const activeSharePart = (artifactId: string, id: string) =>
  one<Share>(
    shares.times,
    (sql) => sql`select ${shares.columns(sql, 's')} from artifact_share s
      where s.id = ${id} and s.artifact_id = ${artifactId} and s.revoked_at is null
        and s.expires_at > clock_timestamp()`,
  )

export const shareCounts = (artifactId: string) =>
  sure(
    one<{ active: number; all: number }>(
      {},
      (sql) => sql`select count(*)::int as all, (count(*) filter (where revoked_at is null
        and expires_at > clock_timestamp()))::int as active
        from artifact_share where artifact_id = ${artifactId}`,
    ),
  )

const SHARE = 'share'

/** `hash`: SHA-256 of its token. */
export const insertShare = (share: Share, hash: Buffer): Query =>
  shares.insert(share, { token_hash: hash })

/** The route by which a token leads to its workspace. */
export const insertShareRoute =
  ({ id, expires_at }: Share, hash: Buffer): Query =>
  (sql) =>
    sql`insert into inbound_route (kind, key, ref_id, expires_at)
      values (${SHARE}, ${hash.toString('hex')}, ${id}, ${expires_at})`

export const revokeShare =
  ({ id }: Pick<Share, 'id'>, now: Date): Query =>
  (sql) =>
    sql`update artifact_share set revoked_at = ${now} where id = ${id}`

export const revokeShares =
  (artifactId: string, now: Date): Query =>
  (sql) =>
    sql`update artifact_share set revoked_at = ${now} where artifact_id = ${artifactId}
      and revoked_at is null`

export const deleteShareRoute =
  ({ id }: Pick<Share, 'id'>): Query =>
  (sql) =>
    sql`delete from inbound_route where kind = ${SHARE} and ref_id = ${id}`

export const deleteShareRoutes =
  (artifactId: string): Query =>
  (sql) =>
    sql`delete from inbound_route where kind = ${SHARE}
      and ref_id in (select id from artifact_share where artifact_id = ${artifactId})`

/** The workspace of a share that has not expired. */
export const tenantOfShare = (db: Db, hash: Buffer): Promise<string | undefined> =>
  db.system(async (sql) => {
    const [row] = await sql<{
      tenant_id: string
    }>`select tenant_id from inbound_route where kind = ${SHARE} and key = ${hash.toString('hex')}
      and expires_at > clock_timestamp()`
    return row?.tenant_id
  })

/** An artifact's name, and its file. */
export interface StoredArtifact {
  file_name: string
  mime_type: string
  file: KeptFile
}

type StoredRow = Pick<StoredArtifact, 'file_name' | 'mime_type'> &
  Omit<KeptFile, 'store'> & { store: FileStore }

const storedColumns = (sql: Sql): Fragment =>
  sql`a.file_name, a.mime_type, f.id, f.store, f.byte_size, f.sha256,
    encode(f.digests, 'hex') as digests`
const withFile = (sql: Sql): Fragment =>
  sql`artifact a join file f on f.id = a.file_id and f.kept_at is not null`

const storedIn = ([row]: StoredRow[]): StoredArtifact | undefined => {
  if (!row) return undefined
  const { file_name, mime_type, ...file } = row
  return { file_name, mime_type, file }
}

type Reads = <Row>(query: Query<Row>) => Promise<Row[]>

export const storedArtifact = async (
  read: Reads,
  id: string,
): Promise<StoredArtifact | undefined> =>
  storedIn(
    await read<StoredRow>(
      (sql) =>
        sql`select ${storedColumns(sql)} from ${withFile(sql)} where a.id = ${id} and a.deleted_at is null`,
    ),
  )

/** The artifact of an active share, by the database's clock. */
export const sharedArtifact = async (
  read: Reads,
  hash: Buffer,
): Promise<StoredArtifact | undefined> =>
  storedIn(
    await read<StoredRow>(
      (sql) => sql`select ${storedColumns(sql)} from artifact_share s
        join ${withFile(sql)} on a.id = s.artifact_id
        where s.token_hash = ${hash} and s.revoked_at is null and s.expires_at > clock_timestamp()
          and a.deleted_at is null`,
    ),
  )
