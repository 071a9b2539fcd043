/**
 * The poll for due work: the next row that may be claimed, what its claim loads, and when it is
 * worth polling again.
 */
import type { WorkKind, WorkLane } from '#contract/work'
import type { Fragment, Sql } from './db.ts'
import { type Load, loadColumns, loadedOf, one, type Part } from './load.ts'
import { columns, type KeyedWork, type Work, type WorkTable, workTimes } from './work.ts'
import { placesWith, sharesTaken, WAITS } from './work-places.ts'

/** The time of a poll for due work, and what it must leave out. */
export interface ClaimView {
  kinds: WorkTable
  /**
   * When the poll takes place, and whether only manual rows may be claimed. `gate` takes both from
   * the gate's own statement, of which the poll is then a part.
   */
  at: { now: Date; paused: boolean } | 'gate'
  /**
   * Since when the deployment is held, as far as is known. Then only rows that people have asked
   * for since can be claimed, of kinds that run all the same.
   */
  heldSince?: Date | null
  /** Since when every workspace is paused, as far as is known: only manual rows are claimed. */
  pausedEverywhere?: Date | null
  /** Running work. Its keys are taken, and so are places and shares that are full. */
  running: Pick<KeyedWork, 'id' | 'kind' | 'origin' | 'concurrency_key' | 'place' | 'asker'>[]
  /** Ids of rows to leave out for now. */
  excluded: string[]
  /**
   * Set while more than one row is due: all groups, beginning with the one whose turn it is. A
   * group with nothing to claim gives its turn to the next.
   */
  laneOrder?: readonly WorkLane[] | undefined
  /** What else to read with the row, if it is one of these kinds. */
  loads?: ClaimLoad[]
  /** The record of a row that the poll's own transaction settles. */
  settling?: string | null
}

/** The records that the claim of some rows needs, read by the poll that finds one. */
export interface ClaimLoad {
  kind: WorkKind
  /** Fields that the payload of such rows has. */
  payload: Record<string, unknown>
  /**
   * `refId`: the record of the row. `settling`: the record of a row that this transaction settles,
   * if there is one.
   */
  of(refId: RecordId, settling: string | null): Load
}

/** The id of a record, or an expression for it inside a larger statement. */
export type RecordId = string | Fragment

/** What a poll for due work found. */
export interface NextDue {
  /** The first due row that nothing running blocks. */
  work: KeyedWork | undefined
  /** What was loaded with it. Undefined if none of the loads applies to the row. */
  loaded: Record<string, unknown> | undefined
  /**
   * Milliseconds until it is worth polling for another row while all this runs. Undefined if there
   * is no other row.
   */
  wait: number | undefined
  /**
   * Milliseconds until another row is due, whatever runs. Until then, a poll only finds rows that a
   * later letter adds or frees.
   */
  dueIn: number | undefined
}

/**
 * The longest wait before a later due time is checked again: clocks drift, and a wake-up must not
 * be missed. So a row that falls due later than this counts whatever runs now, and no poll misses a
 * row that waits for its time.
 */
export const LONGEST_NAP_MS = 60_000

/**
 * Rows that fall due later are left to a later letter, whose gate knows what has changed by then.
 */
const pollTime = (sql: Sql, { at }: ClaimView): Fragment =>
  sql`poll as materialized (select
    ${at === 'gate' ? sql`clock_timestamp()` : sql`${at.now}::timestamptz`} as now)`
const now = (sql: Sql): Fragment => sql`(select now from poll)`
/** The row `a` of table `actor` is the gate's. A hold pauses everything. */
const unlessPaused = (sql: Sql, { at, heldSince, pausedEverywhere }: ClaimView): Fragment =>
  heldSince || pausedEverywhere
    ? sql`and false`
    : at === 'gate'
      ? sql`and not a.paused`
      : sql`and not ${at.paused}::boolean`

const unlessHeld = (sql: Sql, { kinds, heldSince }: ClaimView): Fragment =>
  heldSince
    ? sql`and w.created_at >= ${heldSince} and w.kind = any(${[...kinds.whileHeld]}::text[])`
    : sql``

const isAwaited = (sql: Sql, { kinds }: ClaimView): Fragment =>
  sql`w.kind = any(${[...kinds.awaited]}::text[])`

