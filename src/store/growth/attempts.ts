import { type Attempt, PROCESS_STOPPED } from '#domain/growth/sending/publish'
import type { Fragment, Query, Sql } from '../engine/db.ts'

const columns = (
  sql: Sql,
): Fragment => sql`id, item_id, number, connection_id, body_sha, sent_text, origin, state, intent_at, lease_until, doubt_at, doubt_cause,
  returns_from, clean_reads, proof_reads, external_id, error, ended_at`

/** The attempt of an item whose fate is open, or undefined. At most one exists. */
export const openAttempt = async (sql: Sql, itemId: string): Promise<Attempt | undefined> =>
  (await sql`select ${columns(sql)} from attempt where item_id = ${itemId} and state in ('open', 'doubt', 'review')`)[0] as
    | Attempt
    | undefined

export const attemptById = async (sql: Sql, id: string): Promise<Attempt | undefined> =>
  (await sql`select ${columns(sql)} from attempt where id = ${id}`)[0] as Attempt | undefined

/** When the first of an item's attempts began whose fate is not known: what the timeline shows since then may be any one's of them. */
export const doubtfulSince = async (sql: Sql, itemId: string): Promise<Date> =>
  (
    await sql<{ since: Date }[]>`select min(intent_at) as since from attempt
      where item_id = ${itemId} and state in ('open', 'doubt', 'review', 'superseded', 'returned')`
  )[0]!.since

/** The tries of an item so far. */
export interface Tries {
  count: number
  /** Attempts that have ended and may yet turn out to have posted it: a person had it posted again, or it was returned. */
  doubted: number
}

export const triesSoFar = async (sql: Sql, itemId: string): Promise<Tries> =>
  (
    await sql<Tries[]>`select coalesce(max(number), 0)::int as count,
      (count(*) filter (where state in ('superseded', 'returned')))::int as doubted from attempt where item_id = ${itemId}`
  )[0]!

/** The attempt that the network provably had not made, if it was returned since then. There is one at most of an item. */
export const returnedAttempt = async (sql: Sql, itemId: string, since: Date): Promise<Attempt | undefined> =>
  (await sql`select ${columns(sql)} from attempt where item_id = ${itemId} and state = 'returned' and ended_at > ${since}`)[0] as
    | Attempt
    | undefined

/** The account's posts that items own and that may have been made since then. */
export const ownedSince = async (sql: Sql, connectionId: string, since: Date): Promise<string[]> =>
  (
    await sql<{ external_id: string }[]>`select external_id from attempt
      where connection_id = ${connectionId} and external_id is not null and ended_at >= ${since}`
  ).map(({ external_id }) => external_id)

/** Does another item of the account stand in doubt with the same text? */
export const sameTextOpen = async (sql: Sql, connectionId: string, bodySha: string): Promise<boolean> =>
  (
    await sql`select 1 from attempt where connection_id = ${connectionId} and body_sha = ${bodySha} and state in ('open', 'doubt', 'review')`
  ).length > 0

/**
 * Attempts of an account that may own a post nobody has named: those whose fate is open, and those that a
 * person settled or had superseded within a day, whose post is not known.
 */
export const unnamedAttempts =
  (connectionId: string): Query =>
  (sql) =>
    sql`select ${columns(sql)} from attempt where connection_id = ${connectionId} and (state in ('open', 'doubt', 'review')
      or (state in ('posted', 'superseded') and external_id is null and ended_at > now() - interval '1 day'))`

/** Which of these posts belong to items already. */
export const takenPosts =
  (connectionId: string, externalIds: string[]): Query =>
  (sql) =>
    sql`select external_id from attempt where connection_id = ${connectionId} and external_id = any(${externalIds})`

/** One of the two is not null: a post, or an engagement. */
export interface InFlight {
  item_id: string | null
  engagement_id: string | null
  origin: 'manual' | 'automatic'
  intent_at: Date
}

/**
 * Attempts that may be on the wire, of posts and of engagements: of this process, or of one that is gone but whose lease has not
 * ended. That one may send until then whatever became of the attempt here: in doubt, or settled by a person, whose post has no name.
 */
export const attemptsInFlight = async (sql: Sql): Promise<InFlight[]> => {
  const onTheWire = sql`state = 'open' or (external_id is null and lease_until > clock_timestamp() and error = ${PROCESS_STOPPED})`
  return (await sql`select item_id, null::uuid as engagement_id, origin, intent_at from attempt where ${onTheWire}
    union all select null, engagement_id, origin, intent_at from engagement_attempt where ${onTheWire}
    order by intent_at limit 100`) as never
}

export const insertAttempt =
  (attempt: Attempt): Query =>
  (sql) =>
    sql`insert into attempt ${sql({ ...attempt } as never)}`

export const saveAttempt =
  ({ id, ...attempt }: Attempt): Query =>
  (sql) =>
    sql`update attempt set state = ${attempt.state}, doubt_at = ${attempt.doubt_at}, doubt_cause = ${attempt.doubt_cause},
      returns_from = ${attempt.returns_from}, clean_reads = ${attempt.clean_reads}, proof_reads = ${attempt.proof_reads}, external_id = ${attempt.external_id}, error = ${attempt.error}, ended_at = ${attempt.ended_at} where id = ${id}`
