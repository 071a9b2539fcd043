import { randomUUID } from 'node:crypto'
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Db } from '#store/engine/db'
import type { Consequences, GateHook } from '#store/engine/letter'
import { LONGEST_NAP_MS } from '#store/engine/next-due'
import type { WorkTable } from '#store/engine/work'
import type { AnyLane } from './lane.ts'
import { type LoopWatch, watchLoop } from './loop-watch.ts'
import type { MailboxOptions } from './mailbox.ts'
import { newSuspects, type Suspects } from './suspects.ts'

/** Holds back the next in line until this is over, for a while at most. */
export type Hold = (until: Promise<unknown>) => void

/** What a process remembers of work that fails, whichever actor of a workspace met it. */
export interface Trouble extends Disposable {
  /**
   * Names the process in the rows that it has tried. It stays the same when the process loses its
   * lease.
   */
  process: string
  suspects(tenantId: string): Suspects
  loop: LoopWatch
  /** Runs one after the other: if the process is kept busy meanwhile, that is why. */
  solo<T>(run: (hold: Hold) => Promise<T>): Promise<T>
  /**
   * Milliseconds until the process is so old that its death is no longer likely to be one of a
   * series of kills.
   */
  calmIn(): number
}

/** The rest after so many failures in a row. */
export const restAfter = (failures: number): number =>
  Math.min(LONGEST_NAP_MS, RETRY_MS * 2 ** (failures - 1))

export const RETRY_MS = 1_000
const CALM_MS = 30_000
/**
 * How long a run may hold back the next in line; and how long all those who wait are held back
 * together.
 */
const HELD_BY_ONE_MS = 10_000
const HELD_MS = 30_000

const newSolo = (clock: Clock): Trouble['solo'] => {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (run) => {
    const [before, over] = [last, Promise.withResolvers<void>()]
    last = over.promise
    let held: Promise<unknown> | undefined
    waiting++
    await before
    waiting--
    try {
      return await run((until) => {
        held = until
      })
    } finally {
      const goOn = () => over.resolve()
      if (held) {
        clock.after(Math.min(HELD_BY_ONE_MS, HELD_MS / Math.max(1, waiting)), goOn)
        // However it ends: a rejection that nobody handles would end the process.
        held.then(goOn, goOn)
      } else goOn()
    }
  }
}

export interface TroubleOptions {
  loop?: LoopWatch
  calmMs?: number
}

export const newTrouble = (
  clock: Clock,
  { loop = watchLoop(), calmMs = CALM_MS }: TroubleOptions = {},
): Trouble => {
  const calmAt = clock.monotonic() + calmMs
  return {
    process: randomUUID(),
    suspects: newSuspects(clock, restAfter),
    loop,
    solo: newSolo(clock),
    calmIn: () => Math.max(0, calmAt - clock.monotonic()),
    [Symbol.dispose]: () => loop[Symbol.dispose](),
  }
}

/** What all actors of a process share. */
export interface ActorDeps {
  db: Db
  clock: Clock
  log: Log
  failpoints: Failpoints
  lanes: readonly AnyLane[]
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

/**
 * Another process owns the tenant, or this one has lost its lease. Nothing of the letter happened.
 */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}

/**
 * Something urgent waited, and the letter that was being decided took too long. Nothing of it
 * happened.
 */
export class GaveWay extends Error {
  override readonly name = 'GaveWay'
}
