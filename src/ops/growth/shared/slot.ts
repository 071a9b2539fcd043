/** Whether the minute of a time is free, for operations that give an item one. */
import { NEXT_SLOT } from '#contract/shapes'
import type { SlotTaker, TakenTime } from '#domain/growth/drafting/item-timing'
import type { Sql } from '#store/engine/db'
import { loadNow, when } from '#store/engine/load'
import { calendarPart, slotTaker } from '#store/growth/calendar'

interface Asked {
  post_at?: string | undefined
  /** The id of an account; otherwise that of the item. */
  account?: string | undefined
}

/** Who has the minute. Omitted for no time, and for the next free slot, which nobody has. */
export const takerOf = (itemId: string | null, { post_at, account }: Asked) => {
  const isTime = post_at !== undefined && post_at !== NEXT_SLOT
  return when(isTime, slotTaker({ at: new Date(isTime ? post_at : 0), itemId, account }))
}

/** What the next free slot depends on. Only a refusal names it, so only a refusal reads it. */
export const othersIfTaken = async (
  sql: Sql,
  { only_if_free }: { only_if_free?: boolean | undefined },
  taker: SlotTaker | undefined,
): Promise<TakenTime[] | undefined> =>
  only_if_free && taker ? (await loadNow(sql, { calendar: calendarPart })).calendar : undefined