/** Evaluated at most once per statement, when it meets a row without a key. */
const claimedNow = (sql: Sql, { kinds }: ClaimView): Fragment =>
  sql`claimed_now as materialized (select ${kinds.keyWhenClaimed(sql)} as key)`
const resolvedKey = (sql: Sql): Fragment =>
  sql`coalesce(w.concurrency_key, (select key from claimed_now))`

/** The row waits for none of these places and shares. */
const waitsForNone = (sql: Sql, places: string[]): Fragment =>
  sql`(w.payload->${WAITS}::text ?| ${places}::text[]) is not true`

type Blocked = (sql: Sql, origin: Work['origin']) => Fragment

/** Excludes rows that are blocked by what runs. */
const byRunning =
  (view: ClaimView): Blocked =>
  (sql, origin) =>
    sql`and w.id <> all(${view.running.map(({ id }) => id)}::uuid[])
    and ${resolvedKey(sql)} <> all(${view.running.map(({ concurrency_key }) => concurrency_key)}::text[])
    and ${waitsForNone(sql, [...placesWith(view, origin, 0), ...sharesTaken(view, origin)])}`

/** Also excludes rows that `found` will block once it runs. */
const byFoundToo =
  (view: ClaimView): Blocked =>
  (sql, origin) =>
    sql`${byRunning(view)(sql, origin)} and w.id is distinct from (select id from found)
    and ${resolvedKey(sql)} is distinct from (select concurrency_key from found)
    and (${waitsForNone(sql, placesWith(view, origin, 1))}
      or w.kind is distinct from (select kind from found where origin = ${origin}))`

const byNothing: Blocked = (sql) => sql`and w.id is distinct from (select id from found)`

/**
 * How long a row that people asked for takes precedence over one that nobody waits for, if both are
 * due.
 */
const AGED_MS = 5_000

interface Search {
  lane?: Fragment
  select: Fragment
  due: Fragment
  blocked: Blocked
}

/** The first row of an origin, in the order of the index, that meets the condition and may run. */
const firstRow = (
  sql: Sql,
  view: ClaimView,
  { origin, lane, select, due, blocked }: Search & { origin: Work['origin'] },
): Fragment =>
  sql`(select ${select} from work w where w.state = 'queued'
    and w.origin = ${origin} ${lane ? sql`and w.lane = ${lane}` : sql``} ${due}
    ${origin === 'manual' ? unlessHeld(sql, view) : sql``}
    and w.id <> all(${view.excluded}::uuid[]) ${blocked(sql, origin)} order by w.run_at, w.id
      limit 1)`

const firstAutomatic = (sql: Sql, view: ClaimView, search: Search): Fragment =>
  firstRow(sql, view, {
    ...search,
    origin: 'automatic',
    due: sql`and ${search.due} ${unlessPaused(sql, view)}`,
  })

/**
 * The first manual row that is due by the clock or awaited, and the first automatic row unless
 * automation is paused. An awaited row is not due by the clock only if the clock has stepped back.
 */
const firsts = (sql: Sql, view: ClaimView, search: Search): Fragment => sql`
  ${firstRow(sql, view, {
    ...search,
    origin: 'manual',
    due: sql`and (${search.due}
    or ${isAwaited(sql, view)})`,
  })}
  union all ${firstAutomatic(sql, view, search)}`

/**
 * The first rows, whatever blocks them. An awaited manual row is looked for separately, because it
 * may not be the first manual one.
 */
const firstsOfAll = (sql: Sql, view: ClaimView, search: Search): Fragment => sql`
  ${firstRow(sql, view, { ...search, origin: 'manual', due: sql`` })}
  union all ${firstRow(sql, view, { ...search, origin: 'manual', due: sql`and ${isAwaited(sql, view)}` })}
  union all ${firstAutomatic(sql, view, search)}`

/**
 * Milliseconds until `w` is due. Manual rows of awaited kinds are always due, whatever the clock
 * says.
 */
const untilDue = (
  sql: Sql,
  view: ClaimView,
): Fragment => sql`min(case when w.origin = 'manual' and ${isAwaited(sql, view)} then 0
  else extract(epoch from w.run_at - ${now(sql)})::float8 * 1000 end)`

