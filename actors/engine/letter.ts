import type { Apart, LiveLanes } from '#decisions/deciding'
import type { Allowance } from '#kernel/allowance'
import type { AppError } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { IdempotencyClaim, Keep } from '#store/engine/idempotency'
import type { Effects, Gate, Provenance } from '#store/engine/letter'
import type { Load, Loaded } from '#store/engine/load'
import type { Priority } from './mailbox.ts'

/** A response, serialised only once, so that a replay is identical byte for byte. */
export interface Answer {
  status: number
  /** JSON text. */
  body: string
  replayed?: boolean
  /** The limits that apply to the request, as its letter saw them. */
  allowances?: Allowance[]
  /** If set, the caller is refused with this instead, although the letter has changed something. */
  refusal?: AppError
}

/** A command, timer or lane outcome on its way to a tenant. Letters are decided one at a time. */
// biome-ignore lint/complexity/noBannedTypes: a letter that loads nothing
export interface Letter<R, L extends Load = {}> {
  name: string
  priority: Priority
  /**
   * Shares its transaction with no other letter, because its effect on lanes is not undone by a
   * rollback.
   */
  alone?: boolean
  /**
   * Others wait for it one after the other, so it is served with the letters that callers wait for.
   */
  awaited?: boolean
  /** Its principal's credential must still be valid when the letter is decided. */
  provenance: Provenance
  claim?: IdempotencyClaim | undefined
  /**
   * Whether it is decided even while the product's gate admits no letters. Timers and lanes always
   * are.
   */
  exempt?: boolean
  /** The records that it needs, read with the gate. */
  load?: L
  /**
   * Reads through `sql` what cannot be loaded, and writes nothing: all changes go into the
   * decision. May throw an `AppError`.
   */
  decide(
    sql: Sql,
    gate: Gate,
    lanes: LiveLanes,
    loaded: Loaded<L>,
    apart: Apart,
  ): Promise<Decision<R>>
  /** Called before a letter is decided again because its transaction was rolled back. */
  undone?(): void
  /** The reply if a lane takes too long: the record as it is. */
  late?(): Promise<R>
  // biome-ignore lint/suspicious/noExplicitAny: whoever posts the letter gets the result of its own sequel
  sequel?: Sequel<any>
}

/**
 * The result of a sequel once its letter has committed. `isAhead`: it was decided before the
 * letter's changes were written. `not now`: a control letter was waiting.
 */
export type SequelResult<R> =
  | { decision: Decision<R>; isAhead?: boolean }
  | { cause: unknown }
  | 'not wanted'
  | 'not now'

/**
 * A second decision in a letter's transaction, usually after the effects of the first. If it fails,
 * nothing of it happened, and the letter stands. It is skipped while a control letter is waiting,
 * because that letter might forbid it.
 */
export interface Sequel<R> {
  isWanted(effects: Effects, now: Date): boolean
  /**
   * What `ahead` needs, read with the letter's gate when its turn comes. Undefined: `ahead` is not
   * called.
   */
  load?(): Load | undefined
  /**
   * Decides before the letter's changes are written; one statement then writes both. Undefined if
   * it must see those changes. If the statement fails, the letter is decided again without it.
   */
  ahead?(
    gate: Gate,
    loaded: Record<string, unknown>,
    effects: Effects,
  ): Promise<Decision<R> | undefined>
  decide(sql: Sql, gate: Gate): Promise<Decision<R>>
  /**
   * Called in the tick of the commit, after the letter's own effects were announced. `now`: the
   * time of its gate.
   */
  ended(result: SequelResult<R>, now: Date): void
}

/** What a poll for due work found out about later polls, in milliseconds from its letter's gate. */
export interface Polled {
  /** When the next poll is worthwhile. Undefined: only when something changes. */
  next: number | undefined
  /** When a row that the poll did not find is due, whatever is running. */
  dueIn: number | undefined
}

export interface Decision<R> {
  reply: R
  effects?: Effects
  keep?: Keep | undefined
  /** The outcome of the work on this record supplies the reply instead. */
  awaits?: string
  /** How long the caller waits for that outcome; default: as long as the process lets any. */
  withinMs?: number | undefined
  /** This letter has polled for due work. */
  polled?: Polled
  /** Replies to callers waiting for the work on a record. `late`: they get the record as it is. */
  answers?: { refId: string; with: Answer | AppError | 'late' }[]
}
