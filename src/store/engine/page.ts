/** What a list reads at a time. Each statement fetches one row beyond `limit`: that one says there is a next page. */

export interface Page {
  limit: number
  /** The id after which the page begins; ids are in order of creation. */
  after?: string | undefined
}

/** A page of rows in the order of their score. */
export interface RankedPage {
  limit: number
  after?: { id: string; score: number } | undefined
}
