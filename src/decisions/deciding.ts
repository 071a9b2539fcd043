import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { KeyedWork } from '#store/engine/work'

/** The lanes of a workspace that run in this process, as a letter sees them. */
export interface LiveLanes {
  /** Ids of works that run here. */
  ids(): string[]
  /**
   * Stops, in this very tick, the chosen lanes that have not passed their point of no return, and returns their works. The
   * letter must settle them. A lane stopped by a letter that is rolled back reports itself as unsent.
   */
  recall(choose: (work: KeyedWork) => boolean): KeyedWork[]
}

/** What a rule of the application has before it while a letter is decided. */
export interface Deciding {
  tenantId: string
  /** The letter's transaction: reads and locks only. What changes is in the outcome. */
  sql: Sql
  gate: Gate
  lanes: LiveLanes
}
