/** Claims a due row of work for its lane. */
import type { Tracer } from '#kernel/trace'
import type { Sql } from '#store/engine/db'
import type { Gate, Ownership, Provenance } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import type { NextDue } from '#store/engine/next-due'
import {
  claimWork,
  type KeyedWork,
  markTried,
  type Work,
  type WorkTable,
  workPart,
} from '#store/engine/work'
import { waitingForPlace } from '#store/engine/work-places'
import type { Trouble } from './deps.ts'
import { endInVain, NoLane, restOf } from './failure.ts'
import type { AnyLane, Claimed } from './lane.ts'
import type { Decision, Letter } from './letter.ts'
import type { Suspects } from './suspects.ts'
import { inItsTrace, traceOfWork, type WorkTrace } from './traced.ts'

export const byTimer: Provenance = { principal: { kind: 'system', id: 'timer' }, surface: 'timer' }

/** Claimed work, ready for its lane. */
export interface LaneStart {
  work: KeyedWork
  lane: AnyLane
  job: unknown
  /** Monotonic time. */
  claimedAt: number
  trace?: WorkTrace | undefined
}

/**
 * A row that was found but not claimed: it must be claimed alone, it was only marked, its failures
 * had to be counted, or it waits.
 */
export interface Put {
  work: Work
  /** Failures that this letter has counted in the row. */
  failed?: number
  /** The row waits until the process is older. */
  waits?: boolean
}

/** A lane to start, if any, or a row that was not claimed. */
export interface ClaimReply {
  start?: LaneStart
  put?: Put
  /** A row that its claim has settled, if there are traces. */
  decided?: { work: Work; trace: WorkTrace } | undefined
}

/** How a claiming letter shares its transaction. */
export interface Manner {
  /** It shares its transaction with no other letter. */
  alone: boolean
  /**
   * The previous process died, perhaps because of a claim. Each row is marked before it is claimed,
   * so that the next process can tell which row it was.
   */
  careful: boolean
}

export interface ClaimContext {
  gate: Gate
  own: Ownership
  tracer?: Tracer | undefined
  /** In monotonic time, just before the claim is written. */
  claimedAt: number
  lanes: ReadonlyMap<string, AnyLane>
  kinds: Pick<WorkTable, 'inVain'>
  manner: Manner
  suspects: Suspects
  trouble: Pick<Trouble, 'process' | 'calmIn'>
  /** Whether there is room for the row to run beside the mailbox. */
  hasPlace(work: KeyedWork): boolean
}

/** Decides the claim of the row that a poll found. */
export const claimFound = async (
  claiming: ClaimContext & { sql: Sql },
  next: NextDue,
): Promise<Decision<ClaimReply>> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
  const lane = claiming.lanes.get(work.kind)
  if (!lane) throw new NoLane(`no lane for work of kind ${work.kind}`)
  const put = putOff(claiming, next, work)
  if (put) return put
  const { sql, gate } = claiming
  const ended = await endInVain(claiming, lane, { sql, gate, work })
  return beginClaim(claiming, next, {
    work,
    lane,
    claimed: ended ? { decision: ended } : await lane.claim(sql, gate, work, loaded),
  })
}

/**
 * Whether the row was tried by a process that has since died or lost the workspace, and so cannot
 * report the result.
 */
const isLeft = ({ tried_by }: Work, { process }: Pick<Trouble, 'process'>): boolean =>
  tried_by !== null && tried_by !== process

/** The failures that such a try counts as. They are not in the row yet. */
export const uncountedFailures = (work: Work, trouble: Pick<Trouble, 'process'>): number =>
  isLeft(work, trouble) ? Math.max(0, work.charge) : 0

/**
 * A row that has failed is claimed alone, once its failures are counted. A row that has kept this
 * process busy, or that a process may have died of, is marked first: if that happens again, nobody
 * may be left to count it. Undefined if the row can be claimed now.
 */
