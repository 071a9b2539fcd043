import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Db } from '#store/engine/db'
import type { Consequences, GateHook } from '#store/engine/letter'
import type { WorkTable } from '#store/engine/work'
import type { AnyLane } from './lane.ts'
import type { MailboxOptions } from './mailbox.ts'

/** What all actors of a process share. */
export interface ActorDeps {
  db: Db
  clock: Clock
  log: Log
  failpoints: Failpoints
  lanes: AnyLane[]
  kinds: WorkTable
  gate: GateHook
  consequences: Consequences
  /** Called after each commit that has news of a record, with its id. Must not throw. */
  tell?(id: string): void
  mailbox?: MailboxOptions
  /** How long a caller waits for a lane. After that it gets the record as it is. */
  replyWithinMs: number
}

/** Another process owns the tenant, or this one has lost its lease. Nothing of the letter happened. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}
