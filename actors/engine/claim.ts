/** Claims the next due work of a tenant for its lane. */
import type { Clock } from '#kernel/clock'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { type ClaimView, claimWork, type KeyedWork, nextDue, untilNextDue, type WorkTable } from '#store/engine/work'
import type { ClaimBackoff } from './claim-backoff.ts'
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

/** The result of looking for due work: a lane to start, and the time until there is more to do. */
export interface ClaimReply {
  start?: LaneStart
  /** In milliseconds; undefined if nothing is waiting. */
  next: number | undefined
}

interface Claiming {
  sql: Sql
  gate: Gate
  /** The incarnation of this process. */
  owner: string
  clock: Clock
  lanes: ReadonlyMap<string, AnyLane>
  kinds: WorkTable
  /** Work that runs here. */
  running: KeyedWork[]
  backoff: ClaimBackoff
}

/** The keys and kinds that running work blocks. */
const blockedBy = ({ atOnce }: WorkTable, running: KeyedWork[]): Pick<ClaimView, 'busy' | 'full'> => {
  const count = (kind: string, origin: KeyedWork['origin']) => running.filter((work) => work.kind === kind && work.origin === origin).length
  const full = (origin: KeyedWork['origin']) => Object.keys(atOnce).filter((kind) => count(kind, origin) >= atOnce[kind]![origin])
  return { busy: running.map(({ concurrency_key }) => concurrency_key), full: { manual: full('manual'), automatic: full('automatic') } }
}

/** Decides at most one claim. `onTaken` gets its id before the lane is called, which may fail. */
export const claimNext = async (
  { sql, gate, owner, clock, lanes, kinds, running, backoff }: Claiming,
  onTaken: (workId: string) => void,
): Promise<Decision<ClaimReply>> => {
  const claimedAt = clock.monotonic()
  // Work that runs here is excluded even if it was queued again, perhaps under another key: it must not run twice at once.
  const excluded = [...backoff.ids(), ...running.map(({ id }) => id)]
  const view = { kinds, now: gate.now, ...blockedBy(kinds, running), paused: gate.paused, excluded }
  const work = await nextDue(sql, view)
  if (!work) return { reply: { next: backoff.until(await untilNextDue(sql, view)) } }
  onTaken(work.id)
  const lane = lanes.get(work.kind)
  if (!lane) throw new Error(`no lane for work of kind ${work.kind}`)
  const { job, decision } = await lane.claim(sql, gate, work)
  if (job === undefined) return { ...decision, reply: { next: 0 } }
  const next = backoff.until(
    await untilNextDue(sql, { ...view, ...blockedBy(kinds, [...running, work]), excluded: [...excluded, work.id] }),
  )
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [...(decision.effects?.writes ?? []), claimWork(work, { owner, leaseUntil })]
  const claimed: KeyedWork = { ...work, attempt: work.attempt + 1, state: 'running' }
  return { ...decision, effects: { ...decision.effects, writes }, reply: { start: { work: claimed, lane, job, claimedAt }, next } }
}
