/**
 * The poll for due work: the next row that may be claimed, what its claim loads, and when another
 * poll is worth it.
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
   * When, and whether only manual rows are claimed; or both as in the gate's own statement, of
   * which the poll is then a part.
   */
  at: { now: Date; paused: boolean } | 'gate'
  /** Running work: its keys are taken, and so are kinds of which the most rows run. */
  running: Pick<KeyedWork, 'id' | 'kind' | 'origin' | 'concurrency_key' | 'place' | 'asker'>[]
  /** Ids of rows to leave out for now. */
  excluded: string[]
  /**
   * While more than one row is due: all groups, the one whose turn it is first. One with nothing to
   * claim gives its turn to the next.
   */
  rotation?: readonly WorkLane[] | undefined
  /** What else is read of the row, if it is one of these. */
  loads?: ClaimLoad[]
  /** The record of a row that the poll's own transaction settles. */
  settling?: string | null
}

/** The records that the claim of some rows needs, read by the poll that finds one. */
export interface ClaimLoad {
  kind: WorkKind
  /** Fields of the payload of such rows. */
  payload: Record<string, unknown>
  /**
   * `refId`: the record of the row. `settling`: the record of a row that this transaction settles,
   * if any.
   */
  of(refId: RecordId, settling: string | null): Load
}

/** The id of a record, or an expression for it inside a larger statement. */
export type RecordId = string | Fragment

/** What a poll for due work found. */
export interface NextDue {
  /** The first due row that nothing running blocks. */
  work: KeyedWork | undefined
  /** What was loaded with it. Undefined if no load is for such a row. */
  loaded: Record<string, unknown> | undefined
  /**
   * Milliseconds until a poll for another row is worth it while all this runs; undefined when there
   * is none to come.
   */
  wait: number | undefined
  /**
   * Milliseconds until another row is due, whatever runs: until then no poll finds one, except one
   * added or freed by a later letter.
   */
  dueIn: number | undefined
}

/**
 * A due time further away is looked at again by then: clocks drift, and a wake-up must not be
 * missed. So what falls due later counts whatever runs now, and a poll passes none of what waits
 * for that.
 */
export const LONGEST_NAP_MS = 60_000

/** Rows due later are for a later letter, whose gate knows of changes until then. */
const pollTime = (sql: Sql, { at }: ClaimView): Fragment =>
  sql`poll as materialized (select
    ${at === 'gate' ? sql`clock_timestamp()` : sql`${at.now}::timestamptz`} as now)`
const now = (sql: Sql): Fragment => sql`(select now from poll)`
/** The row `a` of table `actor` is the gate's. */
const unlessPaused = (sql: Sql, { at }: ClaimView): Fragment =>
  at === 'gate' ? sql`and not a.paused` : sql`and not ${at.paused}::boolean`

const isAwaited = (sql: Sql, { kinds }: ClaimView): Fragment =>
  sql`w.kind = any(${[...kinds.awaited]}::text[])`

/** Evaluated once for each statement, and only if it meets a row without a key. */
const claimedNow = (sql: Sql, { kinds }: ClaimView): Fragment =>
  sql`claimed_now as materialized (select ${kinds.keyWhenClaimed(sql)} as key)`
const resolvedKey = (sql: Sql): Fragment =>
  sql`coalesce(w.concurrency_key, (select key from claimed_now))`

/** The row waits for none of these places and shares. */
const waitsForNone = (sql: Sql, places: string[]): Fragment =>
  sql`(w.payload->${WAITS}::text ?| ${places}::text[]) is not true`

type Blocked = (sql: Sql, origin: Work['origin']) => Fragment

/** What runs is in the way. */
const byRunning =
  (view: ClaimView): Blocked =>
  (sql, origin) =>
    sql`and w.id <> all(${view.running.map(({ id }) => id)}::uuid[])
    and ${resolvedKey(sql)} <> all(${view.running.map(({ concurrency_key }) => concurrency_key)}::text[])
    and ${waitsForNone(sql, [...placesWith(view, origin, 0), ...sharesTaken(view, origin)])}`

