/** Earlier texts of items and engagements. The present text is in the record itself. */
import { revisionRecord } from '#contract/records/growth/revision'
import { MOST_REVISIONS, type Revision } from '#domain/growth/drafting/revision'
import { type NamedAuthor, namedAuthor } from '../app/names.ts'
import type { Query } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { type SendableRef, tableOfSendable } from './attempts.ts'

const { insert, times } = tableOf(revisionRecord)

/**
 * Keeps a text that has been replaced. If there are too many texts, drops the oldest ones other
 * than the first.
 */
export const keepRevision = (revision: Revision): Query[] => {
  const last = revision.number + 1 - (MOST_REVISIONS - 1)
  if (last < 2) return [insert(revision)]
  return [
    insert(revision),
    (sql) =>
      sql`delete from revision where record_id = ${revision.record_id}
        and number between 2 and ${last}`,
  ]
}

/** A version of a text, which may also be the present one. */
interface Version<Body> extends Omit<Revision, 'record_id' | 'body' | 'written_by'> {
  body: Body
  written_by: NamedAuthor | null
}

/**
 * Oldest first. Returns one more than the limit, so that the caller sees whether there is a next
 * page.
 */
const textsOf =
  <Row>({ sendable, record_id }: SendableRef, { limit, after = 0 }: NumberedPage): Query<Row> =>
  (sql) =>
    sql`select number, title, body, ${namedAuthor(sql, sql`written_by`)} as written_by, written_at
      from (
        select number, title, body, written_by, written_at from revision
          where record_id = ${record_id}
        union all
        select revision, ${sendable === 'post' ? sql`title` : sql`null`}, body, written_by,
          coalesce(written_at, created_at)
          from ${sql(tableOfSendable[sendable])} where id = ${record_id} and status <> 'deleted') version
      where number > ${after} order by number limit ${limit + 1}`

interface NumberedPage {
  limit: number
  after?: number
}

export const revisionsOfItem = (id: string, page: NumberedPage) =>
  many<Version<string>>(times, textsOf({ sendable: 'post', record_id: id }, page))

/** Entries may have no text: for reposts, likes, and versions from before there was a draft. */
export const revisionsOfEngagement = (id: string, page: NumberedPage) =>
  many<Version<string | null>>(times, textsOf({ sendable: 'engagement', record_id: id }, page))
