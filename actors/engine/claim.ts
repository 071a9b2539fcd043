/** Claims a due row of work for its lane. */
import type { Sql } from '#store/engine/db'
import type { Gate, Provenance } from '#store/engine/letter'
import { claimWork, type KeyedWork, type NextDue, type Work, type WorkTable, waitingForPlace } from '#store/engine/work'
import { markTried } from '#store/engine/work-writes'
import { endInVain, NoLane, restOf } from './failure.ts'
import type { AnyLane, Claimed } from './lane.ts'
import type { Decision } from './letter.ts'

export const byTimer: Provenance = { principal: { kind: 'system', id: 'timer' }, surface: 'timer' }

/** Claimed work, ready for its lane. */
export interface LaneStart {
  work: KeyedWork
  lane: AnyLane
  job: unknown
  /** Monotonic time. */
  claimedAt: number
}

/** A lane to start, if there is one; or a row that was not claimed, because it must be claimed alone, or was only marked. */
export interface ClaimReply {
  start?: LaneStart
  put?: Work
}

/** How a letter that claims shares its transaction. */
export interface Manner {
  /** With no other letter. */
  alone: boolean
  /** The process before died, perhaps by a claim: each row is marked before it is claimed, so that the next process would know. */
  careful: boolean
}

export interface Claiming {
  gate: Gate
  /** The incarnation of this process. */
  owner: string
  /** Monotonic time, before the claim is written. */
  claimedAt: number
  lanes: ReadonlyMap<string, AnyLane>
  kinds: Pick<WorkTable, 'inVain'>
  manner: Manner
  /** Whether a row may run beside the mailbox. */
  hasPlace(work: KeyedWork): boolean
}

/** Decides the claim of what a look has found. */
export const claimFound = async (claiming: Claiming & { sql: Sql }, next: NextDue): Promise<Decision<ClaimReply>> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
  const lane = claiming.lanes.get(work.kind)
  if (!lane) throw new NoLane(`no lane for work of kind ${work.kind}`)
  const put = putOff(claiming, next, work)
  if (put) return put
  const { sql, gate } = claiming
  const ended = await endInVain(claiming, lane, { sql, gate, work })
  return begun(claiming, next, { work, lane, claimed: ended ? { decision: ended } : await lane.claim(sql, gate, work, loaded) })
}

/** A row that has failed is claimed alone; so is one that a process may have died of, once it is marked. Undefined: it can be claimed now. */
const putOff = ({ gate, owner, kinds, manner }: Claiming, { rest }: NextDue, work: Work): Decision<ClaimReply> | undefined => {
  const isMarked = work.tried_by === owner
  const isSuspect = work.failures > 0 || (work.tried_by !== null && !isMarked)
  if (!manner.alone && (manner.careful || isSuspect)) return { reply: { put: work }, looked: { next: rest, rest } }
  if (!manner.careful || isMarked) return undefined
  // It was marked by a process that died before it had claimed it.
  if (work.tried_by !== null) {
    const requeued = [restOf(kinds, work, { failed: 1, now: gate.now })]
    return { reply: { put: work }, effects: { requeued }, looked: { next: rest, rest } }
  }
  return { reply: { put: work }, effects: { writes: [markTried(work.id, owner)] }, looked: { next: 0, rest: 0 } }
}

/** The same before the changes of the letter that made room are written; undefined if its lane must see them. */
export const claimAhead = async (claiming: Claiming, next: NextDue): Promise<Decision<ClaimReply> | undefined> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
  if (work.failures > 0 || work.tried_by !== null) return undefined
  const lane = claiming.lanes.get(work.kind)
  const claimed = loaded && (await lane?.claimAhead?.(claiming.gate, work, loaded))
  return claimed && begun(claiming, next, { work, lane: lane!, claimed })
}

const nothingFound = ({ wait, rest }: NextDue): Decision<ClaimReply> => ({ reply: {}, looked: { next: wait, rest } })

interface Begun {
  work: KeyedWork
  lane: AnyLane
  claimed: Claimed<unknown>
}

const begun = (
  { gate, owner, claimedAt, hasPlace }: Claiming,
  { wait, rest }: NextDue,
  { work: found, lane, claimed }: Begun,
): Decision<ClaimReply> => {
  const { job, place, decision } = claimed
  // Nothing runs, so nothing waits for its end.
  if (job === undefined) return { ...decision, reply: {}, looked: { next: rest, rest } }
  const work = { ...found, place }
  if (!hasPlace(work)) return { reply: {}, effects: { requeued: [waitingForPlace(work)] }, looked: { next: rest, rest } }
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [...(decision.effects?.writes ?? []), claimWork(work, { owner, leaseUntil })]
  const start = { work: { ...work, attempt: work.attempt + 1, state: 'running' as const }, lane, job, claimedAt }
  return { ...decision, effects: { ...decision.effects, writes, claimed: work.run_at }, reply: { start }, looked: { next: wait, rest } }
}
