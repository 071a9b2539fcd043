/** What can be said of a kind of work, and the rows that a table of kinds makes. The product's table is in work.ts. */
import type { WorkLane } from '#contract/work'
import { newId } from '#kernel/ids'
import type { NewWork, SecondRow } from '#store/engine/letter'
import type { WorkTable } from '#store/engine/work'

/** What is decided of a kind of work. A kind that leaves any of it open does not compile. */
export interface KindOfWork {
  lane: WorkLane
  /**
   * The concurrency key of a row, made of what `newWork` is given: rows of one key run one at a time. Null: the row goes out by the
   * account that is the default when it is claimed, and runs under that account's key.
   */
  key: (row: never) => string | null
  /** Rows of the kind that run at once in a workspace, by origin. Left out: as many as there are keys. */
  atOnce?: Record<NewWork['origin'], number>
  /** What a second row of the same kind and record does. */
  second: SecondRow
  /** People wait for it: when a person asked for it, it is due whatever the clock says. */
  awaited: boolean
  /**
   * What a stop of all work does with queued rows. `held`: they stay, and no claim of an automatic one succeeds before the stop
   * ends. `cancelled`: their records fail, and quota is returned. `skipped`: their runs end as skipped. `runs`: nothing.
   */
  queued: 'held' | 'cancelled' | 'skipped' | 'runs'
  /**
   * How the letter that recalls a running row settles it. `unsent`: its attempt ends as one that was not sent. `requeued`: it is
   * due again. `cancelled`: as above. `decided`: never recalled, because it is decided within its claim.
   */
  recalled: 'unsent' | 'requeued' | 'cancelled' | 'decided'
  /** What becomes of a row whose process died. `doubt`: its attempt may have been sent. `twice`: it runs twice at most. */
  orphaned: 'doubt' | 'requeued' | 'twice'
  /** Whether the request to delete the workspace also stops what a person asked for. What is automatic it always stops. */
  deletion: 'stops' | 'continues'
}

type Table = Record<string, KindOfWork>
type Particulars = Pick<NewWork, 'refId' | 'origin' | 'runAt' | 'payload'>

/** What the key of a kind is made of. */
type KeyParts<Kind extends KindOfWork> = Kind['key'] extends (row: infer Row) => unknown ? Row : never

/** A key that says nothing of the row: one row of all that have it runs at a time. */
export const fixed = (key: string) => (): string => key

export const rowsOf = <T extends Table>(table: T) => {
  /** The concurrency key of a row of the kind, for a record that has changed since the row was added. */
  const keyOf = <K extends keyof T>(kind: K, parts: KeyParts<T[K]>): string | null => table[kind]!.key(parts as never)
  /** A row to be added. */
  const newWork = <K extends keyof T & string>(kind: K, row: Particulars & KeyParts<T[K]>): Omit<NewWork, 'kind'> & { kind: K } => {
    const { lane, second } = table[kind]!
    const { refId, origin, runAt, payload } = row
    return { id: newId(), kind, lane, second, key: keyOf(kind, row), refId, origin, runAt, ...(payload ? { payload } : {}) }
  }
  return { newWork, keyOf }
}

/** The parts of a table that a claim keeps to. */
export const boundsOf = (table: Table): Omit<WorkTable, 'keyWhenClaimed'> => ({
  awaited: Object.keys(table).filter((kind) => table[kind]!.awaited),
  atOnce: Object.fromEntries(Object.entries(table).flatMap(([kind, { atOnce }]) => (atOnce ? [[kind, atOnce]] : []))),
})
