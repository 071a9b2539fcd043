/**
 * Writes the effects of a decision (new rows, audit, events, work, the stored answer) in one
 * data-modifying statement.
 */
import { newId } from '#kernel/ids'
import { keptTrace } from '#kernel/trace'
import { spendParts } from './counters.ts'
import type { Fragment, Sql, Transaction } from './db.ts'
import { isKeyTaken, type Keep, storeAnswer } from './idempotency.ts'
import {
  type Effects,
  isUnasked,
  type NewWork,
  type Provenance,
  type Requeued,
  type SecondRow,
} from './letter.ts'
import { eventParts } from './outbox.ts'
import { auditActor, operator } from './principal.ts'

interface Applying {
  now: Date
  /** The gate's time of waking. */
  wakeAt: Date | null
  provenance: Provenance
  keep?: Keep | undefined
  /**
   * Whether the transaction ends with these effects and has written nothing before. Called just
   * before they are sent.
   */
  commits?: (() => boolean) | undefined
}

/**
 * Writes all effects in one statement, after those that must come first. Returns false if there was
 * nothing to write and so nothing was sent.
 */
export async function apply(
  sql: Transaction,
  effects: Effects,
  context: Applying,
): Promise<boolean> {
  const { now, provenance, keep } = context
  for (const write of effects.first ?? []) await write(sql)
  const parts: Fragment[] = (effects.writes ?? []).map((write) => write(sql))
  parts.push(...eventParts(sql, effects.events, now))
  parts.push(...spendParts(sql, effects.spend, now))
  for (const work of effects.work ?? []) parts.push(addWork(sql, work, context))
  for (const work of effects.requeued ?? []) parts.push(requeue(sql, work, context))
  const settled = effects.settled ?? []
  if (settled.length > 0) parts.push(sql`delete from work where id = any(${settled})`)
  if (effects.audit) parts.push(writeAudit(sql, effects.audit, context.now, provenance))
  const placement = updateActor(sql, effects, context)
  if (placement) parts.push(placement)
  if (keep) parts.push(storeAnswer(sql, keep, now))
  if (parts.length === 0) return (effects.first ?? []).length > 0
  const last = parts.pop()!
  const before = parts.map(
    (part, index) => sql`${index === 0 ? sql`` : sql`,`} ${sql(`e${index}`)} as (${part})`,
  )
  const statement = before.length === 0 ? last : sql`with ${before} ${last}`
  const commits = (effects.first ?? []).length === 0 && context.commits?.() === true
  await (commits ? sql.committing(statement) : statement.then()).catch((cause: unknown) => {
    throw isKeyTaken(cause) ? new KeyTaken() : cause
  })
  return true
}

/** Another letter stored an answer under the same Idempotency-Key after this one's gate. */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken'
}

/** Without `applying`, it is part of no trace. */
export const addWork = (sql: Sql, work: NewWork, applying?: Applying): Fragment => {
  const trace = applying && (work.trace ?? applying.provenance.trace)
  const kept = trace === undefined ? undefined : sql`, ${keptTrace(trace, applying!.now)}`
  return sql`insert into work (id, lane, kind, concurrency_key, ref_id, origin, run_at, payload
        ${kept ? sql`, trace` : sql``})
      values (${work.id}, ${work.lane}, ${work.kind}, ${work.key}, ${work.refId}, ${work.origin},
        ${work.runAt},
        ${sql.json(work.payload ?? {})} ${kept ?? sql``})
      ${onConflict(sql, work.second, kept ? sql`, trace = excluded.trace` : sql``)}`
}

const onConflict = (sql: Sql, second: SecondRow, trace: Fragment): Fragment => {
  const same = sql`on conflict (tenant_id, kind, ref_id)`
  switch (second) {
    case 'refused':
      return sql``
    case 'keeps':
      return sql`${same} do nothing`
    case 'hastens':
      // A row that rests because it failed must not run again sooner because of this.
      return sql`${same} do update set run_at = excluded.run_at, created_at = now() ${trace}
        where work.run_at > excluded.run_at and work.due_at is null`
    case 'replaces':
      return sql`${same} do update set state = 'queued', run_at = excluded.run_at,
        created_at = now(), origin = excluded.origin,
        payload = excluded.payload, concurrency_key = excluded.concurrency_key, claimed_by = null,
          lease_until = null,
        failures = 0, due_at = null, tried_by = null ${trace}`
  }
}

