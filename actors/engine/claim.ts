/** Claims a due row of work for its lane. */
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { claimWork, type KeyedWork, type NextDue } from '#store/engine/work'
import type { AnyLane } from './lane.ts'
import type { Decision } from './letter.ts'

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

interface Claiming {
  sql: Sql
  gate: Gate
  /** The incarnation of this process. */
  owner: string
  /** Monotonic time, before the claim is written. */
  claimedAt: number
  lanes: ReadonlyMap<string, AnyLane>
}

/** Decides the claim of what a look has found. */
export const claimFound = async (
  { sql, gate, owner, claimedAt, lanes }: Claiming,
  { work, wait, rest }: NextDue,
): Promise<Decision<ClaimReply>> => {
  if (!work) return { reply: {}, looked: { next: wait, rest } }
  const lane = lanes.get(work.kind)
  if (!lane) throw new Error(`no lane for work of kind ${work.kind}`)
  const { job, decision } = await lane.claim(sql, gate, work)
  // Nothing runs, so nothing waits for its end.
  if (job === undefined) return { ...decision, reply: {}, looked: { next: rest, rest } }
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [...(decision.effects?.writes ?? []), claimWork(work, { owner, leaseUntil })]
  const claimed: KeyedWork = { ...work, attempt: work.attempt + 1, state: 'running' }
  const start = { work: claimed, lane, job, claimedAt }
  return { ...decision, effects: { ...decision.effects, writes }, reply: { start }, looked: { next: wait, rest } }
}
