/**
 * The words of items, by which lists find them. When an item changes its state, a trigger moves its
 * words to the shelf of the new state; those of a posted item are moved by the next sweep.
 */
import type { Fragment, Query, Sql } from '../engine/db.ts'

/**
 * Whether the item's words wait for the sweep, as a table of at most one row. The sweep passes over
 * an item that is locked so. Whoever changes words locks this first, as the sweep does.
 */
const waiting = (sql: Sql, itemId: string): Fragment =>
  sql`(select m.item_id from item_word_move m where m.item_id = ${itemId} for key share)`

/**
 * Adds the words that an item does not have yet, to the shelf on which its words were before this
 * statement. If the statement changes its state, a trigger moves them together with the others. A
 * new item has no row yet and counts as open; the words of a deleted item are on the open shelf as
 * well, and so are those of a posted one until the sweep has moved them.
 */
export const insertItemWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`insert into item_word (word, item_id, shelf, at)
      select w, ${itemId}, coalesce(i.status, 'open'), i.at from unnest(${words}::text[]) w
      left join ${waiting(sql, itemId)} m on true
      left join (select s.status, s.at from item s where s.id = ${itemId}
        and s.status in ('posted', 'rejected')) i on m.item_id is null
      where w not in (select h.word from item_word h where h.item_id = ${itemId}) on conflict
        do nothing`

/** The words of items that have none yet and wait for no sweep. */
export const insertWordsOfItems =
  (items: readonly { id: string; words: readonly string[] }[]): Query =>
  (sql) =>
    sql`insert into item_word (word, item_id, shelf, at)
      select w.word, i.id, coalesce(i.shelf, 'open'), case when i.shelf is not null then i.at end
      from jsonb_to_recordset(${sql.json(items)}::jsonb) as g(id uuid, words jsonb)
      join (select s.id, s.at, case when s.status in ('posted', 'rejected') then s.status end as shelf
        from item s) i on i.id = g.id
      cross join lateral jsonb_array_elements_text(g.words) w(word)`

/**
 * Deletes all words of an item except these. The count is always enough: it takes the lock before
 * the first row is deleted.
 */
export const keepWords =
  (itemId: string, words: readonly string[]): Query =>
  (sql) =>
    sql`delete from item_word where item_id = ${itemId} and word <> all(${words}::text[])
      and (select count(*) from ${waiting(sql, itemId)} m) >= 0`