/** And so is the row \`found\`, once it runs too. */
const byFoundToo =
  (view: ClaimView): Blocked =>
  (sql, origin) =>
    sql`${byRunning(view)(sql, origin)} and w.id is distinct from (select id from found)
    and ${resolvedKey(sql)} is distinct from (select concurrency_key from found)
    and (${waitsForNone(sql, placesWith(view, origin, 1))}
      or w.kind is distinct from (select kind from found where origin = ${origin}))`

const byNothing: Blocked = (sql) => sql`and w.id is distinct from (select id from found)`

/** How long people's rows go before those that nobody waits for, if both are due. */
const AGED_MS = 5_000

interface Search {
  lane?: Fragment
  select: Fragment
  due: Fragment
  blocked: Blocked
}

/** The first row of an origin that meets the condition and may run, in the order of the index. */
const firstRow = (
  sql: Sql,
  view: ClaimView,
  { origin, lane, select, due, blocked }: Search & { origin: Work['origin'] },
): Fragment =>
  sql`(select ${select} from work w where w.state = 'queued'
    and w.origin = ${origin} ${lane ? sql`and w.lane = ${lane}` : sql``} ${due}
    and w.id <> all(${view.excluded}::uuid[]) ${blocked(sql, origin)} order by w.run_at, w.id
      limit 1)`

const firstAutomatic = (sql: Sql, view: ClaimView, search: Search): Fragment =>
  firstRow(sql, view, {
    ...search,
    origin: 'automatic',
    due: sql`and ${search.due} ${unlessPaused(sql, view)}`,
  })

/**
 * The first manual row, due by the clock or awaited, which differ only if the clock has stepped
 * back; and the first automatic one, unless held.
 */
const firsts = (sql: Sql, view: ClaimView, search: Search): Fragment => sql`
  ${firstRow(sql, view, {
    ...search,
    origin: 'manual',
    due: sql`and (${search.due}
    or ${isAwaited(sql, view)})`,
  })}
  union all ${firstAutomatic(sql, view, search)}`

/** The first rows whatever blocks them; a manual one that is awaited may not be the first. */
const firstsOfAll = (sql: Sql, view: ClaimView, search: Search): Fragment => sql`
  ${firstRow(sql, view, { ...search, origin: 'manual', due: sql`` })}
  union all ${firstRow(sql, view, { ...search, origin: 'manual', due: sql`and ${isAwaited(sql, view)}` })}
  union all ${firstAutomatic(sql, view, search)}`

/** Milliseconds until `w` is due; manual rows of awaited kinds are, whatever the clock says. */
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
 * By due time; of two rows that are due, one that people have asked for goes first unless the other
 * has been due for longer by `AGED_MS`.
 */
const inOrder = (sql: Sql): Fragment =>
  sql`order by run_at + case origin when 'manual' then 0
    else ${AGED_MS}::float8 end * interval '1 millisecond', id`

/** The row to claim, as `found`: of the first group that has one, if they take turns. */
const foundBy = (sql: Sql, view: ClaimView, search: Search): Fragment => {
  const one = (of: Search) =>
    sql`select * from (${firsts(sql, view, of)}) due ${inOrder(sql)} limit 1`
  if (!view.rotation) return sql`found as materialized (${one(search)})`
  // Ordinality is known to be in order, so the search ends with the first group that has a row.
  return sql`found as materialized (select due.* from unnest(${[...view.rotation]}::text[]) with
    ordinality turn (lane, nth)
    cross join lateral (${one({ ...search, lane: sql`turn.lane` })}) due order by turn.nth limit 1)`
}

/** One row: the work, all null without any, and both times. */
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

/** The load that is for this row. */
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

/** The next due row, and when there is another one. */
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
