import { useRead } from '../api/queries.ts'
import { useStore } from '../parts/store.ts'
import { calendarWindow } from './calendar-window.ts'
import { useCalendar } from './draft/use-slots.ts'
import { hidden } from './hidden.ts'
import { namedTimes } from './named-times.ts'
import type { SelectedDraft } from './selection.ts'

/** As far as the server looks for a slot. */
const FAR_DAYS = 60

/** Undefined until they are known. What is near is read for all panes, and is mostly enough. */
export const useNamedTimes = (
  drafts: readonly SelectedDraft[],
): ReadonlyMap<string, string> | undefined => {
  const when = {
    now: new Date().toISOString(),
    asked: new Set(useStore(hidden).values()),
  }
  const near = useCalendar().data
  const soon = near && namedTimes(drafts, near.entries, when)
  const isEnough = soon?.size === drafts.length
  const far = useRead('growth.calendar.get', calendarWindow(FAR_DAYS), {
    enabled: soon !== undefined && !isEnough,
  })
  if (isEnough || far.isError) return soon
  return far.data && namedTimes(drafts, far.data.entries, when)
}
