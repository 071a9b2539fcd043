/** The next due work of a tenant, claimed for a lane. */
import type { Clock } from '#kernel/clock'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { type Busy, claimWork, type KeyedWork, nextDue, untilNextDue, type WorkTable } from '#store/engine/work'
import type { ClaimBackoff } from './claim-backoff.ts'
import type { AnyLane } from './lane.ts'
import type { Decision } from './letter.ts'

/** A claimed work, for its lane to begin. */
export interface LaneStart {
  work: KeyedWork
  lane: AnyLane
  job: unknown
  /** Monotonic time. */
  claimedAt: number
}

/** What a look for due work gave: a lane to begin, and how long until there is more to do. */
export interface ClaimReply {
  start?: LaneStart
  /** Milliseconds; undefined: nothing waits. */
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
  /** What runs here. */
  running: KeyedWork[]
  resting: ClaimBackoff
}

/** What may not be claimed beside what runs. */
const takenBy = ({ atOnce }: WorkTable, running: KeyedWork[]): Pick<Busy, 'busy' | 'full'> => {
  const count = (kind: string, origin: KeyedWork['origin']) => running.filter((work) => work.kind === kind && work.origin === origin).length
  const full = (origin: KeyedWork['origin']) => Object.keys(atOnce).filter((kind) => count(kind, origin) >= atOnce[kind]![origin])
  return { busy: running.map(({ concurrency_key }) => concurrency_key), full: { manual: full('manual'), automatic: full('automatic') } }
}

/** Decides the claim of one work at most. `onTaken` is told which, before its lane has a word that may fail. */
export const claimNext = async (
  { sql, gate, owner, clock, lanes, kinds, running, resting }: Claiming,
  onTaken: (workId: string) => void,
): Promise<Decision<ClaimReply>> => {
  const claimedAt = clock.monotonic()
  // What runs here is left alone even if it is back in the queue, and under another key by now: it would run beside itself.
  const idle = [...resting.ids(), ...running.map(({ id }) => id)]
  const view = { kinds, now: gate.now, ...takenBy(kinds, running), paused: gate.paused, resting: idle }
  const work = await nextDue(sql, view)
  if (!work) return { reply: { next: resting.until(await untilNextDue(sql, view)) } }
  onTaken(work.id)
  const lane = lanes.get(work.kind)
  if (!lane) throw new Error(`no lane for work of kind ${work.kind}`)
  const { job, decision } = await lane.claim(sql, gate, work)
  if (job === undefined) return { ...decision, reply: { next: 0 } }
  const next = resting.until(await untilNextDue(sql, { ...view, ...takenBy(kinds, [...running, work]), resting: [...idle, work.id] }))
  const leaseUntil = new Date(gate.now.getTime() + lane.leaseMs)
  const writes = [...(decision.effects?.writes ?? []), claimWork(work, { owner, leaseUntil })]
  const claimed: KeyedWork = { ...work, attempt: work.attempt + 1, state: 'running' }
  return { ...decision, effects: { ...decision.effects, writes }, reply: { start: { work: claimed, lane, job, claimedAt }, next } }
}