const writeAudit = (
  sql: Sql,
  audit: NonNullable<Effects['audit']>,
  now: Date,
  letter: Provenance,
): Fragment => {
  const { kind, id, surface } = audit.by ?? {
    ...auditActor(letter.principal),
    surface: letter.surface,
  }
  return sql`insert into audit (id, at, actor_kind, actor_id, surface, operation, ref_id,
    request_id, detail)
    values (${newId()}, ${now}, ${kind}, ${id}, ${surface}, ${audit.operation},
      ${audit.refId ?? null}, ${letter.requestId ?? null},
      ${sql.json(audit.detail ?? {})})`
}

/** What a request moves goes on in its trace. What timers and lanes move stays in its own. */
const requeue = (
  sql: Sql,
  { id, runAt, payload, origin, key, failed, dueAt }: Requeued,
  { provenance, now }: Applying,
): Fragment => {
  const trace = isUnasked(provenance) ? undefined : provenance.trace
  return sql`update work set state = 'queued', run_at = ${runAt}, claimed_by = null, lease_until = null,
    due_at = ${dueAt ?? null}, tried_by = null,
      failures = ${failed === undefined ? sql`0` : sql`failures + ${failed}`}
      ${origin ? sql`, origin = ${origin}, created_at = now()` : sql``}${
        key === undefined
          ? sql``
          : sql`,
        concurrency_key = ${key}`
      }
      ${trace === undefined ? sql`` : sql`, trace = ${keptTrace(trace, now)}`}
      ${payload ? sql`, payload = ${sql.json(payload)}` : sql``} where id = ${id}`
}

/**
 * Whether the time of waking can stay as it is. While a row is running it is in the past; otherwise
 * it is that of the first row.
 */
const wakesInTime = (
  { work = [], settled = [], requeued = [], claimed }: Effects,
  { now, wakeAt }: Applying,
): boolean => {
  if (!wakeAt) return false
  // The claimed row is running from now on.
  if (claimed && claimed <= now && wakeAt <= now) return true
  return settled.length === 0 && requeued.length === 0 && work.every(({ runAt }) => runAt >= wakeAt)
}

/**
 * A workspace that is already paused keeps the time and author of its first pause. An operator's is
 * taken over by whoever of the workspace pauses it too, so that the operator does not end it.
 */
const pausing = (
  sql: Sql,
  paused: boolean,
  { audit }: Effects,
  { now, provenance }: Applying,
): Fragment => {
  if (!paused) return sql`, paused = false, paused_at = null, paused_by = null`
  const { kind, id } = audit?.by ?? auditActor(provenance.principal)
  return sql`, paused = true, paused_at = coalesce(paused_at, ${now}),
    paused_by = coalesce(nullif(paused_by, ${sql.json({ ...operator })}::jsonb),
      ${sql.json({ kind, id })})`
}

/** A claimed row keeps its due time, so its tenant is woken if this process dies. */
const updateActor = (sql: Sql, effects: Effects, context: Applying): Fragment | undefined => {
  const { work = [], settled = [], requeued = [], paused } = effects
  const changed = [...settled, ...requeued.map(({ id }) => id)]
  const times = [...work, ...requeued].map(({ runAt }) => runAt.getTime())
  if (
    paused === undefined &&
    ((changed.length === 0 && times.length === 0) || wakesInTime(effects, context))
  )
    return undefined
  const soonest = times.length > 0 ? new Date(Math.min(...times)) : null
  const first = (origin: NewWork['origin']) =>
    sql`(select min(run_at) from work where origin = ${origin} and id <> all(${changed}::uuid[]))`
  return sql`update actor set wake_at = least(${first('manual')}, ${first('automatic')},
    ${soonest}::timestamptz)
    ${paused === undefined ? sql`` : pausing(sql, paused, effects, context)}`
}
