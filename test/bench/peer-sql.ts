/**
 * The queries that any program would need, with the tenant written into each and no row-level
 * security.
 */
import postgres from 'postgres'
import { newId } from '#kernel/ids'
import type { ConnectionOptions } from '#store/engine/db'
import { BODY } from './world.ts'

/**
 * A pool like the server's: the same client, the same number of connections, one query at a time on
 * each.
 */
export const openPeer = (options: ConnectionOptions): postgres.Sql =>
  postgres({
    ...options,
    max: 10,
    onnotice: () => {},
    fetch_types: false,
    ...({ max_pipeline: 1 } as object),
  })

export type Kind = 'items' | 'connection' | 'profile' | 'approve'

export interface Asked {
  tenantId: string
  itemId?: string | undefined
  body?: unknown
}

const audited = (tx: postgres.TransactionSql, tenantId: string, operation: string) =>
  tx`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, request_id,
    detail)
    values (${newId()}, ${tenantId}, now(), 'key', 'bench', 'rest', ${operation}, ${newId()}, '{}')`

const remembered = (tx: postgres.TransactionSql, tenantId: string, answer: unknown) =>
  tx`insert into idempotency (tenant_id, key, operation, fingerprint, state, status, body,
    expires_at)
    values (${tenantId}, ${newId()}, 'bench', ${'0'.repeat(64)}, 'done', 200,
      ${JSON.stringify(answer)}, now() + interval '24 hours')`

const EMPTY_DNA = { voice_rules: [], stories: [], proof: [], patterns: [], use: [], avoid: [] }
const PROFILE = {
  goal: 'More calls',
  audience: '',
  voice: '',
  language: 'en',
  time_zone: 'UTC',
  on_missed: 'post',
  writing_dna: EMPTY_DNA,
}

const PAGE = 5

/**
 * What our answer says of an item beside its row. The peers say as much, but look up none of it.
 */
export const BESIDE = {
  original_body: null,
  content_hash: '0'.repeat(64),
  posting_account: { id: newId(), handle: `bench-${newId()}`, network: 'sandbox' },
  warnings: [],
  doubt: null,
}

/**
 * Reads the rows that the answer needs, or writes the same rows as the command in one transaction;
 * checks nothing.
 */
export const queries: Record<Kind, (sql: postgres.Sql, asked: Asked) => Promise<unknown>> = {
  items: async (sql, { tenantId }) => {
    const rows = await sql`select id, batch_id, experiment_id, arm, resurfaced_from, source_kind,
        source_id, kind, title, status, review, body, marks, format, hook, rationale, stories, learnings,
        length, post_at, on_missed, account_external_id as account, reject_reason, external_id, url,
        posted_at, last_error, metrics, tags, note, proposed_at, revision, written_by, decision,
        comments, redraft, restored_as_of, created_at, updated_at
      from item where tenant_id = ${tenantId} order by id desc limit ${PAGE}`
    const items = rows.map(({ source_kind: kind, source_id, id, ...row }) => ({
      id,
      ...row,
      source: { kind, id: source_id, name: null },
      ...BESIDE,
    }))
    return { items, next_cursor: Buffer.from(String(items.at(-1)?.id)).toString('base64url') }
  },

  connection: async (sql, { tenantId }) => {
    const [account] =
      await sql`select id, network, external_id, handle, status, is_default, created_at, updated_at
      from connection where tenant_id = ${tenantId} and is_default and status = 'connected'`
    return { connection: { connected: true, tier: 'free', account } }
  },

  profile: (sql, { tenantId, body }) =>
    sql.begin(async (tx) => {
      const data = sql.json({ ...PROFILE, ...(body as object) } as never)
      const [row] = await tx`insert into profile (tenant_id, data, created_at, updated_at)
          values (${tenantId}, ${data}, now(), now())
        on conflict (tenant_id) do update set data = profile.data || excluded.data,
          updated_at = excluded.updated_at
        returning data, created_at, updated_at`
      const profile = { ...row?.data, created_at: row?.created_at, updated_at: row?.updated_at }
      await audited(tx, tenantId, 'growth.profile.update')
      await remembered(tx, tenantId, { profile })
      return { profile }
    }),

  approve: (sql, { tenantId, itemId }) =>
    sql.begin(async (tx) => {
      const [item] =
        await tx`update item set status = 'approved', approved_hash = ${'0'.repeat(64)},
          account_external_id = 'bench', updated_at = now()
        where tenant_id = ${tenantId} and id = ${itemId ?? null} returning *`
      await audited(tx, tenantId, 'growth.items.approve')
      await remembered(tx, tenantId, { item })
      return { item }
    }),
}

export const PROFILE_PATCH = { goal: 'More calls', voice: BODY }