type PollRow = { [K in keyof KeyedWork]: KeyedWork[K] | null } & {
  wait: number | null
  dueIn: number | null
  loaded: Record<string, unknown> | null
}

/** The loads of the row `found`, as JSON. */
const loadsOf = (sql: Sql, { loads = [], settling = null }: ClaimView): Fragment => {
  const one = ({
    kind,
    payload,
    of,
  }: ClaimLoad) => sql`(select row_to_json(l) from (select true as found
    ${loadColumns(sql, of(sql`found.ref_id`, settling))}
    from found where found.kind = ${kind} and found.payload @> ${sql.json(payload)}) l)`
  return loads.length === 0
    ? sql`null`
    : sql`coalesce(${loads.map((load, index) => (index === 0 ? one(load) : sql`, ${one(load)}`))})`
}

/**
 * Sorts by due time. Of two due rows, one that people asked for goes first, unless the other has
 * been due for `AGED_MS` longer.
 */
const inOrder = (sql: Sql): Fragment =>
  sql`order by run_at + case origin when 'manual' then 0
    else ${AGED_MS}::float8 end * interval '1 millisecond', id`

/**
 * The row to claim, named `found`. If groups take turns, it comes from the first group that has
 * one.
 */
const foundBy = (sql: Sql, view: ClaimView, search: Search): Fragment => {
  const one = (of: Search) =>
    sql`select * from (${firsts(sql, view, of)}) due ${inOrder(sql)} limit 1`
  if (!view.laneOrder) return sql`found as materialized (${one(search)})`
  // Postgres knows that the ordinality is in order, so the search ends at the first group that has
  // a row.
  return sql`found as materialized (select due.* from unnest(${[...view.laneOrder]}::text[]) with
    ordinality turn (lane, nth)
    cross join lateral (${one({ ...search, lane: sql`turn.lane` })}) due order by turn.nth limit 1)`
}

/** Always one row: the work, all null if there is none, and both times. */
const pollDue = (sql: Sql, view: ClaimView): Fragment<PollRow> => {
  const select = sql`w.run_at, w.origin, w.kind`
  const claimed = {
    select: columns(sql, resolvedKey(sql)),
    due: sql`w.run_at <= ${now(sql)}`,
    blocked: byRunning(view),
  }
  const inTheNap = sql`w.run_at <= ${now(sql)} + ${LONGEST_NAP_MS}::float8 * interval
    '1 millisecond'`
  return sql<PollRow>`with ${pollTime(sql, view)}, ${claimedNow(sql, view)},
    ${foundBy(sql, view, claimed)}
    select found.*, (select ${untilDue(sql, view)} from
      (${firsts(sql, view, { select, due: inTheNap, blocked: byFoundToo(view) })}) w) as wait,
      (select ${untilDue(sql, view)} from
        (${firstsOfAll(sql, view, { select, due: sql`true`, blocked: byNothing })}) w) as "dueIn",
      ${loadsOf(sql, view)} as loaded
    from (select 1) always left join found on true`
}

/** The load that applies to this row. */
export const loadOf = (
  { loads = [], settling = null }: Pick<ClaimView, 'loads' | 'settling'>,
  { kind, payload, ref_id }: Work,
): Load | undefined =>
  loads
    .find(
      (one) =>
        one.kind === kind &&
        Object.entries(one.payload).every(([name, value]) => payload[name] === value),
    )
    ?.of(ref_id, settling)

/** The next due row, and when to expect another. */
export const nextDue = (view: ClaimView): Part<NextDue> => {
  const part = one<PollRow>(workTimes, (sql) => pollDue(sql, view))
  const read = (json: unknown): NextDue => {
    const { wait, dueIn, loaded, ...work } = part.read(json)!
    const found = work.id === null ? undefined : (work as KeyedWork)
    const load = found && loadOf(view, found)
    return {
      work: found,
      loaded: load && loadedOf(load, loaded!),
      dueIn: dueIn ?? undefined,
      wait: wait ?? (dueIn === null ? undefined : LONGEST_NAP_MS),
    }
  }
  return { ...part, read }
}
