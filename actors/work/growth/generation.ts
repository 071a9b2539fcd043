/**
 * The lane of generations: the model runs beside the mailbox, and its result comes back in one
 * letter. It is the same for all kinds.
 */

import type { Ending, LaneContext, UnrepeatableLane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { failEffects, type GenerationStore, takenOf } from '#decisions/growth/generations'
import { HELD_MS, nextHeldTry } from '#domain/app/held'
import { unpaid } from '#domain/app/plan'
import {
  type Drafting,
  GENERATION_RUNS,
  holdGeneration,
  requeueGeneration,
  startGeneration,
  type TakenQuota,
} from '#domain/growth/drafting/generation'
import type { Failpoints } from '#kernel/failpoint'
import type { FairLimit } from '#kernel/fair-limit'
import { COMPOSER, type Drafter, GenerationError } from '#port/model/drafter'
import type { Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import type { Effects, Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'

export interface GenerationDeps {
  drafter: Drafter
  networks: Networks
  failpoints: Failpoints
  /** Model calls of this process, granted to tenants round-robin. */
  modelCalls: FairLimit
  /** A generation that takes longer fails. */
  deadlineMs: number
}

/**
 * The part that is specific to one kind: its brief, how it is written, and what happens with the
 * result.
 */
export interface GenerationWork<R extends Drafting, Brief, Written> {
  kind: Work['kind']
  store: GenerationStore<R>
  /** Everything it is written from, as it was at the claim. */
  brief(sql: Sql, networks: Networks, record: R, work: Work): Promise<Brief>
  write(drafter: Drafter, brief: Brief, signal: AbortSignal): Promise<Written>
  /** Whether code alone writes it, which costs nothing. */
  isFree?: true
  /** Advice in case the model takes too long. */
  tooLate: string
  delivered(record: R, written: Written, delivery: Delivery<Brief>): Promise<Effects>
}

interface Delivery<Brief> {
  sql: Sql
  brief: Brief
  taken: TakenQuota
  now: Date
  work: Work
}

type Outcome<Written> =
  | { kind: 'written'; written: Written }
  | { kind: 'failed'; error: string }
  | { kind: 'stopped' }

interface Job<Brief> {
  brief: Brief
}

export const generationLane = <R extends Drafting, Brief, Written>(
  deps: GenerationDeps,
  of: GenerationWork<R, Brief, Written>,
): Ending<UnrepeatableLane<Job<Brief>, Outcome<Written>>> => ({
  kind: of.kind,
  leaseMs: deps.deadlineMs + 30_000,
  priority: 'background',
  async claim(sql, gate, work) {
    const record = await of.store.lock(sql, work.ref_id)
    const why = of.isFree || deps.drafter.name === COMPOSER ? undefined : unpaid(gate.plan)
    if (why !== undefined) return { decision: holdForBilling({ of, gate, work }, record, why) }
    const brief = await of.brief(sql, deps.networks, record, work)
    return {
      job: { brief },
      decision: {
        reply: undefined,
        effects: { writes: [of.store.save(startGeneration(record, gate.now))] },
      },
    }
  },
  run: (job, context) => write({ ...deps, of }, job, context),
  async settle(sql, gate, { work, job, outcome }) {
    const record = await of.store.lock(sql, work.ref_id)
    if (outcome.kind === 'stopped') return queueAgain({ of, gate, work: countStop(work) }, record)
    if (outcome.kind === 'failed') return failGeneration({ of, gate, work }, record, outcome.error)
    const delivery = { sql, brief: job.brief, taken: takenOf(work), now: gate.now, work }
    return { reply: undefined, effects: await of.delivered(record, outcome.written, delivery) }
  },
  crashed: () => ({ kind: 'failed', error: 'enqueue_failed' }),
  givenUp: async (sql, gate, work) =>
    failGeneration({ of, gate, work }, await of.store.lock(sql, work.ref_id), 'enqueue_failed'),
  async orphaned(sql, gate, work) {
    const record = await of.store.lock(sql, work.ref_id)
    const died = work.attempt - stopsOf(work)
    return died >= GENERATION_RUNS
      ? failGeneration({ of, gate, work }, record, 'enqueue_failed')
      : queueAgain({ of, gate, work }, record)
  },
})

const stopsOf = (work: Work): number => Number(work.payload.stops ?? 0)

/** The row after an orderly run, which does not count as a run that died. */
const countStop = (work: Work): Work => ({
  ...work,
  payload: { ...work.payload, stops: stopsOf(work) + 1 },
})

/** Effects that continue a generation with another run and an extended payload. */
export const runAgain = (work: Work, more: Record<string, unknown>, now: Date): Effects => ({
  requeued: [{ id: work.id, runAt: now, payload: { ...countStop(work).payload, ...more } }],
})

const write = async <R extends Drafting, Brief, Written>(
  {
    drafter,
    failpoints,
    modelCalls,
    deadlineMs,
    of,
  }: GenerationDeps & { of: GenerationWork<R, Brief, Written> },
  { brief }: Job<Brief>,
  context: LaneContext,
): Promise<Outcome<Written>> => {
  await failpoints('generation.claimed')
  const deadline = AbortSignal.timeout(deadlineMs)
  try {
    const signal = AbortSignal.any([context.signal, deadline])
    const written = await modelCalls.run(context.tenantId, () => of.write(drafter, brief, signal))
    await failpoints('generation.drafted')
    return { kind: 'written', written }
  } catch (cause) {
    if (context.signal.aborted) return { kind: 'stopped' }
    if (deadline.aborted)
      return {
        kind: 'failed',
        error: `generation_failed: the model did not answer in time; ${of.tooLate}`,
      }
    if (cause instanceof GenerationError)
      return { kind: 'failed', error: `generation_failed: ${cause.hint}` }
    throw cause
  }
}

interface Settling<R extends Drafting> {
  of: { store: GenerationStore<R> }
  gate: Gate
  work: Work
}

/** An interruption is not the generation's fault: it is queued again as it was. */
const queueAgain = <R extends Drafting>(
  { of, gate, work }: Settling<R>,
  record: R,
): Decision<void> => ({
  reply: undefined,
  effects: {
    writes: [of.store.save(requeueGeneration(record, gate.now))],
    requeued: [{ id: work.id, runAt: gate.now, payload: work.payload }],
  },
})

const failGeneration = <R extends Drafting>(
  { of, gate, work }: Settling<R>,
  record: R,
  error: string,
): Decision<void> => ({
  reply: undefined,
  effects: failEffects(of.store, record, { error, now: gate.now, work }),
})

/**
 * Its model may not be paid for. It is tried again until billing is in order, and fails if that
 * takes too long.
 */
const holdForBilling = <R extends Drafting>(
  { of, gate, work }: Settling<R>,
  record: R,
  why: string,
): Decision<void> => {
  const { now } = gate
  const since =
    record.error === null ? now : new Date(String(work.payload.heldSince ?? now.toISOString()))
  if (now.getTime() - since.getTime() >= HELD_MS)
    return failGeneration({ of, gate, work }, record, why)
  const payload = { ...work.payload, heldSince: since.toISOString() }
  return {
    reply: undefined,
    effects: {
      writes: record.error === why ? [] : [of.store.save(holdGeneration(record, why, now))],
      requeued: [{ id: work.id, runAt: nextHeldTry(since, now), payload }],
    },
  }
}
