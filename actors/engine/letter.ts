import type { LiveLanes } from '#decisions/deciding'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { IdempotencyClaim, Keep } from '#store/engine/idempotency'
import type { Effects, Gate, Provenance } from '#store/engine/letter'
import type { Priority } from './mailbox.ts'

/** What a program or a person gets back: serialised once, so that a replay is equal to the byte. */
export interface Answer {
  status: number
  /** JSON text. */
  body: string
  replayed?: boolean
  /** The limits that the request was held against, as its letter saw them. */
  allowances?: Allowance[]
}

/** One command, timer or lane outcome on its way to a tenant. It is decided in one transaction, alone. */
export interface Letter<R> {
  name: string
  priority: Priority
  /** Shares its transaction with no other: what it does to lanes as it is decided is not undone when that is rolled back. */
  alone?: boolean
  /** Its principal must still be let in when the letter is decided. */
  provenance: Provenance
  claim?: IdempotencyClaim | undefined
  /** Is decided while the workspace waits for its deletion too; timers and lanes are in any case. */
  whileDeleting?: boolean
  /** Reads and locks through `sql`, changes nothing: all changes are in the decision. May throw an `AppError`. */
  decide(sql: Sql, gate: Gate, lanes: LiveLanes): Promise<Decision<R>>
  /** The reply when a lane takes too long to give it: the record as it stands. */
  late?(): Promise<R>
}

export interface Decision<R> {
  reply: R
  effects?: Effects
  keep?: Keep | undefined
  /** The reply is given by the outcome of the work on this record instead. */
  awaits?: string
  /** `check`: work may be due now, whatever the effects say. `checked`: the letter has just checked. */
  due?: 'check' | 'checked'
  /** Replies to callers who wait for the work on a record; `late`: they get the record as it stands. */
  answers?: { refId: string; with: Answer | AppError | 'late' }[]
}
