/**
 * Rows of work that fail for reasons of their own: whom a failure is blamed on, the letters that
 * count it in the row, and what becomes of a row that has failed too often. No row is claimed for
 * ever.
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

/** Another version of the server has added the row. It is not at fault. */
export class NoLane extends Error {
  override readonly name = 'NoLane'
}

/** A row that is being decided. */
export interface Suspected {
  /** The letter has asked its lane, and has got no answer. */
  deciding?: boolean
  /** When it asked, by `performance.now()`. */
  since?: number
  /** How long the answer took. */
  took?: number
}

/** The row kept the process busy, as far as can be seen, whatever came of that. */
export class KeptBusy extends Error {
  override readonly name = 'KeptBusy'
}

/**
 * `sure`: the row's own error. `perhaps`: the database fell silent while the row was decided, and
 * that took long. `hardly`: the connection was lost meanwhile, or something urgent waited.
 * `unknown`: this version of the server does not know such rows.
 */
export type Blame = 'sure' | 'perhaps' | 'hardly' | 'unknown'

/** A database with a connection idle in a transaction ends it after two seconds. */
const LONG_MS = 1_500
export const BUSY_MS = 1_000

/**
 * Whether a failure has its cause in what was done, and not in a database that was away or busy.
 */
export const isItsOwn = (cause: unknown): boolean => !isUnavailable(cause) || isTimedOut(cause)

/**
 * Whether the process was kept busy while the row was decided. No error says so: what is seen is a
 * lost connection, or a lost lease.
 */
export const keptBusy = (
  { deciding, since = 0, took = 0 }: Suspected,
  { loop }: Pick<Trouble, 'loop'>,
): boolean =>
  (deciding || took >= BUSY_MS) &&
  loop.busyIn(since, deciding ? undefined : since + took) >= BUSY_MS

/** Undefined: the row has nothing to do with it. */
export const blameFor = (
  cause: unknown,
  { deciding, since = 0, took = 0 }: Suspected,
): Blame | undefined => {
  if (cause instanceof GaveWay) return 'hardly'
  if (cause instanceof NoLane) return 'unknown'
  if (isItsOwn(cause)) return 'sure'
  // The database has ended the session meanwhile.
  if (!deciding) return took >= LONG_MS ? 'perhaps' : undefined
  return performance.now() - since >= LONG_MS ? 'perhaps' : 'hardly'
}

/** Failures alone by which a row is found to be at fault. */
const CONVICTING: Record<Exclude<Blame, 'unknown'>, number> = { sure: 1, perhaps: 2, hardly: 3 }

/**
 * Whether so many failures in a row, of which the last was alone, are the row's own. One that has
 * failed before needs no more proof.
 */
export const isConvicted = (
  blame: keyof typeof CONVICTING,
  { strikes, work }: { strikes: number; work: Pick<Work, 'failures'> },
): boolean => strikes >= (work.failures > 0 && blame === 'perhaps' ? 1 : CONVICTING[blame])

const HOUR_MS = 3_600_000
const usual: InVain = { most: 3, end: 'rests' }

/** Where the row's end fails as often as that, the row ends without it. */
const ENDINGS = 3

export const inVainOf = (
  { inVain }: Pick<WorkTable, 'inVain'>,
  { kind }: Pick<Work, 'kind'>,
): InVain => inVain[kind] ?? usual

/** At most as many as end the row. Any further failure would count as one of its end. */
const countable = (kinds: Pick<WorkTable, 'inVain'>, work: Work, failed: number): number =>
  Math.min(failed, Math.max(1, inVainOf(kinds, work).most - work.failures))

/** The row rests after `failed` further failures; `dueAt`: it then is due by that. */
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
 * In a transaction of its own, so that nothing is counted while the database takes nothing. The row
 * rests, if it is queued.
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
    // Something else has become of the row since.
    if (current?.state !== work.state || current.attempt !== work.attempt) return { reply: false }
    if (current.state === 'running')
      return {
        reply: true,
        effects: { writes: [countFailures(work.id, countable(kinds, current, failed))] },
      }
    return { reply: true, effects: { requeued: [restOf(kinds, current, { failed, now })] } }
  },
})

/** Says to operators that a row has failed as often as it may. */
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
 * What becomes of a row that has failed as often as it may; undefined: it is tried again, for it
 * must go on.
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

/** Not even its end can be decided: only the row goes, and the audit says so. */
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
