/**
 * A letter's transaction: gate, decision, effects, in four statements and two round trips. The gate checks in one statement everything
 * that can forbid the command (fence, credential, idempotency), and fetches what rules need (plan, counters, kill switch, time) and the
 * records that the decision loads. The effects (new rows, audit, events, work, the stored answer) are one data-modifying statement.
 */

import type { WorkKind, WorkLane } from '#contract/work'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Spend } from '#kernel/spend'
import { spendParts } from './counters.ts'
import { type Fragment, hasValidCredential, type Query, type Sql, scopeOf, type Transaction } from './db.ts'
import { isKeyTaken, type Keep, type StoredAnswer, storeAnswer } from './idempotency.ts'
import { type Load, type Loaded, loadColumns, loadedOf } from './load.ts'
import { eventParts, type NewEvent } from './outbox.ts'
import type { Principal } from './principal.ts'
import { isWriting, sqlBy } from './sql.ts'

/** The incarnation and epoch under which a process owns a tenant: a letter's fence. */
export interface Ownership {
  tenantId: string
  owner: string
  epoch: number
}

/** The caller and the surface, for the gate and the audit row. */
export interface Provenance {
  principal: Principal
  /** `rest`, `mcp`, `cli`, `timer`, `lane`, `admin`. */
  surface: string
  requestId?: string | undefined
}

/** What the product's rules need from the gate. The product declares the fields, by merging with this interface. */
// biome-ignore lint/suspicious/noEmptyInterface: the engine knows none of them
export interface GateFacts {}

/** What the gate fetched, for the decision. */
export interface Gate extends GateFacts {
  /** The database's clock. */
  now: Date
  paused: boolean
  /** When the tenant must be woken. Never null while it has unfinished work, and past while some is running. */
  wakeAt: Date | null
  /** Amounts used, by `key@period`. */
  counters: Record<string, number>
  seen: StoredAnswer | null
}

/** What the product adds to the gate, in the same statement. */
export interface GateHook {
  /** A select of one row, about the tenant of the row `a` of table `actor`. */
  query(sql: Sql): Fragment
  /** The facts in that row. */
  read(row: Record<string, unknown>): GateFacts
  /** Throws the product's refusal of every letter but timers, lanes and those that are exempt. */
  admit(gate: Gate): void
}

/** Everything a decision changes, as data. */
export interface Effects {
  /** Writes to run first, each in its own statement: they make way in a unique index for the others. */
  first?: Query[]
  writes?: Query[]
  events?: NewEvent[]
  /** Occurrences without an event, for rules. */
  occurrences?: { kind: string; ref: string; [detail: string]: unknown }[]
  /** Amounts to add to counters; negative ones are refunds. Periods that are over do not change. */
  spend?: Spend[]
  work?: NewWork[]
  /**
   * Due times of existing rows that the decision has loaded, for kinds of which a tenant has one row. Follow-up work that would leave such a
   * row unchanged is not written.
   */
  standing?: Partial<Record<WorkKind, Date | null>> | undefined
  /** Ids of work rows that are settled or withdrawn. */
  settled?: string[]
  audit?: { operation: string; refId?: string; detail?: Record<string, unknown> }
  /** Claimed or queued rows that return to the queue with a new due time. */
  requeued?: Requeued[]
  paused?: boolean
  /** When the row was due that these effects claim, if they claim one. */
  claimed?: Date
}

/** Further effects of a decision that the product wants in the same commit. Reads through `sql`, writes nothing. */
export type Consequences = (sql: Sql, effects: Effects, letter: { gate: Gate; tenantId: string }) => Promise<Effects>

/** Combines effects. Of several audits the first one is kept. */
export const merge = (...all: Effects[]): Effects => ({
  ...Object.assign({}, ...[...all].reverse()),
  first: all.flatMap((one) => one.first ?? []),
  writes: all.flatMap((one) => one.writes ?? []),
  events: all.flatMap((one) => one.events ?? []),
  occurrences: all.flatMap((one) => one.occurrences ?? []),
  spend: all.flatMap((one) => one.spend ?? []),
  work: all.flatMap((one) => one.work ?? []),
  settled: all.flatMap((one) => one.settled ?? []),
  requeued: all.flatMap((one) => one.requeued ?? []),
})

/**
 * If a row of the same kind and record exists: `refused` is an error; `keeps` leaves the old row; `hastens` leaves it but makes it due
 * sooner; `replaces` gives it all values of the new one, and discards what is running for it.
 */
export type SecondRow = 'refused' | 'keeps' | 'hastens' | 'replaces'

export interface NewWork {
  id: string
  lane: WorkLane
  kind: WorkKind
  /** Its concurrency key; null: that of the moment when it is claimed. */
  key: string | null
  second: SecondRow
  refId: string
  origin: 'manual' | 'automatic'
  runAt: Date
  payload?: Record<string, unknown>
}

