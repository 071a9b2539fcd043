/**
 * Where rows run beside the mailbox, how many run at once, and what a row waits for when there is
 * no room.
 */

type Origin = 'manual' | 'automatic'
type Count = Record<Origin, number>

export interface Bounds {
  /**
   * How many rows of an origin can run at once in a place, by the name that `placeOf` returns.
   * Places that are not listed have no such bound.
   */
  atOnce: Readonly<Record<string, Count>>
  /**
   * How many of a kind's usual places the rows of one asker can take. Kinds that are not listed
   * have no such bound.
   */
  share: Readonly<Record<string, Count>>
}

/** A row that takes a place. */
export interface Placed {
  kind: string
  origin: Origin
  /** Which of the places of its kind it takes. Absent: the usual one. */
  place?: string | undefined
  /** The asker for whom it takes a usual place. */
  asker?: string | undefined
}

interface Room {
  kinds: Bounds
  running: readonly Placed[]
}

/** Where a row runs: in the usual place of its kind, or in another place of that kind. */
export const placeOf = ({ kind, place }: Pick<Placed, 'kind' | 'place'>): string =>
  place === undefined ? kind : `${kind}.${place}`

/** The places in which so many rows of an origin run that there is room for at most `left` more. */
export const placesWith = (
  { kinds: { atOnce }, running }: Room,
  origin: Origin,
  left: number,
): string[] =>
  Object.keys(atOnce).filter(
    (place) =>
      atOnce[place]![origin] -
        running.filter((one) => placeOf(one) === place && one.origin === origin).length <=
      left,
  )

/** The name of the share of the usual places that the row counts against. */
const shareOf = ({ kind, place, asker }: Placed): string | undefined =>
  place === undefined && asker !== undefined ? `${kind} for ${asker}` : undefined

/** The shares that are full for an origin. */
export const sharesTaken = ({ kinds: { share }, running }: Room, origin: Origin): string[] => {
  const rows = running.filter((one) => one.origin === origin && shareOf(one) !== undefined)
  const taken = ({ kind, asker }: Placed): number =>
    rows.filter((one) => one.kind === kind && one.asker === asker).length
  return rows
    .filter((one) => taken(one) >= (share[one.kind]?.[origin] ?? Number.POSITIVE_INFINITY))
    .map((one) => shareOf(one)!)
}

/**
 * Whether a row may run beside the mailbox because both its place and its asker's share have room.
 * A row that may not can still be decided in its claim.
 */
export const hasPlace = (room: Room, work: Placed): boolean => {
  const share = shareOf(work)
  const isShareTaken = share !== undefined && sharesTaken(room, work.origin).includes(share)
  return !isShareTaken && !placesWith(room, work.origin, 0).includes(placeOf(work))
}

/**
 * The field of the payload in which a row that found no room beside the mailbox keeps what it waits
 * for: its place and its asker's share.
 */
export const WAITS = 'waits_for_place'

type Waiting = Placed & { id: string; run_at: Date; payload: Record<string, unknown> }

/** Returns the row to the queue, with its own time, until there is room for it. */
export const waitingForPlace = (work: Waiting) => {
  const [share, payload] = [shareOf(work), work.payload]
  const needs = share === undefined ? [placeOf(work)] : [placeOf(work), share]
  return { id: work.id, runAt: work.run_at, failed: 0, payload: { ...payload, [WAITS]: needs } }
}
