/** Prints of approved, scheduled and posted items, by which nearly equal texts are found. */
import { ALIKE, FOUND_BY } from '#domain/growth/drafting/prints'
import type { Repeated } from '#domain/growth/drafting/warnings'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, type Part, sure } from '../engine/load.ts'

/** For how long a text must not be repeated, in days. */
const KEPT_DAYS = 30

/** Keeps the prints by which an item is found, for 30 days from its time, or from now. */
export const keepPrints =
  ({ itemId, prints, from }: { itemId: string; prints: readonly number[]; from: Date }): Query =>
  (sql) =>
    sql`insert into item_print (print, item_id, until)
      select distinct p, ${itemId}::uuid, ${from}::timestamptz + ${KEPT_DAYS} * interval '1 day'
        from unnest(${prints.slice(0, FOUND_BY)}::integer[]) p
      on conflict (tenant_id, print, item_id) do update
        set until = greatest(item_print.until, excluded.until)`

export const dropPrints =
  (itemId: string, prints: readonly number[]): Query =>
  (sql) =>
    sql`delete from item_print where print = any(${prints}::integer[]) and item_id = ${itemId}`

interface Text {
  prints: Fragment
  /** The item that has the text, which does not repeat itself. */
  itemId: Fragment
}

/**
 * An expression for the item, as JSON, whose text is most like the text with these prints. Null if
 * no text is nearly equal. It is found by the table's key, however many items there are.
 */
const repeatedBy = (sql: Sql, { prints, itemId }: Text): Fragment =>
  sql`repeated_item(${prints}, ${FOUND_BY}, ${ALIKE}, ${itemId})`

/** The same for each of many texts, few of which share a print with another. */
export const mayRepeat = (sql: Sql, { prints, itemId }: Text): Fragment =>
  sql`case when exists (select from item_print p where p.print = any((${prints})[:${FOUND_BY}])
      and p.until > now() and p.item_id <> ${itemId})
    then ${repeatedBy(sql, { prints, itemId })} end`

/**
 * The item that a text repeats. The text is given by its prints, or else is the item's present
 * text.
 */
export const repeatedPart = ({
  itemId,
  prints,
}: {
  itemId: string | null
  prints?: readonly number[] | undefined
}): Part<Repeated | null> =>
  mapPart(
    sure(
      one<{ repeated: Repeated | null }>(
        {},
        (sql) =>
          sql`select ${repeatedBy(sql, {
            prints: prints
              ? sql`${prints}::integer[]`
              : sql`(select prints from item where id = ${itemId}::uuid)::integer[]`,
            itemId: sql`${itemId}::uuid`,
          })} as repeated`,
      ),
    ),
    ({ repeated }) => repeated,
  )
