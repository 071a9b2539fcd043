/**
 * Pages of lists. Each statement reads one row more than `limit`, which shows whether there is a
 * next page.
 */
import type { Fragment, Sql } from './db.ts'

export interface Page {
  limit: number
  /** The page begins after this id. Ids are in order of creation. */
  after?: string | undefined
}

/** A page ordered by score. */
export interface RankedPage {
  limit: number
  after?: { id: string; score: number } | undefined
}

/** A period of time. Either end may be open. */
export interface Period {
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

/** The period as a further condition of a query. */
export const inPeriod = (sql: Sql, time: Fragment, { from, to }: Period): Fragment =>
  sql`${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}`
