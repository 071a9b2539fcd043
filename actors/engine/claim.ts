/** Claims a due row of work for its lane. */
import type { Sql } from '#store/engine/db'
import type { Gate, Provenance } from '#store/engine/letter'
import { loadNow } from '#store/engine/load'
import { claimWork, type KeyedWork, type NextDue, type Work, waitingForPlace, workPart } from '#store/engine/work'
import type { AnyLane, Claimed } from './lane.ts'
import type { Decision, Letter } from './letter.ts'

export const byTimer: Provenance = { principal: { kind: 'system', id: 'timer' }, surface: 'timer' }

/** Claimed work, ready for its lane. */
export interface LaneStart {
  work: KeyedWork
  lane: AnyLane
  job: unknown
  /** Monotonic time. */
  claimedAt: number
}

/** A lane to start, if there is one. */
export interface ClaimReply {
  start?: LaneStart
}

export interface Claiming {
  gate: Gate
  /** The incarnation of this process. */
  owner: string
  /** Monotonic time, before the claim is written. */
  claimedAt: number
  lanes: ReadonlyMap<string, AnyLane>
  /** Whether a row may run beside the mailbox. */
  hasPlace(work: Work): boolean
}

/** Decides the claim of what a look has found. */
export const claimFound = async (claiming: Claiming & { sql: Sql }, next: NextDue): Promise<Decision<ClaimReply>> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
  const lane = claiming.lanes.get(work.kind)
  if (!lane) throw new Error(`no lane for work of kind ${work.kind}`)
  return begun(claiming, next, { work, lane, claimed: await lane.claim(claiming.sql, claiming.gate, work, loaded) })
}

/** The same before the changes of the letter that made room are written; undefined if its lane must see them. */
export const claimAhead = async (claiming: Claiming, next: NextDue): Promise<Decision<ClaimReply> | undefined> => {
  const { work, loaded } = next
  if (!work) return nothingFound(next)
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
  { work, lane, claimed }: Begun,
): Decision<ClaimReply> => {
  const { job, decision } = claimed
  // Nothing runs, so nothing waits for its end.
  if (job === undefined) return { ...decision, reply: {}, looked: { next: rest, rest } }
  if (!hasPlace(work)) return { reply: {}, effects: { requeued: [waitingForPlace(work)] }, looked: { next: rest, rest } }
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [...(decision.effects?.writes ?? []), claimWork(work, { owner, leaseUntil })]
  const start = { work: { ...work, attempt: work.attempt + 1, state: 'running' as const }, lane, job, claimedAt }
  return { ...decision, effects: { ...decision.effects, writes, claimed: work.run_at }, reply: { start }, looked: { next: wait, rest } }
}

/** Tells the lane that the claim of a row failed, unless something else has become of the row since. */
export const failureLetter = (lane: AnyLane, work: KeyedWork): Letter<void> => ({
  name: `${lane.kind}.failed`,
  priority: 'background',
  alone: true,
  provenance: byTimer,
  async decide(sql, gate) {
    const { current } = await loadNow(sql, { current: workPart(work.id) })
    const isSame = current?.state === 'queued' && current.attempt === work.attempt && current.run_at.getTime() === work.run_at.getTime()
    return isSame ? lane.failed!(sql, gate, current) : { reply: undefined }
  },
})
