/**
 * The end of a lane: its outcome, and the letters that settle it or settle the work of a dead
 * process.
 */
import type { Clock } from '#kernel/clock'
import { type Log, withFields } from '#kernel/log'
import type { Provenance } from '#store/engine/letter'
import { type Load, loadNow } from '#store/engine/load'
import { type Work, type WorkTable, workPart } from '#store/engine/work'
import { uncountedFailures } from './claim.ts'
import type { Trouble } from './deps.ts'
import { endInVain, restOf, type Suspected } from './failure.ts'
import type { AnyLane, LaneContext } from './lane.ts'
import type { Decision, Letter, Sequel } from './letter.ts'
import type { Meter } from './meter.ts'

/** A lane that ran, with its job and its outcome. */
export interface Finished {
  work: Work
  job: unknown
  outcome: unknown
  /** How often the letter that settles it has failed by its own fault. */
  failures: number
  /**
   * Set if the process was kept busy while it ran or was being settled: how many failures that adds
   * to the row.
   */
  busy?: { failed: number }
  /** The context of its span, if there are traces. */
  trace?: string | undefined
}

const byLane: Provenance = { principal: { kind: 'system', id: 'lane' }, surface: 'lane' }

const byLaneIn = (trace: string | undefined): Provenance =>
  trace === undefined ? byLane : { ...byLane, trace }

interface Watch {
  clock: Clock
  log: Log
  meter?: Meter | undefined
  /** Stops the lane for good. */
  abort(reason: Error): void
}

/**
 * The lane's outcome, or the lane's outcome for a failure. A lane that outlasts its claim is
 * aborted and counts as failed, so that no mistake can hold its key for ever.
 */
export const outcomeOf = async (
  lane: AnyLane,
  { work, job, trace }: Pick<Finished, 'work' | 'job' | 'trace'>,
  context: LaneContext,
  watch: Watch,
): Promise<unknown> => {
  const late = Promise.withResolvers<never>()
  using _timer = watch.clock.after(lane.leaseMs, () => {
    const reason = new Error(`the lane ${lane.kind} took longer than ${lane.leaseMs} ms`)
    watch.abort(reason)
    late.reject(reason)
  })
  const fields = {
    workspace: context.tenantId,
    kind: work.kind,
    ref: work.ref_id,
    ...lane.logFields?.(job),
    ...(trace === undefined ? {} : { trace }),
  }
  const running = withFields(fields, async () => lane.run(job, context))
  try {
    return await Promise.race([running, late.promise])
  } catch (cause) {
    // The loser of the race may still fail later, when nobody is listening.
    running.catch(() => {})
    watch.meter?.work(work.kind, 'crashed')
    watch.log.error({ err: cause, ...fields }, 'a lane failed')
    return lane.crashed(cause)
  }
}

/** Its reply says whether the row goes on. */
export const outcomeLetter = (
  kinds: Pick<WorkTable, 'inVain'>,
  lane: AnyLane,
  { work, job, outcome, failures, busy, trace }: Finished,
): Letter<boolean> => {
  const load: Load = { ...lane.load?.({ work, job, outcome }), current: workPart(work.id) }
  const letter: Letter<boolean, Load> = {
    name: `${lane.kind}.settle`,
    priority: lane.priority,
    // It must not make the letters of others fail again.
    alone: failures > 0,
    provenance: byLaneIn(trace),
    load,
    async decide(sql, gate, _lanes, loaded) {
      const current = loaded.current as Work | undefined
      // Another letter settled it, perhaps this one in a commit whose result was lost.
      if (!current) return { reply: false, answers: [{ refId: work.ref_id, with: 'late' }] }
      // The work was queued or claimed again: callers wait for that run, and this outcome is stale.
      if (current.state !== 'running' || current.attempt !== work.attempt) return { reply: true }
      const decision = await lane.settle(
        sql,
        gate,
        { work: current, job, outcome, failures },
        loaded,
      )
      const reply = decision.effects?.requeued?.some(({ id }) => id === work.id) ?? false
      return {
        ...(busy ? letRest(decision, current, { ...busy, kinds, now: gate.now }) : decision),
        reply,
      }
    },
  }
  return letter as unknown as Letter<boolean>
}

/** If the row goes on, it rests first. */
const letRest = (
  { effects = {}, ...decision }: Decision<void>,
  work: Work,
  { kinds, failed, now }: { kinds: Pick<WorkTable, 'inVain'>; failed: number; now: Date },
): Decision<void> => {
  const requeued = effects.requeued?.map((row) => {
    if (row.id !== work.id) return row
    const rests = restOf(kinds, work, { failed, now, dueAt: row.runAt })
    return { ...row, ...rests }
  })
  return { ...decision, effects: { ...effects, ...(requeued ? { requeued } : {}) } }
}

/**
 * One try to settle. Even after it has failed for its sender, its letter may still be being
 * decided.
 */
export interface LaneTrial extends Suspected {
  over: boolean
}

const watchLetter = <R>(letter: Letter<R>, trial: Suspected): Letter<R> => ({
  ...letter,
  async decide(...given) {
    trial.since = performance.now()
    trial.deciding = true
    const decision = await letter.decide(...given)
    trial.deciding = false
    trial.took = performance.now() - trial.since
    return decision
  },
})

/**
 * Wraps the letter that settles a lane: it frees the lane's key for the claim in its transaction
 * and for later letters of the group.
 */
export const freeing = <R>(
  letter: Letter<R>,
  live: { settled: boolean },
  { trial, claim }: { trial: LaneTrial; claim: Sequel<unknown> },
): Letter<R> => ({
  ...letter,
  sequel: claim,
  async decide(...given) {
    const decision = await watchLetter(letter, trial).decide(...given)
    if (!trial.over) live.settled = true
    return decision
  },
  undone: () => {
    if (!trial.over) live.settled = false
  },
})

interface Orphan {
  kinds: Pick<WorkTable, 'inVain'>
  lane: AnyLane
  work: Work
  trouble: Pick<Trouble, 'process'>
  trace?: string | undefined
}

/**
 * Settles a row whose process died, or whose outcome could not be settled, unless the row has
 * changed meanwhile or is running here. `isAgain`: that has failed before.
 */
export const orphanLetter = (
  { kinds, lane, work, trouble, trace }: Orphan,
  { runsHere, isAgain, trial }: { runsHere: () => boolean; isAgain: boolean; trial: Suspected },
): Letter<void> =>
  watchLetter(
    {
      name: `${lane.kind}.orphaned`,
      priority: 'control',
      alone: isAgain || work.failures > 0,
      provenance: byLaneIn(trace),
      async decide(sql, gate) {
        const { current } = await loadNow(sql, { current: workPart(work.id) })
        const same = current?.state === 'running' && current.attempt === work.attempt
        if (!same || runsHere()) return { reply: undefined }
        const ended = await endInVain({ kinds }, lane, { sql, gate, work: current })
        if (ended) return ended
        if (lane.orphaned) return lane.orphaned(sql, gate, current)
        // Settling it does not reset its failures.
        const failed = uncountedFailures(current, trouble)
        const isRest = current.failures + failed > 0
        const row = isRest
          ? restOf(kinds, current, { failed, now: gate.now })
          : { id: current.id, runAt: gate.now }
        return { reply: undefined, effects: { requeued: [row] } }
      },
    },
    trial,
  )