/** Fields left out stay as they are. A row that was claimed keeps the key under which it ran. */
export interface Requeued extends Pick<NewWork, 'id' | 'runAt'>, Partial<Pick<NewWork, 'payload' | 'origin' | 'key'>> {}

interface GateRow extends Omit<Gate, keyof GateFacts | 'wakeAt'> {
  live: boolean
  /** The statement saw the tenant's row as it was before somebody changed it outside of letters. */
  stale: boolean
  wake_at: Date | null
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
  sql`a.tenant_id = ${tenantId}::uuid and a.epoch = ${epoch} and a.owner is not distinct from ${owner}::uuid and scope.ok is not null`

/**
 * Returns `undefined` if another process owns the tenant. Throws `unauthenticated` if the caller's credential is no longer valid. The owner
 * is compared in a way that no index serves: with `=`, stale statistics make Postgres scan all tenants of this process.
 *
 * All writers of a tenant's records hold this lock, so what is loaded here stays true until the commit. A statement that has to wait for
 * the lock sees records as they were before. If the writer that it waited for changed the row of the tenant, as account deletion does, the
 * gate asks again, now with the lock. For other writers see `lockActor`, and src/ops/loading.ts.
 */
export async function openGate<L extends Load>(sql: Sql, own: Ownership, question: GateQuestion<L>): Promise<Opened<L> | undefined> {
  const { hook, load } = question
  const row = await gateRow(sql, own, question)
  const fresh = row?.stale ? await gateRow(sql, own, question) : row
  if (!fresh) return undefined
  if (!fresh.live) fail('unauthenticated')
  const { now, paused, wake_at: wakeAt, counters, seen } = fresh
  return { gate: { ...hook.read(fresh), now, paused, wakeAt, counters, seen }, loaded: loadedOf(load, fresh) }
}

const gateRow = async <L extends Load>(
  sql: Sql,
  own: Ownership,
  { hook, caller, idempotencyKey = null, load }: GateQuestion<L>,
): Promise<(GateRow & Record<string, unknown>) | undefined> => {
  const [row] = await sql<GateRow & Record<string, unknown>>`
    select g.* from ${scopeOf(sql, own.tenantId)} cross join lateral (
      select clock_timestamp() as now, a.paused, a.wake_at, product.*,
        ${caller === undefined ? sql`true` : hasValidCredential(sql, caller)} as live,
        a.xmin <> (select before.xmin from actor before where before.tenant_id = a.tenant_id) as stale,
        (select coalesce(jsonb_object_agg(c.key || '@' || c.period, c.used), '{}') from counter c) as counters,
        (select to_jsonb(i) from idempotency i where i.key = ${idempotencyKey} and i.expires_at > now()) as seen
        ${loadColumns(sql, load)}
      from actor a cross join lateral (${hook.query(sql)}) product
      where ${ownActor(sql, own)}
      offset 0 for no key update of a) g`
  return row
}

/** The gate without records. */
export const gate = async (sql: Sql, own: Ownership, question: Omit<GateQuestion<Load>, 'load'>): Promise<Gate | undefined> =>
  (await openGate(sql, own, { ...question, load: {} }))?.gate

/**
 * Waits for a transaction of this tenant that may still be ending, as after an answer that was lost. A gate that waited itself would load
 * records of before that transaction.
 */
export const lockActor = async (sql: Sql, own: Ownership): Promise<void> => {
  await sql`select l.* from ${scopeOf(sql, own.tenantId)} cross join lateral (select 1 from actor a where ${ownActor(sql, own)} offset 0 for no key update of a) l`
}

interface Applying {
  now: Date
  /** The gate's. */
  wakeAt: Date | null
  provenance: Provenance
  keep?: Keep | undefined
  /** Whether the transaction ends with these effects, and wrote nothing before. Asked just before they are sent. */
  commits?: (() => boolean) | undefined
}

/** Writes all effects in one statement, after those that must come first. False: there was nothing to write, and nothing was sent. */
export async function apply(sql: Transaction, effects: Effects, context: Applying): Promise<boolean> {
  const { now, provenance, keep } = context
  for (const write of effects.first ?? []) await write(sql)
  const parts: Fragment[] = (effects.writes ?? []).map((write) => write(sql))
  parts.push(...eventParts(sql, effects.events, now))
  parts.push(...spendParts(sql, effects.spend, now))
  for (const work of effects.work ?? []) parts.push(addWork(sql, work))
  for (const work of effects.requeued ?? []) parts.push(requeue(sql, work))
  const settled = effects.settled ?? []
  if (settled.length > 0) parts.push(sql`delete from work where id = any(${settled})`)
  if (effects.audit) parts.push(writeAudit(sql, effects.audit, context.now, provenance))
  const placement = updateActor(sql, effects, context)
  if (placement) parts.push(placement)
  if (keep) parts.push(storeAnswer(sql, keep, now))
  if (parts.length === 0) return (effects.first ?? []).length > 0
  const last = parts.pop()!
  const before = parts.map((part, index) => sql`${index === 0 ? sql`` : sql`,`} ${sql(`e${index}`)} as (${part})`)
  const statement = before.length === 0 ? last : sql`with ${before} ${last}`
  const commits = (effects.first ?? []).length === 0 && context.commits?.() === true
  await (commits ? sql.committing(statement) : statement.then()).catch((cause: unknown) => {
    throw isKeyTaken(cause) ? new KeyTaken() : cause
  })
  return true
}

/**
 * A connection for decisions: their changes belong in the effects, so that a refused letter leaves nothing behind in a shared transaction.
 * A writing statement throws.
 */
export const readingOnly = (sql: Sql): Sql =>
  sqlBy(async (statement) => {
    if (isWriting(statement)) throw new Error('a decision changes nothing itself')
    return await sql`${statement}`
  })

/** Another letter stored an answer under the same Idempotency-Key after this one's gate. */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken'
}

