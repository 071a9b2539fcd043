/** Prints of approved, scheduled and posted items, by which nearly equal texts are found. */
import { ALIKE, PRINTS } from '#domain/growth/drafting/prints'
import type { Repeated } from '#domain/growth/drafting/warnings'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, type Part, sure } from '../engine/load.ts'

/** For how long a text must not be repeated, in days. */
const KEPT_DAYS = 30

/** Keeps the prints of an item for 30 days from its time, or from now. */
export const keepPrints =
  ({ itemId, prints, from }: { itemId: string; prints: readonly number[]; from: Date }): Query =>
  (sql) =>
    sql`insert into item_print (print, item_id, until)
      select distinct p, ${itemId}::uuid, ${from}::timestamptz + ${KEPT_DAYS} * interval '1 day'
        from unnest(${prints}::integer[]) p
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
  sql`repeated_item(${prints}, ${ALIKE}, ${itemId})`

/**
 * The same for each of many texts, few of which repeat anything. A text that shares `ALIKE` prints
 * shares at least one of any `PRINTS - ALIKE + 1`, so most are done when these have been looked up.
 */
export const mayRepeat = (sql: Sql, { prints, itemId }: Text): Fragment =>
  sql`case when exists (select from item_print p
      where p.print = any((${prints})[:${PRINTS - ALIKE + 1}]) and p.until > now()
        and p.item_id <> ${itemId})
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
