/**
 * Rows of work that fail by their own fault: who is blamed for a failure, the letters that count it
 * in the row, and what becomes of a row that has failed too often. No row is claimed for ever.
 */
import { isUnavailable } from '#kernel/errors'
import type { Log } from '#kernel/log'
import { isTimedOut } from '#store/engine/db'
import type { Effects, Provenance } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { countFailures, type InVain, type Work, type WorkTable, workPart } from '#store/engine/work'
import { GaveWay, RETRY_MS, restAfter, type Trouble } from './deps.ts'
import type { AnyLane, Claiming } from './lane.ts'
import type { Decision, Letter } from './letter.ts'

/** Another version of the server added the row, so the row is not at fault. */
export class NoLane extends Error {
  override readonly name = 'NoLane'
}

/** A row that is being decided. */
export interface Suspected {
  /** Whether the letter has asked its lane and got no answer yet. */
  deciding?: boolean
  /** When it asked, by `performance.now()`. */
  since?: number
  /** How long the answer took. */
  took?: number
}

/** As far as can be seen, the row kept the process busy, whatever else happened. */
export class KeptBusy extends Error {
  override readonly name = 'KeptBusy'
}

/**
 * `sure`: the row's own error. `perhaps`: the database stopped responding while the row was being
 * decided, and deciding took long. `hardly`: the connection was lost meanwhile, or something urgent
 * was waiting. `unknown`: this version of the server does not know rows of this kind.
 */
export type Blame = 'sure' | 'perhaps' | 'hardly' | 'unknown'

/** The database ends a connection that has been idle in a transaction for two seconds. */
const LONG_MS = 1_500
export const BUSY_MS = 1_000

/**
 * Whether the failure was caused by the letter itself, not by a database that was unreachable or
 * busy.
 */
export const isItsOwn = (cause: unknown): boolean => !isUnavailable(cause) || isTimedOut(cause)

/**
 * Whether the process was kept busy while the row was being decided. No error reports this; it
 * shows as a lost connection or a lost lease.
 */
export const keptBusy = (
  { deciding, since = 0, took = 0 }: Suspected,
  { loop }: Pick<Trouble, 'loop'>,
): boolean =>
  (deciding || took >= BUSY_MS) &&
  loop.busyIn(since, deciding ? undefined : since + took) >= BUSY_MS

/** Undefined if the row is not to blame. */
export const blameFor = (
  cause: unknown,
  { deciding, since = 0, took = 0 }: Suspected,
): Blame | undefined => {
  if (cause instanceof GaveWay) return 'hardly'
  if (cause instanceof NoLane) return 'unknown'
  if (isItsOwn(cause)) return 'sure'
  // The database has meanwhile ended the session.
  if (!deciding) return took >= LONG_MS ? 'perhaps' : undefined
  return performance.now() - since >= LONG_MS ? 'perhaps' : 'hardly'
}

/** How many failures of a row that was claimed alone prove that it is at fault. */
const CONVICTING: Record<Exclude<Blame, 'unknown'>, number> = { sure: 1, perhaps: 2, hardly: 3 }

/**
 * Whether this many failures in a row, the last of them alone, are the row's own fault. A row that
 * has failed before needs no further proof.
 */
export const isConvicted = (
  blame: keyof typeof CONVICTING,
  { strikes, work }: { strikes: number; work: Pick<Work, 'failures'> },
): boolean => strikes >= (work.failures > 0 && blame === 'perhaps' ? 1 : CONVICTING[blame])

const HOUR_MS = 3_600_000
const usual: InVain = { most: 3, end: 'rests' }

/** If ending the row fails this often, the row is removed without it. */
const ENDINGS = 3

export const inVainOf = (
  { inVain }: Pick<WorkTable, 'inVain'>,
  { kind }: Pick<Work, 'kind'>,
): InVain => inVain[kind] ?? usual

/** At most the number that ends the row. Any more would count as failures of its end. */
const countable = (kinds: Pick<WorkTable, 'inVain'>, work: Work, failed: number): number =>
  Math.min(failed, Math.max(1, inVainOf(kinds, work).most - work.failures))

/** How long the row rests after `failed` further failures. `dueAt`: when it is due after that. */
export const restOf = (
  kinds: Pick<WorkTable, 'inVain'>,
  work: Work,
  { failed: all, now, dueAt = work.run_at }: { failed: number; now: Date; dueAt?: Date },
): NonNullable<Effects['requeued']>[number] & { failed: number } => {
  const failed = countable(kinds, work, all)
  const failures = work.failures + failed
  const { most, end } = inVainOf(kinds, work)
  const rest =
    failures < most
      ? restAfter(failures)
      : end === 'rests'
        ? HOUR_MS
        : failures === most
          ? 0
          : RETRY_MS
  return {
    id: work.id,
    runAt: new Date(Math.max(now.getTime() + rest, dueAt.getTime())),
    failed,
    dueAt,
  }
}

interface Deps {
  kinds: Pick<WorkTable, 'inVain'>
  log: Log
}

const byFailure: Provenance = { principal: { kind: 'system', id: 'timer' }, surface: 'timer' }

/**
 * Counts in a transaction of its own, so that nothing is counted while the database accepts
 * nothing. A queued row then rests.
 */
export const countLetter = (
  { kinds }: Pick<Deps, 'kinds'>,
  work: Work,
  failed: number,
): Letter<boolean> => ({
  name: 'work.failed',
  priority: 'background',
  alone: true,
  awaited: true,
  provenance: byFailure,
  async decide(sql, { now }) {
    const { current } = await loadNow(sql, { current: workPart(work.id) })
    // Meanwhile the row has changed.
    if (current?.state !== work.state || current.attempt !== work.attempt) return { reply: false }
    if (current.state === 'running')
      return {
        reply: true,
        effects: { writes: [countFailures(work.id, countable(kinds, current, failed))] },
      }
    return { reply: true, effects: { requeued: [restOf(kinds, current, { failed, now })] } }
  },
})

/** Logs, for operators, that a row has failed as often as it may. */
export const logFailed = (
  { kinds, log }: Deps,
  tenant: string,
  work: Work,
  { failures, cause }: { failures: number; cause: unknown },
): void => {
  const { most, end } = inVainOf(kinds, work)
  if (failures < most) return
  const says =
    end === 'rests'
      ? 'work fails again and again, and rests for an hour each time'
      : 'work has failed too often, and ends'
  log.error(
    { err: cause, kind: work.kind, ref: work.ref_id, work: work.id, failures, workspace: tenant },
    says,
  )
}

/**
 * The end of a row that has failed as often as it may. Undefined if it must go on, and is tried
 * again.
 */
export const endInVain = async (
  { kinds }: Pick<Deps, 'kinds'>,
  lane: AnyLane,
  { sql, gate, work }: Claiming,
): Promise<Decision<void> | undefined> => {
  const { most, end } = inVainOf(kinds, work)
  if (end === 'rests' || work.failures < most) return undefined
  return work.failures < most + ENDINGS ? lane.givenUp?.(sql, gate, work) : dropWork(work)
}

/** Not even the row's end can be decided: only the row is removed, and the audit records it. */
const dropWork = (work: Work): Decision<void> => ({
  reply: undefined,
  effects: {
    settled: [work.id],
    audit: {
      operation: 'work.dropped',
      refId: work.ref_id,
      detail: { kind: work.kind, failures: work.failures },
    },
  },
  answers: [{ refId: work.ref_id, with: 'late' }],
})
