/** The end of a lane: its outcome within its time, and the letters that bring it home or settle what a dead process left. */
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'
import type { Provenance } from '#store/engine/letter'
import { type Work, workById } from '#store/engine/work'
import type { AnyLane, LaneContext } from './lane.ts'
import type { Letter } from './letter.ts'

/** A lane that runs or has run: whose work, with what, and what came of it. */
export interface Finished {
  work: Work
  job: unknown
  outcome: unknown
}

const byLane: Provenance = { principal: { kind: 'system', id: 'lane' }, surface: 'lane' }

interface Watch {
  clock: Clock
  log: Log
  /** Stops the lane for good. */
  abort(reason: Error): void
}

/**
 * What the lane gives, or what it makes of its own failure. A lane that has not ended when its claim does is aborted and
 * counts as failed, so that nothing it overlooks can hold its key for ever.
 */
export const outcomeOf = async (
  lane: AnyLane,
  { work, job }: Omit<Finished, 'outcome'>,
  context: LaneContext,
  watch: Watch,
): Promise<unknown> => {
  const late = Promise.withResolvers<never>()
  using _timer = watch.clock.after(lane.leaseMs, () => {
    const reason = new Error(`the lane ${lane.kind} took longer than ${lane.leaseMs} ms`)
    watch.abort(reason)
    late.reject(reason)
  })
  const running = (async () => lane.run(job, context))()
  try {
    return await Promise.race([running, late.promise])
  } catch (cause) {
    // The loser of the race may fail later still; nobody listens any more.
    running.catch(() => {})
    watch.log.error({ err: cause, kind: work.kind, ref: work.ref_id, tenant: context.tenantId }, 'a lane failed')
    return lane.crashed(cause)
  }
}

export const outcomeLetter = (lane: AnyLane, { work, job, outcome }: Finished): Letter<void> => ({
  name: `${lane.kind}.settle`,
  priority: lane.priority,
  provenance: byLane,
  async decide(sql, gate) {
    const current = await workById(sql, work.id)
    // Settled by another letter, perhaps by this one before its commit was heard of.
    if (!current) return { reply: undefined, answers: [{ refId: work.ref_id, with: 'late' }] }
    // Back in the queue, or claimed again: whoever waits now waits for that, and this outcome is of the past.
    if (current.state !== 'running' || current.attempt !== work.attempt) return { reply: undefined }
    return lane.settle(sql, gate, { work: current, job, outcome })
  },
})

/** One letter on its way. When its time is over it has failed for its sender, and may still be at its decision. */
export interface Trial {
  over: boolean
}

/** With the letter that settles a lane its key is free, for the letters after it in the same group too. */
export const freeing = (letter: Letter<void>, live: { settled: boolean }, trial: Trial): Letter<void> => ({
  ...letter,
  async decide(sql, gate, lanes) {
    const decision = await letter.decide(sql, gate, lanes)
    if (!trial.over) live.settled = true
    return { ...decision, due: 'check' }
  },
})

/** Settles a row whose claimer died, unless it has gone on meanwhile or runs here. */
export const orphanLetter = (lane: AnyLane, work: Work, runsHere: () => boolean): Letter<void> => ({
  name: `${lane.kind}.orphaned`,
  priority: 'control',
  provenance: byLane,
  async decide(sql, gate) {
    const current = await workById(sql, work.id)
    const same = current?.state === 'running' && current.attempt === work.attempt
    return same && !runsHere() ? lane.orphaned(sql, gate, current) : { reply: undefined }
  },
})
