import type { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import type { KeyedWork } from '#store/engine/work'

/** The workspace's lanes that run in this process, as a letter sees them. */
export interface LiveLanes {
  /** Ids of the work that runs here. */
  ids(): string[]
  /**
   * Stops, synchronously, the chosen lanes that have not passed their point of no return, and
   * returns their work. The letter must settle it. If the letter is rolled back, a stopped lane
   * reports itself as unsent.
   */
  recall(choose: (work: KeyedWork) => boolean): KeyedWork[]
  /**
   * Whether the effect of this work has begun here, though it may not be past its point of no
   * return.
   */
  hasBegun(id: string): boolean
}

/** Changes that are written at once, and the requests that wait for them. */
interface DecidedApart<R> {
  reply: R
  effects?: Effects
  answers?: { refId: string; with: { status: number; body: string } | AppError | 'late' }[]
}

/**
 * Decides in a savepoint of the letter and writes the changes before it returns, so the next
 * decision sees them. If the decision refuses, the error is thrown and nothing of the decision
 * remains.
 */
export type Apart = <R>(decide: () => Promise<DecidedApart<R>>) => Promise<R>

/** The context of an application rule while a letter is decided. */
export interface Deciding {
  tenantId: string
  /** The letter's transaction, for reads and locks only. Changes go into the effects. */
  sql: Sql
  gate: Gate
  lanes: LiveLanes
}
