/**
 * The words of items, by which lists find them. As an item changes its state, a trigger moves its
 * words to the shelf of the new one.
 */
import type { Query } from '../engine/db.ts'

/**
 * Adds those that an item does not have yet, to the shelf where it stood before this statement: a
 * trigger moves them with the others if the statement changes that. A new item has no row yet, and
 * is open; so are the words of a deleted one.
 */
export const insertItemWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`insert into item_word (word, item_id, shelf, at)
      select w, ${itemId}, coalesce(i.status, 'open'), i.at from unnest(${words}::text[]) w
      left join (select s.status, s.at from item s where s.id = ${itemId}
        and s.status in ('posted', 'rejected')) i on true
      where w not in (select h.word from item_word h where h.item_id = ${itemId}) on conflict
        do nothing`

/** Deletes all but these. */
export const keepWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`delete from item_word where item_id = ${itemId} and word <> all(${words}::text[])`
