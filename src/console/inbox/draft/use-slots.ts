/** The times that a draft can be approved for, and the chosen one. */
import { useMemo, useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { speak } from '../../frame/notices.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { useStore } from '../../parts/store.ts'
import { whenOf } from '../../parts/when.tsx'
import { calendarWindow } from '../calendar-window.ts'
import { hidden } from '../hidden.ts'
import type { DraftItem } from './item.ts'
import { type FreeSlot, slotsOffered, withNeighbours } from './slots.ts'

const LOOKED_AT_DAYS = 14
const MINUTE_MS = 60_000

/**
 * The inbox follows it all the time: between two drafts nobody else does, and a read that is broken
 * off then would offer the next one a time that has just been given away.
 */
export const useCalendar = () => useRead('growth.calendar.get', calendarWindow(LOOKED_AT_DAYS))

/** The time that it had before comes first, if it is still to come. */
const offeredSlots = (
  item: DraftItem,
  entries: Parameters<typeof withNeighbours>[1],
  asked: ReadonlySet<string | undefined>,
): FreeSlot[] => {
  const now = new Date().toISOString()
  const free = slotsOffered(entries, { channel: `${item.kind}s`, now, asked })
  const had = item.proposed_at
  return had === null || had <= now || free.some(({ at }) => at === had)
    ? free
    : [withNeighbours(had, entries), ...free]
}

export interface SlotChoices {
  offered: FreeSlot[]
  chosen: FreeSlot | undefined
  choose(at: string): void
}

export const useSlots = (item: DraftItem | undefined): SlotChoices => {
  const { data } = useCalendar()
  const [wanted, setWanted] = useState<string>()
  const deciding = useStore(hidden)
  const minute = Math.floor(Date.now() / MINUTE_MS)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a slot is offered until it is past
  const offered = useMemo(() => {
    const asked = new Set([...deciding].filter(([id]) => id !== item?.id).map(([, at]) => at))
    return item && data ? offeredSlots(item, data.entries, asked) : []
  }, [item, data, deciding, minute])
  const first = offered.find(({ at }) => at === item?.proposed_at) ?? offered[0]
  const chosen = offered.find(({ at }) => at === wanted) ?? first
  const step = (steps: number): void => {
    const next = chosen && offered[offered.indexOf(chosen) + steps]
    if (!next) return
    setWanted(next.at)
    speak(whenOf(next.at))
  }
  const isChoice = offered.length > 1
  useShortcut('laterSlot', isChoice ? () => step(1) : undefined)
  useShortcut('earlierSlot', isChoice ? () => step(-1) : undefined)
  return { offered, chosen, choose: setWanted }
}
