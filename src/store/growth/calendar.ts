/** What goes out when: what a cadence finds its slots taken by. */
import type { Item } from '#domain/growth/drafting/item'
import type { Fragment, Query } from '../engine/db.ts'

export interface CalendarEntry {
  item_id: string
  kind: Item['kind']
  at: Date
  /** It is to go out, or on its way; else it went out then. */
  ahead: boolean
}

/**
 * What is scheduled, on its way or perhaps out, and what has been posted since `since`. Times of what is on its way are those of its
 * claim: the slot that it had is past.
 */
export const calendarSince =
  (since: Date | Fragment): Query =>
  (sql) =>
    sql`select id as item_id, kind, coalesce(post_at, updated_at) as at, true as ahead from item
        where status in ('publishing', 'publish_unconfirmed') or (status = 'approved' and post_at is not null)
      union all
      select id, kind, posted_at, false from item where status = 'posted' and posted_at >= ${since}`