const addWork = (sql: Sql, work: NewWork): Fragment =>
  sql`insert into work (id, lane, kind, concurrency_key, ref_id, origin, run_at, payload)
      values (${work.id}, ${work.lane}, ${work.kind}, ${work.key}, ${work.refId}, ${work.origin}, ${work.runAt},
        ${sql.json(work.payload ?? {})})
      ${onConflict(sql, work.second)}`

const onConflict = (sql: Sql, second: SecondRow): Fragment => {
  const same = sql`on conflict (tenant_id, kind, ref_id)`
  switch (second) {
    case 'refused':
      return sql``
    case 'keeps':
      return sql`${same} do nothing`
    case 'hastens':
      return sql`${same} do update set run_at = excluded.run_at where work.run_at > excluded.run_at`
    case 'replaces':
      return sql`${same} do update set state = 'queued', run_at = excluded.run_at, origin = excluded.origin,
        payload = excluded.payload, concurrency_key = excluded.concurrency_key, claimed_by = null, lease_until = null`
  }
}

/** In the audit, a session appears as its person. */
export const auditActor = ({ kind, id, member }: Principal): { kind: string; id: string } =>
  kind === 'session' && member ? { kind: 'person', id: member.personId } : { kind, id }

const writeAudit = (sql: Sql, audit: NonNullable<Effects['audit']>, now: Date, by: Provenance): Fragment =>
  sql`insert into audit (id, at, actor_kind, actor_id, surface, operation, ref_id, request_id, detail)
      values (${newId()}, ${now}, ${auditActor(by.principal).kind}, ${auditActor(by.principal).id}, ${by.surface}, ${audit.operation}, ${audit.refId ?? null},
              ${by.requestId ?? null}, ${sql.json(audit.detail ?? {})})`

const requeue = (sql: Sql, { id, runAt, payload, origin, key }: Requeued): Fragment =>
  sql`update work set state = 'queued', run_at = ${runAt}, claimed_by = null, lease_until = null
      ${origin ? sql`, origin = ${origin}` : sql``}${key === undefined ? sql`` : sql`, concurrency_key = ${key}`}
      ${payload ? sql`, payload = ${sql.json(payload)}` : sql``} where id = ${id}`

/** Whether the time of waking may stay: it is past while a row is running, and otherwise that of the first row. */
const wakesInTime = ({ work = [], settled = [], requeued = [], claimed }: Effects, { now, wakeAt }: Applying): boolean => {
  if (!wakeAt) return false
  // The claimed row is running from now on.
  if (claimed && claimed <= now && wakeAt <= now) return true
  return settled.length === 0 && requeued.length === 0 && work.every(({ runAt }) => runAt >= wakeAt)
}

/** A claimed row keeps its due time, so its tenant is woken if this process dies. */
const updateActor = (sql: Sql, effects: Effects, context: Applying): Fragment | undefined => {
  const { work = [], settled = [], requeued = [], paused } = effects
  const changed = [...settled, ...requeued.map(({ id }) => id)]
  const times = [...work, ...requeued].map(({ runAt }) => runAt.getTime())
  if (paused === undefined && ((changed.length === 0 && times.length === 0) || wakesInTime(effects, context))) return undefined
  const soonest = times.length > 0 ? new Date(Math.min(...times)) : null
  const first = (origin: NewWork['origin']) =>
    sql`(select min(run_at) from work where origin = ${origin} and id <> all(${changed}::uuid[]))`
  return sql`update actor set wake_at = least(${first('manual')}, ${first('automatic')}, ${soonest}::timestamptz)
    ${paused === undefined ? sql`` : sql`, paused = ${paused}`}`
}
