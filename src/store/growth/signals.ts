import { signalRecord } from '#contract/records/growth/signal'
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Signal, SignalStatus } from '#domain/growth/learning/signal'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'
import { inPeriod, type Period, type RankedPage } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { writing } from '../engine/sql.ts'

const table = tableOf(signalRecord)
const { columns } = table

/** When closed signals are deleted. */
const KEPT_DAYS = 30

interface SignalFilters extends Period {
  status?: SignalStatus | undefined
  /** The id of a target. */
  target?: string | undefined
}

/**
 * Best first, and newest first among equals. Returns one more than the limit. An open signal whose
 * time is over does not count as open.
 */
export const listSignals =
  ({
    status = 'open',
    target,
    limit,
    after,
    ...period
  }: RankedPage & SignalFilters): Query<Signal> =>
  (sql) =>
    sql`select ${columns(sql)} from signal where ${inState(sql, status)}
      ${target ? sql`and target_id = ${target}` : sql``}
        ${inPeriod(sql, sql`posted_at`, period)}
        ${after ? sql`and (score, id) < (${after.score}::integer, ${after.id}::uuid)` : sql``}
          order by score desc, id desc limit ${limit + 1}`

const inState = (sql: Sql, status: SignalStatus): Fragment => {
  if (status === 'open') return sql`status = 'open' and expires_at > now()`
  return status === 'expired'
    ? sql`(status = 'expired' or (status = 'open' and expires_at <= now()))`
    : sql`status = ${status}`
}

/**
 * `is_over`: whether the signal is open but its time is over, in which case it counts as expired.
 */
export const signalById =
  (id: string): Query<Signal & { is_over: boolean }> =>
  (sql) =>
    sql`select ${columns(sql)}, (status = 'open' and expires_at <= now()) as is_over from signal
      where id = ${id}`

export const signalPart = (id: string) =>
  one<Signal>(table.times, (sql) => sql`select ${columns(sql)} from signal where id = ${id}`)

/** Which of these posts already have a signal, in any state. */
export const knownSignals = async (
  sql: Sql,
  { network, postIds }: { network: string; postIds: string[] },
): Promise<Set<string>> => {
  const rows = await sql<{
    post_id: string
  }>`select post_id from signal where network = ${network} and post_id = any(${postIds})`
  return new Set(rows.map(({ post_id }) => post_id))
}

/** The scores of open signals, whose number is bounded. */
export const openScores = async (sql: Sql): Promise<Pick<Signal, 'id' | 'score'>[]> =>
  await sql<
    Pick<Signal, 'id' | 'score'>
  >`select id, score from signal where status = 'open' and expires_at > now()`

/** How many open signals each author has by addressing us. */
export const openByAuthor = async (
  sql: Sql,
  { network, authors }: { network: string; authors: string[] },
): Promise<Map<string, number>> => {
  const rows = await sql<{
    post_author: string
    open: number
  }>`select post_author, count(*)::int as open from signal
    where status = 'open' and expires_at > now() and target_id is null and network = ${network}
      and post_author = any(${authors}) group by post_author`
  return new Map(rows.map(({ post_author, open }) => [post_author, open]))
}

export const { insert: insertSignal, save: saveSignal } = table

type Answered = Pick<Engagement, 'id' | 'signal_id' | 'updated_at'>

/** Changes the signal of an engagement, if it has one. */
const ofSignal = ({ signal_id: id }: Answered, change: (sql: Sql) => Fragment): Query[] =>
  id === null ? [] : [writing({ table: 'signal', rows: [{ id }] }, change)]

/** Reopens the signal of a failed draft or of a deleted engagement, unless its time is over. */
export const reopenSignal = (engagement: Answered): Query[] =>
  ofSignal(engagement, (sql) => {
    const { id, signal_id, updated_at } = engagement
    return sql`update signal set status = 'open', engagement_id = null, updated_at = ${updated_at}
      where id = ${signal_id} and status = 'engaged' and engagement_id = ${id}`
  })

/** Closes the signal again, for an engagement that was restored. */
export const engageAgain = (engagement: Answered): Query[] =>
  ofSignal(engagement, (sql) => {
    const { id, signal_id, updated_at } = engagement
    return sql`update signal set status = 'engaged', engagement_id = ${id}, updated_at = ${updated_at}
      where id = ${signal_id} and status = 'open'`
  })

/** Expires signals whose time is over, and those beyond the maximum. */
export const expireSignals = (tooMany: string[], now: Date): Query =>
  writing(
    { table: 'signal', rows: 'some' },
    (sql) =>
      sql`update signal set status = 'expired', updated_at = ${now}
        where status = 'open' and (expires_at <= ${now} or id = any(${tooMany}::uuid[]))`,
  )

/** Deletes some signals that closed long ago. */
export const forgetSignals =
  (now: Date): Query =>
  (sql) =>
    sql`delete from signal where id in (select id from signal
      where status in ('dismissed', 'expired')
      and updated_at < ${now}::timestamptz - ${KEPT_DAYS} * interval '1 day' order by updated_at
        limit 100)`
