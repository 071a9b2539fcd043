/**
 * The properties of a kind of work, and the rows that a table of kinds makes. The product's table
 * is in work.ts.
 */
import { type WorkLane, workLanes } from '#contract/work'
import { newId } from '#kernel/ids'
import type { NewWork, SecondRow } from '#store/engine/letter'
import type { WorkTable } from '#store/engine/work'
import { placeOf } from '#store/engine/work-places'

/** The rules of a kind of work. A kind that leaves one out does not compile. */
export interface KindOfWork {
  lane: WorkLane
  /**
   * The concurrency key of a row, from the input of `newWork`. Rows with the same key run one at a
   * time. Null: the account that is the default at the claim sends the row, under that account's
   * key.
   */
  key: (row: never) => string | null
  /**
   * How many rows of an origin can run at once in a workspace. Absent: as many as there are keys.
   */
  atOnce?: Record<NewWork['origin'], number>
  /** How many of those rows one asker may have, so that others find a place. Absent: all. */
  share?: Record<NewWork['origin'], number>
  /**
   * The same for further places, by name. A claim may ask for one of them instead of the usual
   * place.
   */
  places?: Record<string, Record<NewWork['origin'], number>>
  /** The effect of a second row of the same kind and record. */
  second: SecondRow
  /**
   * Whether people wait for it. A manual row of such a kind is due at once, whatever the clock
   * says.
   */
  awaited: boolean
  /**
   * What pause-all does with queued rows. `held`: they stay, and no automatic one is claimed before
   * the pause ends. `cancelled`: their records fail and quota is returned. `skipped`: their runs
   * end as skipped. `runs`: nothing.
   */
  queued: 'held' | 'cancelled' | 'skipped' | 'runs'
  /**
   * How the letter that recalls a running row settles it. `unsent`: its attempt ends as not sent.
   * `requeued`: it is due again. `returned`: its lane puts it back when it has stopped.
   * `cancelled`: as above. `decided`: it is never recalled, because it is decided within its claim.
   */
  recalled: 'unsent' | 'requeued' | 'returned' | 'cancelled' | 'decided'
  /**
   * What happens to a row whose process died. `doubt`: its attempt may have been sent. `twice`: it
   * runs at most twice.
   */
  orphaned: 'doubt' | 'requeued' | 'twice'
  /**
   * Whether a manual row runs while the deployment is held, if it was added since. All other rows
   * wait for the end of the hold. `waits`: nobody asks for rows of this kind one by one.
   */
  whileHeld: 'runs' | 'waits'
  /**
   * Whether a request to delete the workspace also stops manual rows. Automatic rows always stop.
   */
  deletion: 'stops' | 'continues'
  /** How many times in a row a claim or an outcome of a row may fail because of the row itself. */
  failures: number
  /**
   * What happens after that. `ends`: its record ends as far as is known: failed if nothing was
   * sent, otherwise in doubt. `rests`: the work must go on, so it rests for an hour after each
   * further failure.
   */
  inVain: 'ends' | 'rests'
}

type Table = Record<string, KindOfWork>
type Particulars = Pick<NewWork, 'refId' | 'origin' | 'runAt' | 'payload'>

/** The input that the key of a kind depends on. */
type KeyParts<Kind extends KindOfWork> = Kind['key'] extends (row: infer Row) => unknown
  ? Row
  : never

/** One key for all rows: they run one at a time. */
export const useKey = (key: string) => (): string => key

export const rowsOf = <T extends Table>(table: T) => {
  /** The key of a row whose record has changed since the row was added. */
  const keyOf = <K extends keyof T>(kind: K, parts: KeyParts<T[K]>): string | null =>
    table[kind]!.key(parts as never)
  const newWork = <K extends keyof T & string>(
    kind: K,
    row: Particulars & KeyParts<T[K]>,
  ): Omit<NewWork, 'kind'> & { kind: K } => {
    const { lane, second } = table[kind]!
    const { refId, origin, runAt, payload } = row
    return {
      id: newId(),
      kind,
      lane,
      second,
      key: keyOf(kind, row),
      refId,
      origin,
      runAt,
      ...(payload ? { payload } : {}),
    }
  }
  return { newWork, keyOf }
}

const boundsOfPlaces = ([kind, { atOnce, places = {} }]: [string, KindOfWork]) => [
  ...(atOnce ? [[kind, atOnce] as const] : []),
  ...Object.entries(places).map(([place, bound]) => [placeOf({ kind, place }), bound] as const),
]

/** The bounds of a table that claims observe. */
export const boundsOf = (table: Table): Omit<WorkTable, 'keyWhenClaimed'> => ({
  laneOrder: workLanes,
  awaited: Object.keys(table).filter((kind) => table[kind]!.awaited),
  atOnce: Object.fromEntries(Object.entries(table).flatMap(boundsOfPlaces)),
  share: Object.fromEntries(
    Object.entries(table).flatMap(([kind, { share }]) => (share ? [[kind, share]] : [])),
  ),
  whileHeld: Object.keys(table).filter((kind) => table[kind]!.whileHeld === 'runs'),
  inVain: Object.fromEntries(
    Object.entries(table).map(([kind, { failures, inVain }]) => [
      kind,
      { most: failures, end: inVain },
    ]),
  ),
})
