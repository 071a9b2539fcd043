/** Attempts to send, for all kinds of records. */
import { attemptRecord } from '#contract/records/growth/attempt'
import type { EngageAction } from '#domain/growth/drafting/engagement'
import { type Attempt, PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import type { SendableKind } from '#domain/growth/sending/sendable'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, type Part, sure } from '../engine/load.ts'
import type { RecordId } from '../engine/next-due.ts'
import { tableOf } from '../engine/records.ts'
import { connectionColumns, connectionTimes } from './connections.ts'

/** The record of an attempt. */
export type SendableRef = Pick<Attempt, 'sendable' | 'record_id'>

/** The same, where the record's id may also be an expression. */
export type RefOrExpression = Pick<SendableRef, 'sendable'> & { record_id: RecordId }

/**
 * The column that refers to the record, and the field that names it wherever attempts are listed.
 */
export const columnOf: Record<SendableKind, 'item_id' | 'engagement_id'> = {
  post: 'item_id',
  engagement: 'engagement_id',
}
export const tableOfSendable: Record<SendableKind, 'item' | 'engagement'> = {
  post: 'item',
  engagement: 'engagement',
}

const table = tableOf(attemptRecord)

const columns = (sql: Sql): Fragment =>
  sql`${table.columns(sql, 'a')}, coalesce(a.item_id, a.engagement_id) as record_id`

const isOf = (sql: Sql, { sendable, record_id }: RefOrExpression): Fragment =>
  sql`a.${sql(columnOf[sendable])} = ${record_id}`

/** Tests the column that the partial indexes are built on. */
const isOfKind = (sql: Sql, sendable: SendableKind): Fragment =>
  sql`a.${sql(columnOf[sendable])} is not null`

const isOpen = (sql: Sql): Fragment => sql`a.state in ('open', 'doubt', 'review')`

const openOf =
  (of: SendableRef): Query<Attempt> =>
  (sql) =>
    sql`select ${columns(sql)} from attempt a where ${isOf(sql, of)} and ${isOpen(sql)}`

/** The open attempt of a record; undefined if there is none. There is at most one. */
export const openAttemptPart = (of: SendableRef) => one<Attempt>(table.times, openOf(of))

export const openAttempt = async (sql: Sql, of: SendableRef): Promise<Attempt | undefined> =>
  (await openOf(of)(sql))[0]

export const attemptById = async (sql: Sql, id: string): Promise<Attempt | undefined> =>
  (await sql<Attempt>`select ${columns(sql)} from attempt a where a.id = ${id}`)[0]

/**
 * When the record's first attempt with an unknown result began, this one included. Posts made since
 * then may come from any such attempt.
 */
export const doubtfulSince = async (
  sql: Sql,
  { intent_at, ...of }: SendableRef & Pick<Attempt, 'intent_at'>,
): Promise<Date> =>
  (
    await sql<{ since: Date }>`select least(min(a.intent_at), ${intent_at}) as since from attempt a
      where ${isOf(sql, of)} and a.state in ('open', 'doubt', 'review', 'superseded', 'returned')`
  )[0]!.since

/** A record's tries so far. */
export interface Tries {
  count: number
  /**
   * Ended attempts that may still turn out to have been sent: superseded at a person's request, or
   * returned.
   */
  doubted: number
}

/** Always a row. */
export const triesSoFar = (of: RefOrExpression): Part<Tries | undefined> =>
  one<Tries>(
    {},
    (sql) => sql`select coalesce(max(a.number), 0)::int as count,
      (count(*) filter (where a.state in ('superseded', 'returned')))::int as doubted from attempt a
        where ${isOf(sql, of)}`,
  )

/** Whether any attempt of a record may have reached the network, other than the open one. */
export const wasSent = (of: SendableRef): Part<boolean> =>
  mapPart(
    sure(
      one<{ sent: boolean }>(
        {},
        (sql) =>
          sql`select exists (select from attempt a where ${isOf(sql, of)}
            and a.state not in ('open', 'failed', 'unsent')) as sent`,
      ),
    ),
    ({ sent }) => sent,
  )

/** An account that can send, with what its earlier sends leave to be checked. */
export interface SendingAccount extends Connection {
  /** Whether a post of the account is open, or in doubt. */
  has_open_posts: boolean
}

/**
 * The connected account that a record is bound to, or the default account. Posts of the item
 * `except` do not count as open.
 */
export const accountOfRecord = (
  { sendable, record_id }: RefOrExpression,
  except: string | null = null,
): Part<SendingAccount | undefined> =>
  one<SendingAccount>(
    connectionTimes,
    (sql) => sql`with bound as materialized (select r.account_external_id as id
      from ${sql(tableOfSendable[sendable])} r where r.id = ${record_id})
      select ${connectionColumns(sql)}, exists (select from attempt a
        where a.connection_id = connection.id and ${isOfKind(sql, 'post')} and ${isOpen(sql)}
          and a.item_id is distinct from ${except}::uuid) as has_open_posts
      from connection where status = 'connected'
        and case when (select id from bound) is null then is_default
          else external_id = (select id from bound) end limit 1`,
  )

/**
 * The attempt that was returned because the network provably had not made it, if that happened
 * since `since`; or the one that another deployment may have made, whenever that was.
 */
