/** How many items have the words that a list asks for, and whether an item has them. */
import type { ItemStatus } from '#domain/growth/drafting/item'
import type { Fragment, Sql } from '../engine/db.ts'
import { many } from '../engine/load.ts'

/** Where the words of an item are stored, by its state. `open`: any state but the other two. */
export type Shelf = 'open' | 'posted' | 'rejected'
export const allShelves: readonly Shelf[] = ['open', 'posted', 'rejected']

export const shelfOf = (status: ItemStatus | 'scheduled'): Shelf =>
  status === 'posted' || status === 'rejected' ? status : 'open'

/** For one shelf: the words, with the rarest first, and whether that one is rare. */
interface Sought {
  asked: readonly [string, ...string[]]
  isRare: boolean
}
export type SoughtWords = Partial<Record<Shelf, Sought>>

/**
 * A word that more items of a shelf have is common. If a word has fewer items and no index has them
 * in the order of the list, they are all read and sorted.
 */
export const COMMON = 2_000

export interface WordCount {
  shelf: Shelf
  word: string
  items: number
}

/**
 * How many items on each shelf have each word, counted up to `COMMON`; the rarest first. While
 * words of posted items are still to be moved to their shelf, each word counts once more there.
 */
export const wordCounts = (words: readonly string[], shelves: readonly Shelf[]) =>
  many<WordCount>(
    {},
    (sql) => sql`select s.shelf, a.word,
        (select count(*)::int from (select 1 from item_word w where w.word = a.word
          and w.shelf = s.shelf limit ${COMMON}) r)
          + (s.shelf = 'posted' and exists (select from item_word_move))::int as items
      from unnest(${words}::text[]) a(word) cross join unnest(${shelves}::text[]) s(shelf)
        order by items, a.word`,
  )

/**
 * Where to look for the words: nowhere if each shelf lacks one of them, and otherwise on every
 * shelf. A shelf that lacks a word is included, because an item may have come onto it after the
 * count.
 */
export const soughtWords = (counted: readonly WordCount[]): SoughtWords => {
  const sought: SoughtWords = {}
  if (!allShelves.some((shelf) => (counted.find((one) => one.shelf === shelf)?.items ?? 0) > 0))
    return sought
  for (const shelf of allShelves) {
    const [rarest, ...others] = counted.filter((one) => one.shelf === shelf)
    if (rarest)
      sought[shelf] = {
        asked: [rarest.word, ...others.map(({ word }) => word)],
        isRare: rarest.items < COMMON,
      }
  }
  return sought
}

/**
 * Postgres never turns a subquery for one value into a join. A join could begin with all items that
 * have a word.
 */
export const havingWords = (
  sql: Sql,
  words: readonly string[],
  { id, shelf }: { id: Fragment; shelf: Fragment },
): Fragment =>
  words.reduce(
    (before, word) =>
      sql`${before} and (select true from item_word h where h.word = ${word} and h.shelf = ${shelf}
        and h.item_id = ${id} limit 1)`,
    sql``,
  )
