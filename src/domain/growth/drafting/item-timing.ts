/** When an item goes out: at a time that is named, or in the next free slot of a cadence. */
import { fail } from '#kernel/errors'
import { nextCall, refuseNaming } from '../way-on.ts'
import { type Calendar, FURTHEST_SLOT_DAYS, hasSlots, nextSlot } from './cadence.ts'
import { channelFor, type GrowthChannel } from './growth-channel.ts'
import type { Item, ItemDecision } from './item.ts'
import { schedule } from './item-moves.ts'
import { itemStates } from './item-states.ts'
import type { OnMissed, Profile } from './profile.ts'

/** The time of an item, which tells the cadence that its slot is taken. */
export interface TakenTime {
  item_id: string
  kind: Item['kind']
  at: Date
  /** Whether the item is scheduled or on its way; otherwise it was posted at that time. */
  ahead: boolean
}

/** Another post of the account that has the minute of a time. */
export interface SlotTaker {
  item_id: string
  status: string
  decision: ItemDecision | null
}

/** A time as people request it. */
export interface Timing {
  post_at: string
  on_missed?: OnMissed | undefined
  /** Refuse a minute that another post of the account has. */
  only_if_free?: boolean | undefined
}

export interface Times {
  channels: readonly GrowthChannel[]
  profile: { profile: Profile }
  /** Undefined if a time is given. */
  calendar: TakenTime[] | undefined
  /** Of the time that is given. */
  taker?: SlotTaker | undefined
  /** Known if the minute is refused: what the next free slot depends on. */
  others?: TakenTime[] | undefined
  now: Date
}

/** The calendar for an item's kind, without the item that is being moved. */
const calendarFor = ({ id, kind }: Item, { profile, now }: Times, times: TakenTime[]): Calendar => {
  const others = times.filter(({ item_id }) => item_id !== id)
  return {
    zone: profile.profile.time_zone,
    taken: others.filter(({ ahead }) => ahead).map(({ at }) => at),
    counted: others.filter((entry) => entry.kind === kind).map(({ at }) => at),
    now,
  }
}

/** Throws `invalid_input` without a cadence, `conflict` without a free slot. */
const nextSlotFor = (item: Item, times: Times, taken: TakenTime[]): Date => {
  const name = channelFor(item.kind)
  const channel = times.channels.find((one) => one.name === name)
  if (!channel || !hasSlots(channel.cadence)) {
    const message = `is next_slot, but channel ${name} has no cadence; set its days and times first`
    return fail('invalid_input', `post_at ${message}`, { details: [{ path: 'post_at', message }] })
  }
  const slot = nextSlot(channel.cadence, calendarFor(item, times, taken))
  const none = `cannot schedule: channel ${name} has no free slot within ${FURTHEST_SLOT_DAYS} days; give a time, or add times to its cadence`
  return slot ?? refuseNaming('no_free_slot', none, 'growth.channels.update', channel.id)
}

/** Throws `conflict`, with the next free slot after this time. */
const refuseTaken = (
  item: Item,
  postAt: Date,
  { taker, times }: { taker: SlotTaker; times: Times },
) => {
  const { item_id, status, decision } = taker
  const { others = [], channels } = times
  const cadence = channels.find(({ name }) => name === channelFor(item.kind))?.cadence
  const after = { ...times, now: new Date(Math.max(times.now.getTime(), postAt.getTime())) }
  const free = cadence && nextSlot(cadence, calendarFor(item, after, others))
  const state = status === 'approved' ? 'scheduled' : status
  const taken = `the minute of ${postAt.toISOString()} is taken: item ${item_id} of the same account is ${state} in it`
  const way = free ? `the next free slot is ${free.toISOString()}` : 'choose another time'
  fail('conflict', `${taken}; ${way}`, {
    reason: 'slot_taken',
    by: decision?.by,
    at: decision?.at,
    next_free_at: free ?? null,
    details: [nextCall('growth.items.get', item_id)],
  })
}

/** Gives an approved item its time. */
export const timed = (
  item: Item,
  { post_at, on_missed, only_if_free }: Timing,
  times: Times,
): Item => {
  itemStates.next(item, 'schedule')
  const { calendar, taker, now } = times
  const postAt = calendar ? nextSlotFor(item, times, calendar) : new Date(post_at)
  const next = schedule(item, { postAt, onMissed: on_missed ?? null, now })
  if (only_if_free && taker) refuseTaken(item, postAt, { taker, times })
  return next
}
