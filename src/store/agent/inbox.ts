/**
 * The list of what waits for a person, in one statement: the places of the page, of all parts; the
 * records at these places; and how many there are of each kind.
 */
import { inboxLimits } from '#contract/inbox-limits'
import {
  decidingTools,
  type InboxKind,
  type InboxPlace,
  type InboxRecord,
} from '#domain/agent/inbox'
import type { WaitingRows } from '#domain/agent/inbox-rows'
import type { Fragment, Sql } from '../engine/db.ts'
import { engagementPage } from '../growth/engagements.ts'
import { itemPage } from '../growth/items.ts'
import { type ApprovalReader, isListed } from './approvals.ts'
import { atMost, type InboxFilter, type InboxPart, inboxParts, placesOf } from './inbox-parts.ts'
import { rowColumns } from './inbox-rows.ts'

export interface FoundPlace {
  place_kind: number
  place_source: number
  place_key: string
  place_id: string
  kind: InboxKind
  record: InboxRecord
}

export interface FoundInbox extends WaitingRows {
  /** In the order of the list. Null: there are none. */
  places: FoundPlace[] | null
  counts: Partial<Record<InboxKind, number>>
}

/**
 * All calls that wait and that the reader sees: few, and read once, because the list, the drafts on
 * it and the counts need them. `record_id`: the one draft that a call asks to decide.
 * `is_of_draft`: it waits too, and the call stands in its entry. A subquery for one value is looked
 * up for each call; any other would be read whole. What depends on the reader comes last: before,
 * it would change how many rows Postgres expects, which would then plan this statement each time.
 */
const waitingCalls = (
  sql: Sql,
  { as, words, account }: InboxFilter & { as: ApprovalReader },
): Fragment =>
  sql`select a.* from (select a.*,
      coalesce(case when a.record_id is not null then coalesce(
        (select true from item d where d.id = a.record_id and d.status = 'drafted' limit 1),
        (select true from engagement d where d.id = a.record_id and d.status = 'drafted' limit 1)) end, false) as is_of_draft
      from (select a.id, a.expires_at, a.tool_name, a.conversation_id,
          ${account ? sql`a.subject->>'account' as account,` : sql``}
          case when a.tool_name in (${sql.raw(decidingTools.map((name) => `'${name}'`).join())}) then a.subject_id end as record_id
          ${words.length > 0 ? sql`, concat_ws(' ', a.summary, a.subject->>'text') as text` : sql``}
        from agent_approval a where a.status = 'pending' and a.expires_at > now() offset 0) a offset 0) a
    where ${isListed(sql, as)}`

const order = (sql: Sql): Fragment => sql`place_kind, place_source, place_key collate "C", place_id`

/** How many a part has, counted up to the bound. */
const counted = (sql: Sql, { from, where }: InboxPart): Fragment =>
  sql`(select count(*)::int from (select 1 from ${from} where ${where} ${atMost(sql, inboxLimits.counted)}) c)`

/** Kinds of several parts are sums. */
const counts = (sql: Sql, parts: readonly InboxPart[]): Fragment => {
  const byKind = new Map<InboxKind, InboxPart[]>()
  for (const part of parts) byKind.set(part.kind, [...(byKind.get(part.kind) ?? []), part])
  const fields = [...byKind].map(
    ([kind, of], index) => sql`${index === 0 ? sql`` : sql`,`} '${sql.raw(kind)}',
      ${of.map((part, place) => sql`${place === 0 ? sql`` : sql`+`} ${counted(sql, part)}`)}`,
  )
  return sql`jsonb_build_object(${fields})`
}

/** Completes what `inboxPage` found. */
export const inboxFound = (found: FoundInbox): FoundInbox => ({
  ...found,
  item: found.item && itemPage(found.item),
  engagement: found.engagement && engagementPage(found.engagement),
})

/**
 * Always one row, which `inboxFound` completes. `limit`: how many places to find, one more than a
 * page has.
 */
export const inboxPage =
  (filter: InboxFilter, { limit, after }: { limit: number; after?: InboxPlace | undefined }) =>
  (sql: Sql): Fragment<FoundInbox> => {
    const { as, kinds } = filter
    const parts = inboxParts(sql, filter)
    const places = placesOf(
      sql,
      parts.filter(({ kind }) => kinds.includes(kind)),
      { limit, after },
    )
    const all = places.map((part, index) => sql`${index === 0 ? sql`` : sql`union all`} ${part}`)
    const none = sql`select 0 as place_kind, 0 as place_source, '' as place_key, null::uuid as place_id,
      '' as kind, '' as record where false`
    return sql<FoundInbox>`with ${as ? sql`calls as materialized (${waitingCalls(sql, { ...filter, as })}),` : sql``}
      chosen as materialized (select * from (${all.length === 0 ? none : sql`${all}`}) p
        order by ${order(sql)} limit ${sql.raw(String(limit))})
      select (select json_agg(row_to_json(c) order by ${order(sql)}) from chosen c) as places,
        ${counts(sql, parts)} as counts ${rowColumns(sql, as)}`
  }
