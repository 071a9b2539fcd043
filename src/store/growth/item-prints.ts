/** Prints of approved, scheduled and posted items, by which nearly equal texts are found. */
import { ALIKE } from '#domain/growth/drafting/prints'
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

/**
 * An expression for the item, as JSON, whose text is most like the text with these prints. Leaves
 * out `itemId`. Null if no text is nearly equal. It is found by the table's key, however many items
 * there are.
 */
export const repeatedBy = (
  sql: Sql,
  { prints, itemId }: { prints: Fragment; itemId: Fragment },
): Fragment =>
  sql`(select jsonb_build_object('id', i.id, 'status', i.status, 'at',
    coalesce(i.posted_at, i.post_at)) from (
      select p.item_id, count(*) as shared from item_print p
      where p.print = any(${prints}) and p.until > now() and p.item_id is distinct from ${itemId}
      group by p.item_id having count(*) >= ${ALIKE}) s
    join item i on i.id = s.item_id and i.status in ('approved', 'publishing', 'posted',
      'publish_unconfirmed')
    order by s.shared desc, i.id desc limit 1)`

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
