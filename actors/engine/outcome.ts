/** The end of a lane: its outcome, and the letters that settle it or settle work of a dead process. */
import type { Clock } from '#kernel/clock'
import { type Log, withFields } from '#kernel/log'
import type { Provenance } from '#store/engine/letter'
import { type Load, loadNow } from '#store/engine/load'
import { type Work, workPart } from '#store/engine/work'
import type { AnyLane, LaneContext } from './lane.ts'
import type { Letter, Sequel } from './letter.ts'

/** A lane that ran, with its job and its outcome. */
export interface Finished {
  work: Work
  job: unknown
  outcome: unknown
  /** Of the letter that settles it, for reasons of its own. */
  failures: number
}

const byLane: Provenance = { principal: { kind: 'system', id: 'lane' }, surface: 'lane' }

interface Watch {
  clock: Clock
  log: Log
  /** Stops the lane for good. */
  abort(reason: Error): void
}

/**
 * The lane's outcome, or its own outcome for a failure. A lane that outlasts its claim is aborted and counts as failed, so that no
 * oversight can hold its key for ever.
 */
export const outcomeOf = async (
  lane: AnyLane,
  { work, job }: Pick<Finished, 'work' | 'job'>,
  context: LaneContext,
  watch: Watch,
): Promise<unknown> => {
  const late = Promise.withResolvers<never>()
  using _timer = watch.clock.after(lane.leaseMs, () => {
    const reason = new Error(`the lane ${lane.kind} took longer than ${lane.leaseMs} ms`)
    watch.abort(reason)
    late.reject(reason)
  })
  const fields = { workspace: context.tenantId, kind: work.kind, ref: work.ref_id, ...lane.trace?.(job) }
  const running = withFields(fields, async () => lane.run(job, context))
  try {
    return await Promise.race([running, late.promise])
  } catch (cause) {
    // The loser of the race may still fail later, when nobody listens.
    running.catch(() => {})
    watch.log.error({ err: cause, ...fields }, 'a lane failed')
    return lane.crashed(cause)
  }
}

export const outcomeLetter = (lane: AnyLane, { work, job, outcome, failures }: Finished): Letter<void> => {
  const load: Load = { ...lane.load?.({ work, job, outcome }), current: workPart(work.id) }
  const letter: Letter<void, Load> = {
    name: `${lane.kind}.settle`,
    priority: lane.priority,
    // It must not fail the letters of others again.
    alone: failures > 0,
    provenance: byLane,
    load,
    async decide(sql, gate, _lanes, loaded) {
      const current = loaded.current as Work | undefined
      // Settled by another letter, perhaps by this one in a commit whose result was lost.
      if (!current) return { reply: undefined, answers: [{ refId: work.ref_id, with: 'late' }] }
      // Queued or claimed again: callers wait for that run, and this outcome is stale.
      if (current.state !== 'running' || current.attempt !== work.attempt) return { reply: undefined }
      return lane.settle(sql, gate, { work: current, job, outcome, failures }, loaded)
    },
  }
  return letter as unknown as Letter<void>
}

/** One try to settle. When it has failed for its sender, its letter may still be being decided. */
export interface LaneTrial {
  over: boolean
}

/** The letter that settles a lane frees its key, for the claim beside it and for letters after it in the same group. */
export const freeing = (
  letter: Letter<void>,
  live: { settled: boolean },
  { trial, claim }: { trial: LaneTrial; claim: Sequel<unknown> },
): Letter<void> => ({
  ...letter,
  sequel: claim,
  async decide(...given) {
    const decision = await letter.decide(...given)
    if (!trial.over) live.settled = true
    return decision
  },
  undone: () => {
    if (!trial.over) live.settled = false
  },
})

/** Settles a row whose process died, unless it has changed in the meantime or is running here. */
export const orphanLetter = (lane: AnyLane, work: Work, runsHere: () => boolean): Letter<void> => ({
  name: `${lane.kind}.orphaned`,
  priority: 'control',
  provenance: byLane,
  async decide(sql, gate) {
    const { current } = await loadNow(sql, { current: workPart(work.id) })
    const same = current?.state === 'running' && current.attempt === work.attempt
    if (!same || runsHere()) return { reply: undefined }
    if (lane.orphaned) return lane.orphaned(sql, gate, current)
    return { reply: undefined, effects: { requeued: [{ id: current.id, runAt: gate.now }] } }
  },
})
