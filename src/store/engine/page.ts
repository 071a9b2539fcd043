/**
 * Pages of lists. Each statement reads one row more than `limit`, which shows that there is a next
 * page.
 */
import type { Fragment, Sql } from './db.ts'

export interface Page {
  limit: number
  /** The page begins after this id; ids are in order of creation. */
  after?: string | undefined
}

/** A page ordered by score. */
export interface RankedPage {
  limit: number
  after?: { id: string; score: number } | undefined
}

/** Records of a time; either end may be open. */
export interface Period {
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
}

/** As a further condition. */
export const inPeriod = (sql: Sql, time: Fragment, { from, to }: Period): Fragment =>
  sql`${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}`
