import { randomUUID } from 'node:crypto'
import type { Clock } from '#kernel/clock'
import type { Failpoints } from '#kernel/failpoint'
import type { Log } from '#kernel/log'
import type { Tracer } from '#kernel/trace'
import type { Db } from '#store/engine/db'
import type { Consequences, Effects, GateHook } from '#store/engine/letter'
import { LONGEST_NAP_MS } from '#store/engine/next-due'
import type { Beat } from '#store/engine/nodes'
import type { WorkTable } from '#store/engine/work'
import type { AnyLane } from './lane.ts'
import type { Letter } from './letter.ts'
import { type LoopWatch, watchLoop } from './loop-watch.ts'
import type { MailboxOptions } from './mailbox.ts'
import type { Meter } from './meter.ts'
import { newSuspects, type Suspects } from './suspects.ts'

/** Holds back the next in line until the promise settles, but not for ever. */
export type Hold = (until: Promise<unknown>) => void

/** What a process remembers about failing work, whichever actor of a workspace met it. */
export interface Trouble extends Disposable {
  /**
   * Identifies the process in the rows that it has tried. It stays the same if the process loses
   * its lease.
   */
  process: string
  suspects(tenantId: string): Suspects
  loop: LoopWatch
  /**
   * Runs one at a time, so that if the process is kept busy meanwhile, the run is known to be the
   * cause.
   */
  solo<T>(run: (hold: Hold) => Promise<T>): Promise<T>
  /**
   * Milliseconds until the process is old enough that its death is unlikely to be one in a series
   * of kills.
   */
  calmIn(): number
}

/** How long a row rests after this many failures in a row. */
export const restAfter = (failures: number): number =>
  Math.min(LONGEST_NAP_MS, RETRY_MS * 2 ** (failures - 1))

export const RETRY_MS = 1_000
const CALM_MS = 30_000
/**
 * How long one run may hold back the next in line; below, how long all waiting runs together may be
 * held back.
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
        // In either case, because an unhandled rejection would end the process.
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

/** Those who follow what happens in workspaces. Nothing here may throw. */
export interface Followers {
  /** A letter has committed. */
  committed(tenantId: string, letter: Committed): void
  /** Whether somebody follows the workspace. Then it stays awake here. */
  isFollowed(tenantId: string): boolean
  /** The workspace is no longer owned by this process. */
  left(tenantId: string): void
}

interface Committed extends Pick<Letter<unknown>, 'name' | 'provenance'> {
  effects: Effects
}

/** What stops the whole deployment, as a gate or a beat has seen it. */
type Stops = Pick<Beat, 'heldSince' | 'pausedEverywhere'>

/** What this process knows of that. The gate of each letter knows it for sure. */
export interface HoldWatch {
  /** Null while nothing is held. */
  readonly since: Date | null
  /** Since when the operator has paused every workspace; null while that is not so. */
  readonly everywhere: Date | null
  /** Whether either of the two is so. */
  readonly isStopped: boolean
  /** Whether objects in S3 may be those of another deployment. */
  readonly keepsObjects: boolean
  /** By a gate. */
  saw(stops: Stops): void
  /** By a beat. */
  read(beat: Stops & Pick<Beat, 'keepsObjects'>): void
}

/** `changed` is called after each hold, or pause of all workspaces, has begun or ended. */
export const newHoldWatch = (changed: () => void = () => {}): HoldWatch => {
  const known = {
    since: null as Date | null,
    everywhere: null as Date | null,
    keepsObjects: false,
  }
  const saw = ({ heldSince: since, pausedEverywhere: everywhere }: Stops): void => {
    if (
      since?.getTime() === known.since?.getTime() &&
      everywhere?.getTime() === known.everywhere?.getTime()
    )
      return
    Object.assign(known, { since, everywhere })
    changed()
  }
  return {
    get since() {
      return known.since
    },
    get everywhere() {
      return known.everywhere
    },
    get isStopped() {
      return (known.since ?? known.everywhere) !== null
    },
    get keepsObjects() {
      return known.keepsObjects
    },
    saw,
    read({ keepsObjects, ...stops }) {
      known.keepsObjects = keepsObjects
      saw(stops)
    },
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
  hold: HoldWatch
  followers?: Followers
  meter?: Meter | undefined
  /** Undefined: there are no traces. */
  tracer?: Tracer | undefined
  mailbox?: MailboxOptions
  /** How long a caller waits for a lane before it gets the record as it is. */
  replyWithinMs: number
}

/**
 * Another process owns the tenant, or this one has lost its lease. Nothing of the letter happened.
 */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}

/** Something urgent was waiting, and deciding the letter took too long. Nothing of it happened. */
export class GaveWay extends Error {
  override readonly name = 'GaveWay'
}
