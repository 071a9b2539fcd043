/**
 * A letter's transaction: gate, decision, effects, in four statements and two round trips. The gate checks in one statement everything
 * that can forbid the command (fence, credential, idempotency), and fetches what rules need (plan, counters, kill switch, time) and the
 * records that the decision loads. The effects (new rows, audit, events, work, the stored answer) are one data-modifying statement.
 */

import type { WorkKind, WorkLane } from '#contract/work'
import { newId } from '#kernel/ids'
import type { Spend } from '#kernel/spend'
import { spendParts } from './counters.ts'
import type { Fragment, Query, Sql, Transaction } from './db.ts'
import { isKeyTaken, type Keep, type StoredAnswer, storeAnswer } from './idempotency.ts'
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
  /** `by`: who did it, if not the letter's own principal. */
  audit?: { operation: string; refId?: string; detail?: Record<string, unknown>; by?: { kind: string; id: string; surface: string } }
  /** Claimed or queued rows that return to the queue with a new due time. */
  requeued?: Requeued[]
  paused?: boolean
  /** When the row was due that these effects claim, if they claim one. */
  claimed?: Date
  /** Ids of records that clients may be following: this process tells them after the commit. */
  news?: string[]
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
  news: all.flatMap((one) => one.news ?? []),
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
export interface Requeued extends Pick<NewWork, 'id' | 'runAt'>, Partial<Pick<NewWork, 'payload' | 'origin' | 'key'>> {
  /** What adds to its failures in a row. Absent: it has not failed, and they are over. */
  failed?: number
  /** Its own due time, if it rests until `runAt`. */
  dueAt?: Date
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
      // What rests because it fails does not fail sooner for that.
      return sql`${same} do update set run_at = excluded.run_at where work.run_at > excluded.run_at and work.due_at is null`
    case 'replaces':
      return sql`${same} do update set state = 'queued', run_at = excluded.run_at, origin = excluded.origin,
        payload = excluded.payload, concurrency_key = excluded.concurrency_key, claimed_by = null, lease_until = null,
        failures = 0, due_at = null, tried_by = null`
  }
}

/** In the audit, a session appears as its person. */
export const auditActor = ({ kind, id, member }: Principal): { kind: string; id: string } =>
  kind === 'session' && member ? { kind: 'person', id: member.personId } : { kind, id }

const writeAudit = (sql: Sql, audit: NonNullable<Effects['audit']>, now: Date, letter: Provenance): Fragment => {
  const { kind, id, surface } = audit.by ?? { ...auditActor(letter.principal), surface: letter.surface }
  return sql`insert into audit (id, at, actor_kind, actor_id, surface, operation, ref_id, request_id, detail)
    values (${newId()}, ${now}, ${kind}, ${id}, ${surface}, ${audit.operation}, ${audit.refId ?? null}, ${letter.requestId ?? null},
      ${sql.json(audit.detail ?? {})})`
}

const requeue = (sql: Sql, { id, runAt, payload, origin, key, failed, dueAt }: Requeued): Fragment =>
  sql`update work set state = 'queued', run_at = ${runAt}, claimed_by = null, lease_until = null, due_at = ${dueAt ?? null}, tried_by = null,
      failures = ${failed === undefined ? sql`0` : sql`failures + ${failed}`}
      ${origin ? sql`, origin = ${origin}` : sql``}${key === undefined ? sql`` : sql`, concurrency_key = ${key}`}
      ${payload ? sql`, payload = ${sql.json(payload)}` : sql``} where id = ${id}`

/** Whether the time of waking may stay: it is past while a row is running, and otherwise that of the first row. */
const wakesInTime = ({ work = [], settled = [], requeued = [], claimed }: Effects, { now, wakeAt }: Applying): boolean => {
  if (!wakeAt) return false
  // The claimed row is running from now on.
  if (claimed && claimed <= now && wakeAt <= now) return true
  return settled.length === 0 && requeued.length === 0 && work.every(({ runAt }) => runAt >= wakeAt)
}

/** A workspace that is paused already stays so since its first pause. */
const pausing = (sql: Sql, paused: boolean, { audit }: Effects, { now, provenance }: Applying): Fragment => {
  if (!paused) return sql`, paused = false, paused_at = null, paused_by = null`
  const { kind, id } = audit?.by ?? auditActor(provenance.principal)
  return sql`, paused = true, paused_at = coalesce(paused_at, ${now}), paused_by = coalesce(paused_by, ${sql.json({ kind, id })})`
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
    ${paused === undefined ? sql`` : pausing(sql, paused, effects, context)}`
}
