import type { calendar } from '#contract/growth/calendar'
import { calendarEntries } from '#domain/growth/drafting/calendar'
import { channelFor, type GrowthChannelName } from '#domain/growth/drafting/growth-channel'
import { refuseField } from '#kernel/errors'
import { loadBy } from '#store/engine/load'
import { type DatedItem, itemsAt } from '#store/growth/calendar'
import { channelsPart } from '#store/growth/growth-channels'
import { profilePart } from '#store/growth/profiles'
import type { Handlers } from '../engine/call.ts'

const calendarLimits = {
  days: 62,
  items: 1_000,
} as const
const EXCERPT = 140
const DAY_MS = 86_400_000
const names: GrowthChannelName[] = ['posts', 'articles']

/** Throws `invalid_input` about `to`. */
const rangeOf = (input: { from: string | Date; to: string | Date }): { from: Date; to: Date } => {
  const [from, to] = [new Date(input.from), new Date(input.to)]
  if (to <= from) refuseField('to', 'must be later than from')
  if (to.getTime() - from.getTime() > calendarLimits.days * DAY_MS)
    refuseField('to', `must be at most ${calendarLimits.days} days after from`)
  return { from, to }
}

const showDated = ({ id, status, title, excerpt, tags, url }: DatedItem) => ({
  id,
  status,
  title,
  excerpt,
  tags,
  url,
})

export const calendarHandlers: Handlers<typeof calendar> = {
  async get(input, { read }) {
    const range = rangeOf(input)
    // The number of posts on a day includes hours of that day outside the range.
    const around = {
      from: new Date(range.from.getTime() - DAY_MS),
      to: new Date(range.to.getTime() + DAY_MS),
    }
    const parts = {
      items: itemsAt(around, { limit: calendarLimits.items + 1, excerpt: EXCERPT }),
      channels: channelsPart(names),
      stored: profilePart,
    }
    const { items, channels, stored } = await loadBy(read, parts)
    if (items.length > calendarLimits.items)
      refuseField(
        'to',
        `is too far: there are more than ${calendarLimits.items} items from a day before to a day after; ask for less`,
      )
    const dated = items.map((item) => ({
      ...item,
      channel: channelFor(item.kind),
      posted: item.status === 'posted',
    }))
    const entries = calendarEntries(range, {
      items: dated,
      channels,
      zone: stored.profile.time_zone,
    })
    return {
      entries: entries.map(({ item, ...entry }) => ({ ...entry, item: item && showDated(item) })),
    }
  },
}
