/**
 * What a person should know before approving or scheduling a text. A warning never refuses
 * anything; a channel's format rules do.
 */
import { dayAt } from '#kernel/calendar'
import { normalForm } from '#kernel/normal-form'
import { codePointOf, firstUnseen, unseenCount } from '#kernel/unseen'
import { type Cadence, hasSlots, isSlot } from './cadence.ts'
import type { SlotTaker } from './item-timing.ts'
import { findLinks } from './links.ts'
import { phraseOf, searchable } from './phrase.ts'

export interface Warning {
  code:
    | 'avoided_phrase'
    | 'repeats_item'
    | 'costly_link'
    | 'outside_cadence'
    | 'slot_taken'
    | 'unseen_characters'
  message: string
  /** `repeats_item`, `slot_taken`: the other item. */
  item_id: string | null
}

/** An approved, scheduled or posted item whose text is equal or nearly equal. */
export interface Repeated {
  id: string
  status: string
  /** When it was posted, or is due. */
  at: Date | string | null
}

/** In millionths of a US dollar, or in any other unit that both prices share. */
interface LinkPrice {
  post: number
  postWithLink: number
}

export interface WarningFacts {
  body: string
  /** The phrases to avoid; empty for a text by a drafter, which already avoided them. */
  avoid: readonly string[]
  repeats: Repeated | null
  /** The prices of the network that it is sent to; null if it has none. */
  prices: LinkPrice | null
  /**
   * Its time and the cadence of its channel; null if either is missing. `zone`: the time zone of
   * cadences that name none.
   */
  slot: { at: Date; cadence: Cadence; channel: string; zone: string } | null
  /** Another post of the account in the minute of its time. */
  taker?: SlotTaker | undefined
}

const warning = (
  code: Warning['code'],
  message: string,
  item_id: string | null = null,
): Warning => ({ code, message, item_id })

const avoided = ({ body, avoid }: WarningFacts): Warning[] => {
  if (avoid.length === 0) return []
  const text = searchable(body)
  const found = avoid.filter((phrase) => phraseOf(phrase).occursIn(text))
  return found.map((phrase) =>
    warning('avoided_phrase', `contains "${phrase}", which the profile avoids`),
  )
}

const repeated = ({ repeats }: WarningFacts): Warning[] => {
  if (!repeats) return []
  const { id, status, at } = repeats
  const day =
    at === null
      ? ''
      : ` ${status === 'posted' ? 'on' : 'for'} ${new Date(at).toISOString().slice(0, 10)}`
  const what = status === 'approved' && at !== null ? 'scheduled' : status
  return [warning('repeats_item', `says nearly the same as item ${id}, which is ${what}${day}`, id)]
}

const dollars = (micros: number): string => `$${(micros / 1_000_000).toFixed(3)}`

const costly = ({ body, prices }: WarningFacts): Warning[] => {
  if (
    !prices ||
    prices.postWithLink <= prices.post ||
    findLinks(normalForm(body, 'NFC')).length === 0
  )
    return []
  return [
    warning(
      'costly_link',
      `contains a link: the post costs ${dollars(prices.postWithLink)}, without one ${dollars(prices.post)}`,
    ),
  ]
}

const untimely = ({ slot }: WarningFacts): Warning[] => {
  if (!slot || !hasSlots(slot.cadence) || isSlot(slot.at, slot)) return []
  const day = dayAt(slot.at, slot.cadence.time_zone ?? slot.zone)
  return [
    warning(
      'outside_cadence',
      `its time on ${day} is no slot of the cadence of channel ${slot.channel}`,
    ),
  ]
}

const taken = ({ taker }: WarningFacts): Warning[] =>
  taker
    ? [
        warning(
          'slot_taken',
          `item ${taker.item_id} of the same account has this minute`,
          taker.item_id,
        ),
      ]
    : []

/** The position counts characters as people see them, starting at one. */
const unseen = ({ body }: WarningFacts): Warning[] => {
  const first = firstUnseen(body)
  if (!first) return []
  const count = unseenCount(body)
  const noun = count === 1 ? 'character' : 'characters'
  const place = `${codePointOf(first.character)} at character ${[...body.slice(0, first.at)].length + 1}`
  return [
    warning(
      'unseen_characters',
      `has ${count} ${noun} that nobody would see${count === 1 ? ': ' : ', the first '}${place}`,
    ),
  ]
}

/** All warnings, in a fixed order. There is at most one of each code, except for phrases. */
export const warningsOf = (facts: WarningFacts): Warning[] => [
  ...avoided(facts),
  ...repeated(facts),
  ...costly(facts),
  ...untimely(facts),
  ...taken(facts),
  ...unseen(facts),
]