export const returnedAttempt = async (
  sql: Sql,
  of: SendableRef,
  since: Date,
): Promise<Attempt | undefined> =>
  (
    await sql<Attempt>`select ${columns(sql)} from attempt a where ${isOf(sql, of)}
      and a.state = 'returned' and (a.ended_at > ${since} or a.doubt_cause = 'restored')
      order by a.number desc limit 1`
  )[0]

/**
 * The account's posts that may have been made since `since` and that belong to records of the
 * attempt's kind.
 */
export const ownedSince = async (
  sql: Sql,
  { sendable, connection_id }: Pick<Attempt, 'sendable' | 'connection_id'>,
  since: Date,
): Promise<string[]> =>
  (
    await sql<{ external_id: string }>`select a.external_id from attempt a
      where a.connection_id = ${connection_id} and ${isOfKind(sql, sendable)}
        and a.external_id is not null and a.ended_at >= ${since}
      ${sendable === 'post' ? madeByHandSince(sql, connection_id, since) : sql``}`
  ).map(({ external_id }) => external_id)

/**
 * The same posts that `postedByHand` selects. They must count in both, or a read could neither find
 * a post nor rule it out.
 */
const madeByHandSince = (sql: Sql, connectionId: string, since: Date): Fragment => sql`
      union select i.external_id from connection c join item i on i.account_external_id =
        c.external_id
        where c.id = ${connectionId} and i.external_id is not null and i.posted_at >= ${since}`

/** Whether another item of the account is in doubt with the same text. */
export const sameTextOpen = async (
  sql: Sql,
  connectionId: string,
  bodySha: string,
): Promise<boolean> =>
  (
    await sql`select 1 from attempt a
      where a.connection_id = ${connectionId} and a.body_sha = ${bodySha}
        and ${isOfKind(sql, 'post')} and ${isOpen(sql)}`
  ).length > 0

/**
 * Attempts that may own an unnamed post: open ones, and ones without a known post that a person
 * settled or superseded within the last day.
 */
const mayOwn = (sql: Sql): Fragment =>
  sql`(${isOpen(sql)} or (a.state in ('posted', 'superseded') and a.external_id is null
    and a.ended_at > now() - interval '1 day'))`

/** Attempts of an account that may own an unnamed post. */
export const unnamedAttempts =
  (connectionId: string): Query<Attempt> =>
  (sql) =>
    sql`select ${columns(sql)} from attempt a where a.connection_id = ${connectionId}
      and ${isOfKind(sql, 'post')} and ${mayOwn(sql)}`

interface Answered {
  connectionId: string
  network: string
  postId: string
  action: EngageAction
}

/** Attempts of an account on the same post that may own an unnamed answer. */
export const unnamedAnswers =
  ({ connectionId, network, postId, action }: Answered): Query<Attempt> =>
  (sql) =>
    sql`select ${columns(sql)} from attempt a join engagement e on e.id = a.engagement_id
        where a.connection_id = ${connectionId} and e.network = ${network} and e.post_id = ${postId}
          and e.action = ${action} and ${mayOwn(sql)}`

/** Which of these posts already belong to records of the kind. */
export const takenPosts =
  ({
    sendable,
    connectionId,
    externalIds,
  }: {
    sendable: SendableKind
    connectionId: string
    externalIds: string[]
  }): Query<{ external_id: string }> =>
  (sql) =>
    sql`select a.external_id from attempt a
        where a.connection_id = ${connectionId} and ${isOfKind(sql, sendable)}
          and a.external_id = any(${externalIds})
      ${sendable === 'post' ? postedByHand(sql, connectionId, externalIds) : sql``}`

/** Posts that people made themselves, which were read back by their URLs. */
const postedByHand = (sql: Sql, connectionId: string, externalIds: string[]): Fragment => sql`
      union select i.external_id from connection c join item i on i.account_external_id =
        c.external_id
        where c.id = ${connectionId} and i.external_id = any(${externalIds})`

/**
 * Names the post of an item that a person settled. The item's last attempt then owns the post,
 * unless it is known to own another one.
 */
export const namePost =
  ({
    itemId,
    connectionId,
    externalId,
  }: {
    itemId: string
    connectionId: string
    externalId: string
  }): Query =>
  (sql) =>
    sql`update attempt set external_id = ${externalId} where connection_id = ${connectionId}
      and id = (select a.id from attempt a
      where a.item_id = ${itemId} and a.state = 'posted' and a.external_id is null
        order by a.number desc limit 1)`

/**
 * Attempts that may be on the wire: those of this process, and those of a dead one whose lease has
 * not ended. A dead process may send until then, even if the attempt was put in doubt here, or
 * settled by a person without a known post.
 */
export const attemptsInFlight = many<Attempt>(
  table.times,
  (sql) => sql`select ${columns(sql)} from attempt a
    where a.state = 'open' or (a.external_id is null and a.lease_until > clock_timestamp()
      and a.error = ${PROCESS_STOPPED})
    order by a.intent_at limit 100`,
)

export const insertAttempt = (attempt: Attempt): Query =>
  table.insert(attempt, { [columnOf[attempt.sendable]]: attempt.record_id })

export const { save: saveAttempt } = table
