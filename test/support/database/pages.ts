/** Pages of lists, for queries that are read as plans. */
import type { Query } from '#store/engine/db'

/** Sorts behind every id: the page after it is the first. */
export const END = 'ffffffff-ffff-7fff-bfff-ffffffffffff'
export const page = { limit: 10 }
export const ever = { from: new Date(0), to: new Date(Date.UTC(9999, 0)) }

/** A list from its beginning, from behind it, and with each of these filters. */
export const paged = <F extends { limit: number }>(
  list: (filter: F) => Query,
  ...filters: Partial<F>[]
): Query[] => [{}, { after: END }, ...filters].map((filter) => list({ ...page, ...filter } as F))
