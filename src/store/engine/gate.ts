/**
 * The gate of a letter: everything that can forbid it and what its rules need to know, in one
 * statement.
 */

import { fail } from '#kernel/errors'
import type { Fragment, Sql, Transaction } from './db.ts'
import type { Gate, GateFacts, GateHook, Ownership } from './letter.ts'
import { type Load, type Loaded, loadColumns, loadedOf } from './load.ts'
import type { Principal } from './principal.ts'
import { hasValidCredential, scopeOf } from './read-scope.ts'

interface GateRow
  extends Omit<Gate, keyof GateFacts | 'wakeAt' | 'pausedHere' | 'heldSince' | 'pausedEverywhere'> {
  live: boolean
  /**
   * Whether the statement saw an old version of the tenant's row, because somebody changed it
   * outside of letters.
   */
  stale: boolean
  wake_at: Date | null
  /**
   * Since when the deployment is held, and since when every workspace is paused. One column, so
   * that one look at the row tells both.
   */
  stops: readonly [string | null, string | null]
}

interface GateQuestion<L extends Load> {
  hook: GateHook
  caller?: Principal | undefined
  idempotencyKey?: string | null | undefined
  load: L
}

/** The gate's facts, and the records that the decision asked for. */
export interface Opened<L extends Load> {
  gate: Gate
  loaded: Loaded<L>
}

/** The row of the tenant, if this process owns it. Refers to `scope`, which sets the tenant. */
const ownActor = (sql: Sql, { tenantId, epoch, owner }: Ownership): Fragment =>
  sql`a.tenant_id = ${tenantId}::uuid and a.epoch = ${epoch}
    and a.owner is not distinct from ${owner}::uuid and scope.ok is not null`

/**
 * Returns `undefined` if another process owns the tenant, and in a shared transaction also if
 * somebody holds its lock: nobody waits for that with the locks of others. Throws
 * `unauthenticated` if the caller's credential is no longer valid. The owner is compared in a way
 * that no index serves, because with `=`, stale statistics can make Postgres scan all tenants of
 * this process.
 *
 * All writers of a tenant's records hold this lock, so what is loaded here stays true until the
 * commit. A statement that had to wait for the lock sees records as they were before. If the writer
 * it waited for changed the tenant's row, as account deletion does, the gate asks again, this time
 * with the lock. For other writers, see `lockActor` and src/ops/engine/loading.ts.
 */
export async function openGate<L extends Load>(
  sql: Sql & Pick<Transaction, 'sharing'>,
  own: Ownership,
  question: GateQuestion<L>,
): Promise<Opened<L> | undefined> {
  const { hook, load } = question
  const row = await gateRow(sql, own, question)
  const fresh = row?.stale ? await gateRow(sql, own, question) : row
  if (!fresh) return undefined
  if (!fresh.live) fail('unauthenticated')
  const { now, wake_at: wakeAt, counters, seen } = fresh
  return {
    gate: { ...hook.read(fresh), now, ...stopsOf(fresh), wakeAt, counters, seen },
    loaded: loadedOf(load, fresh),
  }
}

/** What keeps unattended work from starting. */
const stopsOf = ({ paused, stops: [held, everywhere] }: GateRow) => ({
  paused: paused || held !== null || everywhere !== null,
  pausedHere: paused,
  heldSince: held === null ? null : new Date(held),
  pausedEverywhere: everywhere === null ? null : new Date(everywhere),
})

const gateRow = async <L extends Load>(
  sql: Sql & Pick<Transaction, 'sharing'>,
  own: Ownership,
  { hook, caller, idempotencyKey = null, load }: GateQuestion<L>,
): Promise<(GateRow & Record<string, unknown>) | undefined> => {
  const [row] = await sql<GateRow & Record<string, unknown>>`
    select g.* from ${scopeOf(sql, own.tenantId)} cross join lateral (
      select clock_timestamp() as now, a.paused, a.wake_at, product.*,
        (select jsonb_build_array(h.since, h.paused_since) from hold h) as stops,
        ${caller === undefined ? sql`true` : hasValidCredential(sql, caller)} as live,
        a.xmin <> (select before.xmin from actor before
          where before.tenant_id = a.tenant_id) as stale,
        (select coalesce(jsonb_object_agg(c.key || '@' || c.period, c.used), '{}')
          from counter c) as counters,
        (select to_jsonb(i) from idempotency i where i.key = ${idempotencyKey}
          and i.expires_at > now()) as seen
        ${loadColumns(sql, load)}
      from actor a cross join lateral (${hook.query(sql)}) product
      where ${ownActor(sql, own)}
      offset 0 for no key update of a ${sql.sharing ? sql`skip locked` : sql``}) g`
  return row
}

/** The gate without records. */
export const gate = async (
  sql: Sql,
  own: Ownership,
  question: Omit<GateQuestion<Load>, 'load'>,
): Promise<Gate | undefined> => (await openGate(sql, own, { ...question, load: {} }))?.gate

/**
 * Waits for a transaction of this tenant that may still be ending, for example after its answer was
 * lost. If the gate itself waited, it would load records from before that transaction.
 */
export const lockActor = async (sql: Sql, own: Ownership): Promise<void> => {
  await sql`select l.* from ${scopeOf(sql, own.tenantId)}
    cross join lateral (select 1 from actor a where ${ownActor(sql, own)} offset 0 for no key update
    of a) l`
}
