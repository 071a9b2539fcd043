/** The files whose bytes are in S3. */
import type postgres from 'postgres'

export interface BucketFile {
  /** Of the object in the bucket: `WORKSPACE/ID`. */
  key: string
  bytes: number
}

const PAGE = 10_000
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** In pages, each read by one statement. Those whose upload has not ended are left out. */
export async function* storedFiles(sql: postgres.Sql): AsyncGenerator<BucketFile[]> {
  let [tenant, file] = [BEFORE_ALL, BEFORE_ALL]
  for (;;) {
    const rows = await sql<{ tenant_id: string; id: string; byte_size: number }[]>`
      select tenant_id, id, byte_size from public.file
      where store = 's3' and kept_at is not null
        and (tenant_id, id) > (${tenant}::uuid, ${file}::uuid)
      order by tenant_id, id limit ${PAGE}`
    if (rows.length === 0) return
    yield rows.map(({ tenant_id, id, byte_size }) => ({
      key: `${tenant_id}/${id}`,
      bytes: byte_size,
    }))
    const last = rows.at(-1)!
    ;[tenant, file] = [last.tenant_id, last.id]
  }
}
