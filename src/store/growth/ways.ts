/** The history of a record that is sent: its versions, decisions and attempts, each bounded. */
import type { DoubtCause } from '#domain/growth/drafting/item'
import type { AttemptState, DoubtRead } from '#domain/growth/sending/attempt'
import type { Origin } from '#domain/growth/sending/sendable'
import { allowedBy } from '../app/audit.ts'
import type { NamedAuthor } from '../app/names.ts'
import { authorName } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { columnOf, type SendableRef, tableOfSendable } from './attempts.ts'
import { pausedNow } from './automation.ts'

interface VersionRow {
  number: number
  by: NamedAuthor | null
  at: Date
  content_hash: string | null
}

interface DeedRow {
  operation: string
  by: NamedAuthor
  allowed_by: NamedAuthor | null
  at: Date
  surface: string
}

export interface TryRow {
  number: number
  state: AttemptState
  origin: Origin
  account: { id: string; handle: string; network: string }
  content_hash: string | null
  began_at: Date
  ended_at: Date | null
  error: string | null
  external_id: string | null
  in_doubt_since: Date | null
  cause: DoubtCause | null
  reads: DoubtRead[]
  next_read_at: Date | null
}

/** How many of each kind of entry are shown. The newest are taken. */
const MOST = 50

const hashOf = (sql: Sql, text: Fragment): Fragment =>
  sql`encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`

const nameAuthor = (sql: Sql, author: Fragment): Fragment =>
  sql`${author} || jsonb_build_object('name', ${authorName(sql, author)})`

const versionsOf = ({ sendable, record_id }: SendableRef) =>
  many<VersionRow>(
    { at: true },
    (sql) => sql`select v.number, ${nameAuthor(sql, sql`v.written_by`)} as by, v.at,
      ${hashOf(sql, sql`v.body`)} as content_hash
      from (select revision as number, written_by, coalesce(written_at, created_at) as at, body
          from ${sql(tableOfSendable[sendable])} where id = ${record_id}
        union all (select number, written_by, written_at, body from revision
          where record_id = ${record_id} order by number desc limit ${MOST})
        ) v order by v.number desc limit ${MOST}`,
  )

/** What people, keys and agents did. The attempts tell what lanes did. */
const deedsOf = ({ record_id }: SendableRef) =>
  many<DeedRow>(
    { at: true },
    (sql) => sql`select d.operation, ${nameAuthor(sql, sql`d.who`)} as by,
        ${nameAuthor(sql, sql`d.allowed_by`)} as allowed_by, d.at, d.surface
      from (select operation, jsonb_build_object('kind', actor_kind, 'id', actor_id) as who,
        ${allowedBy(sql)} as allowed_by, at, surface, id from audit
        where ref_id = ${record_id} and actor_kind <> 'system' order by id desc limit ${MOST}) d
          order by d.id desc`,
  )

/**
 * Only the open attempt is read for, or the newest returned one. While all automation is paused,
 * only manual reads take place.
 */
const triesOf = ({ sendable, record_id }: SendableRef) =>
  many<TryRow>(
    { began_at: true, ended_at: true, in_doubt_since: true, next_read_at: true },
    (
      sql,
    ) => sql`select a.number, a.state, a.origin, jsonb_build_object('id', c.id, 'handle', c.handle,
      'network', c.network) as account,
        ${hashOf(sql, sql`a.sent_text`)} as content_hash, a.intent_at as began_at, a.ended_at,
          a.error, a.external_id,
        a.doubt_at as in_doubt_since, a.doubt_cause as cause, a.reads,
        case when a.state in ('doubt', 'review', 'returned')
          then (select greatest(w.run_at, now()) from work w where w.kind = 'reconcile' and w.ref_id = ${record_id}
            and (w.origin = 'manual' or not ${pausedNow(sql)})) end as next_read_at
      from attempt a join connection c on c.id = a.connection_id
        where a.${sql(columnOf[sendable])} = ${record_id}
      order by a.number desc limit ${MOST}`,
  )

/** Parts of the statement that reads a record by itself. */
export const wayParts = (of: SendableRef) => ({
  versions: versionsOf(of),
  decisions: deedsOf(of),
  attempts: triesOf(of),
})
