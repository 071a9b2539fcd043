/**
 * What requests may cost before they are answered: how many of strangers are unfinished, how many credentials are being checked,
 * and how many bytes of bodies are under way. Bun calls us when the headers are there, and reads up to 1 MiB of a body ahead of
 * us whether we want it or not; so a body's room is reserved before anything is waited for, and a body that waits is bounded too.
 */
import { Budget } from '#kernel/budget'
import type { Clock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'

const KIB = 1_024
const MIB = 1_024 * KIB

export interface IntakeLimits {
  /** Bytes of bodies under way in the process. Those of strangers and of callers who are being checked have parts of their own. */
  bytes: number
  /** Of them, those of callers without a credential; from one address at most a quarter. */
  strangerBytes: number
  /** Of them, those of callers whose credential is being checked; from one address at most half. */
  uncheckedBytes: number
  /** Of the rest, those for one workspace. */
  workspaceBytes: number
  /** How long a body waits for room. */
  roomWithinMs: number
  /** How long a body may take to arrive, from its headers on. */
  bodyWithinMs: number
  /** How long a stranger's body may take where others wait for its room: less than these wait. */
  givesWayAfterMs: number
  /** Unfinished requests of an address without a credential; and as many credentials from it are checked at once. */
  unfinished: number
}

export const intakeLimits: IntakeLimits = {
  bytes: 64 * MIB,
  strangerBytes: 16 * MIB,
  uncheckedBytes: 8 * MIB,
  workspaceBytes: 32 * MIB,
  roomWithinMs: 5_000,
  bodyWithinMs: 60_000,
  givesWayAfterMs: 3_000,
  unfinished: 256,
}

/** Bodies that may wait for room in one budget. */
const WAITERS = 1_024
/** Credentials from one address that may wait to be checked. */
const CHECKS_WAITING = 2_048
const CHECKS_WITHIN_MS = 5_000
export interface IntakeParts {
  limits: IntakeLimits
  clock: Clock
  log: Log
}

/** The limits of a process, shared by all its requests. */
export class Intake {
  readonly limits: IntakeLimits
  readonly clock: Clock
  readonly log: Log
  readonly checks: FairLimit
  readonly strangers: Budget
  readonly unchecked: Budget
  readonly members: Budget
  readonly #unfinished = new Map<string, number>()

  constructor({ limits, clock, log }: IntakeParts) {
    this.limits = limits
    this.clock = clock
    this.log = log
    const { bytes, strangerBytes, uncheckedBytes, workspaceBytes, roomWithinMs, unfinished } = limits
    const share = { alone: unfinished, among: unfinished }
    const limit = Number.MAX_SAFE_INTEGER
    this.checks = new FairLimit({ limit, share, bound: CHECKS_WAITING, withinMs: CHECKS_WITHIN_MS, name: 'credential_check' })
    const budget = (total: number, of: number) =>
      new Budget({ total, share: of, waiters: WAITERS, withinMs: roomWithinMs, name: 'request bodies' }, clock)
    this.strangers = budget(strangerBytes, strangerBytes / 4)
    this.unchecked = budget(uncheckedBytes, uncheckedBytes / 2)
    this.members = budget(bytes - strangerBytes - uncheckedBytes, workspaceBytes)
  }

  /** Unfinished requests of strangers at an address. */
  unfinishedOf(address: string): number {
    return this.#unfinished.get(address) ?? 0
  }

  begin(address: string): void {
    const count = this.unfinishedOf(address)
    if (count >= this.limits.unfinished) fail('rate_limited', 'unfinished_requests', { retryAfter: 1 })
    this.#unfinished.set(address, count + 1)
  }

  finish(address: string): void {
    const left = this.unfinishedOf(address) - 1
    if (left > 0) this.#unfinished.set(address, left)
    else this.#unfinished.delete(address)
  }
}
