import type { LiveLanes } from '#decisions/deciding'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { IdempotencyClaim, Keep } from '#store/engine/idempotency'
import type { Effects, Gate, Provenance } from '#store/engine/letter'
import type { Priority } from './mailbox.ts'

/** A response, serialised once, so that a replay is identical to the byte. */
export interface Answer {
  status: number
  /** JSON text. */
  body: string
  replayed?: boolean
  /** The limits that apply to the request, as its letter saw them. */
  allowances?: Allowance[]
}

/** A command, timer or lane outcome on its way to a tenant. Letters are decided one at a time. */
export interface Letter<R> {
  name: string
  priority: Priority
  /** Shares its transaction with no other letter, because its effect on lanes is not undone by a rollback. */
  alone?: boolean
  /** Its principal's credential must still be valid when the letter is decided. */
  provenance: Provenance
  claim?: IdempotencyClaim | undefined
  /** Whether it is decided although the product's gate admits no letters now. Timers and lanes always are. */
  exempt?: boolean
  /** Reads and locks through `sql`, and writes nothing: all changes are in the decision. Can throw an `AppError`. */
  decide(sql: Sql, gate: Gate, lanes: LiveLanes): Promise<Decision<R>>
  /** The reply if a lane takes too long: the record as it is. */
  late?(): Promise<R>
}

export interface Decision<R> {
  reply: R
  effects?: Effects
  keep?: Keep | undefined
  /** The outcome of the work on this record supplies the reply instead. */
  awaits?: string
  /** `check`: work may be due now, whatever the effects say. `checked`: this letter has just looked for due work. */
  due?: 'check' | 'checked'
  /** Replies to callers waiting for the work on a record. `late`: they get the record as it is. */
  answers?: { refId: string; with: Answer | AppError | 'late' }[]
}
