/**
 * Where rows run beside the mailbox, how many at once, and what a row waits for that finds no room.
 */

type Origin = 'manual' | 'automatic'
type Count = Record<Origin, number>

export interface Bounds {
  /**
   * How many rows of an origin can run at once in a place, as `placeOf` names it; places not listed
   * have no such bound.
   */
  atOnce: Readonly<Record<string, Count>>
  /**
   * How many of the usual places of a kind the rows of one asker can take; kinds not listed have no
   * such bound.
   */
  share: Readonly<Record<string, Count>>
}

/** A row that takes a place. */
export interface Placed {
  kind: string
  origin: Origin
  /** Which of the places of its kind. Absent: the usual one. */
  place?: string | undefined
  /** For whom it takes a usual place. */
  asker?: string | undefined
}

interface Room {
  kinds: Bounds
  running: readonly Placed[]
}

/** Where a row runs: the usual place of its kind, or another one of it. */
export const placeOf = ({ kind, place }: Pick<Placed, 'kind' | 'place'>): string =>
  place === undefined ? kind : `${kind}.${place}`

/** Places in which so many rows of an origin run that there is room for at most `left` more. */
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

/** The share that the rows of an asker have of the usual places. */
const shareOf = ({ kind, place, asker }: Placed): string | undefined =>
  place === undefined && asker !== undefined ? `${kind} for ${asker}` : undefined

/** Shares of which as many rows of an origin run as can. */
export const sharesTaken = ({ kinds: { share }, running }: Room, origin: Origin): string[] => {
  const rows = running.filter((one) => one.origin === origin && shareOf(one) !== undefined)
  const taken = ({ kind, asker }: Placed): number =>
    rows.filter((one) => one.kind === kind && one.asker === asker).length
  return rows
    .filter((one) => taken(one) >= (share[one.kind]?.[origin] ?? Number.POSITIVE_INFINITY))
    .map((one) => shareOf(one)!)
}

/**
 * Whether a row may run beside the mailbox: its place and its asker's share have room. One that may
 * not can still be decided in its claim.
 */
export const hasPlace = (room: Room, work: Placed): boolean => {
  const share = shareOf(work)
  const isShareTaken = share !== undefined && sharesTaken(room, work.origin).includes(share)
  return !isShareTaken && !placesWith(room, work.origin, 0).includes(placeOf(work))
}

/**
 * In the payload of a row that would run beside the mailbox and found no room: its place, and its
 * asker's share.
 */
export const WAITS = 'waits_for_place'

type Waiting = Placed & { id: string; run_at: Date; payload: Record<string, unknown> }

/** The row goes back to the queue until there is room for it, at its own time. */
export const waitingForPlace = (work: Waiting) => {
  const [share, payload] = [shareOf(work), work.payload]
  const needs = share === undefined ? [placeOf(work)] : [placeOf(work), share]
  return { id: work.id, runAt: work.run_at, failed: 0, payload: { ...payload, [WAITS]: needs } }
}
