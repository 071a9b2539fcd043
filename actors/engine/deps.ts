import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Db } from '#store/engine/db'
import type { Consequences, GateHook } from '#store/engine/letter'
import { LONGEST_NAP_MS, type WorkTable } from '#store/engine/work'
import type { AnyLane } from './lane.ts'
import { type LoopWatch, watchLoop } from './loop-watch.ts'
import type { MailboxOptions } from './mailbox.ts'
import { newSuspects, type Suspects } from './suspects.ts'

/** What a process remembers of work that fails, whichever actor of a workspace met it. */
export interface Trouble extends Disposable {
  suspects(tenantId: string): Suspects
  loop: LoopWatch
  /** Runs one after the other: if the process is kept busy meanwhile, that is why. */
  solo<T>(run: () => Promise<T>): Promise<T>
}

/** The rest after so many failures in a row. */
export const restAfter = (failures: number): number => Math.min(LONGEST_NAP_MS, RETRY_MS * 2 ** (failures - 1))

export const RETRY_MS = 1_000

export const newTrouble = (clock: Clock, loop = watchLoop()): Trouble => {
  let last: Promise<unknown> = Promise.resolve()
  return {
    suspects: newSuspects(clock, restAfter),
    loop,
    solo(run) {
      const mine = last.then(run)
      last = mine.catch(() => {})
      return mine
    },
    [Symbol.dispose]: () => loop[Symbol.dispose](),
  }
}

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
  trouble: Trouble
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

/** Something urgent waited, and the letter that was being decided took too long. Nothing of it happened. */
export class GaveWay extends Error {
  override readonly name = 'GaveWay'
}
