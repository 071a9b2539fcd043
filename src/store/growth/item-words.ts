/** The words of items, by which lists find them. */
import type { Query } from '../engine/db.ts'

/** Adds those that an item does not have yet. */
export const insertWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`insert into item_word (word, item_id) select w, ${itemId} from unnest(${words}::text[]) w on conflict do nothing`

/** Deletes all but these. */
export const keepWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`delete from item_word where item_id = ${itemId} and word <> all(${words}::text[])`