const putOff = (
  claiming: ClaimContext,
  { dueIn }: NextDue,
  work: Work,
): Decision<ClaimReply> | undefined => {
  const { gate, kinds, manner, suspects, trouble } = claiming
  const [hasStalled, left, charged] = [
    suspects.hasStalled(work.id),
    isLeft(work, trouble),
    uncountedFailures(work, trouble),
  ]
  const failed = charged + suspects.owes({ ...work, failures: work.failures + charged })
  const polled = { next: dueIn, dueIn }
  if (!manner.alone && (suspects.has(work.id) || left || work.failures > 0))
    return { reply: { put: { work } }, polled }
  if (failed > 0) {
    const requeued = [restOf(kinds, work, { failed, now: gate.now })]
    return { reply: { put: { work, failed } }, effects: { requeued }, polled }
  }
  const isMarked = work.tried_by === trouble.process
  if (isMarked || !(manner.careful || left || hasStalled)) return undefined
  // Somebody may be killing one process after another, so the deaths of a few young processes say
  // little about the row. It then waits for an older process.
  const charge = chargeOf(work, suspects, trouble)
  if (charge <= -MOST_YOUNG) return { reply: { put: { work, waits: true } }, polled }
  const writes = [markTried(work.id, trouble.process, charge)]
  return { reply: { put: { work } }, effects: { writes }, polled: { next: 0, dueIn: 0 } }
}

/** How many young processes in a row may try a marked row. */
const MOST_YOUNG = 3

/**
 * How many failures the next try counts as if nobody is left to count them. A try by a young
 * process counts as none; a negative number counts the young processes that tried the row before.
 */
export const chargeOf = (
  work: Work,
  suspects: Suspects,
  trouble: Pick<Trouble, 'process' | 'calmIn'>,
): number => {
  if (trouble.calmIn() === 0) return 1 + suspects.stalls(work.id)
  return isLeft(work, trouble) ? Math.min(0, work.charge) - 1 : 0
}

/** Marks a running row. */
export const markLetter = (work: Work, process: string, charge: number): Letter<void> => ({
  name: 'work.marked',
  priority: 'background',
  alone: true,
  provenance: byTimer,
  async decide(sql) {
    const { current } = await loadNow(sql, { current: workPart(work.id) })
    if (current?.state !== 'running' || current.attempt !== work.attempt)
      return { reply: undefined }
    return { reply: undefined, effects: { writes: [markTried(work.id, process, charge)] } }
  },
})

/**
 * The same, before the changes of the letter that made room are written. Undefined if its lane must
 * see those changes.
 */
export const claimAhead = async (
  claiming: ClaimContext,
  next: NextDue,
): Promise<Decision<ClaimReply> | undefined> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
  if (work.failures > 0 || work.tried_by !== null || claiming.suspects.has(work.id))
    return undefined
  const lane = claiming.lanes.get(work.kind)
  const claimed = loaded && (await lane?.claimAhead?.(claiming.gate, work, loaded))
  return claimed && beginClaim(claiming, next, { work, lane: lane!, claimed })
}

const nothingFound = ({ wait, dueIn }: NextDue): Decision<ClaimReply> => ({
  reply: {},
  polled: { next: wait, dueIn },
})

interface Begun {
  work: KeyedWork
  lane: AnyLane
  claimed: Claimed<unknown>
}

const beginClaim = (
  { gate, own, tracer, claimedAt, suspects, hasPlace }: ClaimContext,
  { wait, dueIn }: NextDue,
  { work: found, lane, claimed }: Begun,
): Decision<ClaimReply> => {
  const { job, place, asker } = claimed
  const trace = tracer && traceOfWork(tracer, own, found, gate.now)
  const decision = inItsTrace(claimed.decision, trace)
  // Nothing is running, so there is no end to wait for.
  if (job === undefined) {
    const decided = trace && { work: found, trace }
    return { ...decision, reply: { decided }, polled: { next: dueIn, dueIn } }
  }
  const work = { ...found, place, asker }
  if (!hasPlace(work))
    return {
      reply: {},
      effects: { requeued: [waitingForPlace(work)] },
      polled: { next: dueIn, dueIn },
    }
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [
    ...(decision.effects?.writes ?? []),
    claimWork(work, {
      owner: own.owner,
      leaseUntil,
      keepsMark: suspects.hasStalled(work.id),
      trace: trace?.kept,
    }),
  ]
  const start = {
    work: { ...work, attempt: work.attempt + 1, state: 'running' as const },
    lane,
    job,
    claimedAt,
    trace,
  }
  return {
    ...decision,
    effects: { ...decision.effects, writes, claimed: work.run_at },
    reply: { start },
    polled: { next: wait, dueIn },
  }
}
