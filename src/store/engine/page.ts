/** Pages of lists. Each statement reads one row more than `limit`, which shows that there is a next page. */

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
