/** Whether the minute of a time is free, for operations that give an item one. */
import { NEXT_SLOT } from '#contract/shapes'
import type { Item } from '#domain/growth/drafting/item'
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

/** The calendar in a letter that decides about many items: read once, and changed as they move. */
export class LetterCalendar {
  #times: TakenTime[] | undefined

  constructor(private readonly sql: Sql) {}

  async read(): Promise<TakenTime[]> {
    this.#times ??= await calendarNow(this.sql)
    return this.#times
  }

  moved({ id, kind, status, post_at: at }: Pick<Item, 'id' | 'kind' | 'status' | 'post_at'>): void {
    const others = this.#times?.filter(({ item_id }) => item_id !== id)
    this.#times =
      others && status === 'approved' && at !== null
        ? [...others, { item_id: id, kind, at, ahead: true }]
        : others
  }
}

const calendarNow = async (sql: Sql): Promise<TakenTime[]> =>
  (await loadNow(sql, { calendar: calendarPart })).calendar

/** Where an item is decided. `calendar`: set in a letter that decides about many. */
interface Within {
  sql: Sql
  calendar?: LetterCalendar
}

/** What the next free slot depends on. Only a refusal names it, so only a refusal reads it. */
export const othersIfTaken = async (
  { sql, calendar }: Within,
  { only_if_free }: { only_if_free?: boolean | undefined },
  taker: SlotTaker | undefined,
): Promise<TakenTime[] | undefined> => {
  if (!only_if_free || !taker) return undefined
  return calendar ? await calendar.read() : await calendarNow(sql)
}
