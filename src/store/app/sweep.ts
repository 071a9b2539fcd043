/**
 * Deletion of rows past their retention, and the moving of words of posted items
 * (src/store/growth/item-words.ts). The database defines the retention, and when a workspace has
 * such rows: sql/000124-baseline/10-retention.sql.
 */
import type { Db } from '../engine/db.ts'
import { livingOwner } from '../engine/placement.ts'

export interface Retention {
  /** How long to keep audit rows, and rows that only these refer to. */
  keepDays: number
  /** How long to keep what jobs of the agent did. */
  agentKeepDays: number
}

/**
 * Deletes some expired rows of a workspace, and moves words of some of its posted items. Returns
 * false if nothing is left to do.
 */
export const sweepSome = (
  db: Db,
  tenantId: string,
  { keepDays, agentKeepDays, rows }: Retention & { rows: number },
): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }>`
      select bool_or(part) as more from unnest(array[
        sweep_inbound(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day',
          ${rows}),
        sweep_tenant(${tenantId}, clock_timestamp() - ${keepDays} * interval '1 day', ${rows}),
        sweep_agent(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day', ${rows}),
        sweep_channels(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day',
          ${rows}),
        sweep_artifacts(${tenantId}, ${rows}), sweep_files(${tenantId}, ${rows}),
        sweep_prints(${tenantId}, ${rows}), sweep_words(${tenantId}, ${rows}),
        has_long_deleted(${tenantId}) and
          (sweep_deleted(${tenantId}, ${rows}) or sweep_conversations(${tenantId}, ${rows}))
        ]) part`
    return row!.more
  })

/** Those of these workspaces in which `sweepSome` would find something. */
export const needingSweep = (
  db: Db,
  all: readonly Sweepable[],
  { keepDays, agentKeepDays, rows }: Retention & { rows: number },
): Promise<Sweepable[]> =>
  db.system(async (sql) => {
    const found = await sql<{ id: string }>`select id
      from unnest(${all.map(({ tenantId }) => tenantId)}::uuid[]) id
      where needs_sweep(id, ${keepDays} * interval '1 day', ${agentKeepDays} * interval '1 day',
        ${rows})`
    const needing = new Set(found.map(({ id }) => id))
    return all.filter(({ tenantId }) => needing.has(tenantId))
  })

/** If a process dies, its workspaces stay unswept for this long. */
const LEASE_S = 300

/** A workspace that this process is to sweep, and the epoch of its owner at that time. */
export interface Sweepable {
  tenantId: string
  epoch: number
}

/**
 * Takes up to `limit` workspaces in which something may have expired, the longest waiting first. No
 * other process gets them. A workspace whose row is locked by a letter gets its turn later.
 */
export const takeSweepable = (db: Db, limit: number): Promise<Sweepable[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ tenant_id: string; epoch: number }>`
      update actor set sweep_at = clock_timestamp() + ${LEASE_S} * interval '1 second'
        where tenant_id in (
        select tenant_id from actor where sweep_at <= now() order by sweep_at
          limit ${limit} for no key update skip locked)
      returning tenant_id, epoch`
    return rows.map(({ tenant_id, epoch }) => ({ tenantId: tenant_id, epoch }))
  })

/**
 * Notes when workspaces are to be looked at next: in `everyMs` while they are awake, otherwise when
 * the next of their rows expires. A workspace that has woken in the meantime keeps the time that
 * this sets. One whose row is locked by a letter is looked at when its lease ends: nobody waits for
 * its row while holding those of others.
 */
export const noteSweeps = (
  db: Db,
  swept: readonly Sweepable[],
  { keepDays, agentKeepDays, everyMs }: Retention & { everyMs: number },
): Promise<unknown> =>
  db.system(
    (sql) => sql`update actor set sweep_at = case
        when ${livingOwner(sql)} then clock_timestamp() + ${everyMs} * interval '1 millisecond'
        else least(sweep_due(tenant_id, ${keepDays} * interval '1 day',
          ${agentKeepDays} * interval '1 day'), conversations_due(tenant_id)) end
      where tenant_id in (select a.tenant_id from actor a
        join unnest(${swept.map(({ tenantId }) => tenantId)}::uuid[],
          ${swept.map(({ epoch }) => epoch)}::integer[]) as swept (id, its_epoch)
          on a.tenant_id = swept.id and a.epoch = swept.its_epoch
        for no key update of a skip locked)`,
  )

/** Leaves a workspace that could not be swept alone for this long. */
export const restSweep = (db: Db, { tenantId, epoch }: Sweepable, ms: number): Promise<unknown> =>
  db.system(
    (sql) => sql`update actor set sweep_at = clock_timestamp() + ${ms} * interval '1 millisecond'
      where tenant_id = ${tenantId} and epoch = ${epoch}`,
  )

const AT_ONCE = 5_000

/**
 * If rows were kept for a different time before, has every workspace swept now, which determines
 * when it is swept next.
 */
export const noteRetention = async (
  db: Db,
  { keepDays, agentKeepDays }: Retention,
): Promise<void> => {
  const retention = `${keepDays} ${agentKeepDays}`
  const [row] = await db.system(
    (sql) => sql<{ differs: boolean }>`select retention_differs(${retention}) as differs`,
  )
  if (!row!.differs) return
  const some = () =>
    db.system(
      (sql) => sql`update actor set sweep_at = now() where tenant_id in (select tenant_id from actor
        where sweep_at > now() limit ${AT_ONCE})
        returning 1`,
    )
  while ((await some()).length === AT_ONCE);
  await db.system((sql) => sql`select note_retention(${retention})`)
}
