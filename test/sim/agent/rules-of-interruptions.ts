/** What must hold after deaths, stops and failures in vain, and while nobody pays. */
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { count, hold, note, type World } from './world.ts'

const WEEK_MS = 7 * 24 * 3_600_000

const isOut = ({ state, class: of }: Step): boolean => state === 'running' && of === 'outside_write'

const checkEnded = (world: World, { id }: Job, steps: readonly Step[]) => {
  const { status, error } = world.jobs.get(id)!
  const isOver = steps.some(({ kind }) => kind === 'model')
  hold(world, (status === 'failed') === isOver, `a job is ${status} without ${steps[0]?.kind}`)
  hold(world, !isOver || error === 'enqueue_failed', `it fails as ${error}`)
}

/** A tool has failed for good: its job goes on. What may have gone out is not known. */
const checkGivenUp = (world: World, before: Step) => {
  const { state } = world.steps.get(before.id)!
  const expected = isOut(before) ? 'unknown' : 'failed'
  count(world, `given up ${before.kind}`)
  hold(world, state === expected, `a step that was given up is ${state}`)
  if (before.kind === 'tool' && state === 'failed') note(world, before.job_id, { tool_calls: 1 })
}

/** Each is tried three times, but what may have gone out only once. */
export const checkDied = (world: World, job: Job, steps: readonly Step[]) => {
  for (const before of steps) {
    const { state, attempt, tries } = world.steps.get(before.id)!
    hold(world, attempt === before.attempt + 1, `a step has died ${attempt} times`)
    if (isOut(before) || before.attempt >= 2) {
      checkGivenUp(world, before)
      continue
    }
    hold(world, state === 'ready', `a step whose process died is ${state}`)
    hold(world, tries.length === before.tries.length + 1, 'a try is forgotten')
  }
  checkEnded(
    world,
    job,
    steps.filter(({ attempt }) => attempt >= 2),
  )
}

/** Nobody knows what to blame where there is no step. */
export const checkInVain = (world: World, job: Job, steps: readonly Step[]) => {
  for (const one of steps) checkGivenUp(world, one)
  if (steps.length > 0) return checkEnded(world, job, steps)
  const { status, error } = world.jobs.get(job.id)!
  hold(world, status === 'failed' && error === 'enqueue_failed', `a job is ${status} in vain`)
}

/** An orderly stop costs a step nothing. */
export const checkStopped = (world: World, steps: readonly Step[]) => {
  for (const before of steps) {
    const { state, attempt } = world.steps.get(before.id)!
    hold(world, state === 'ready' && attempt === before.attempt, `a stopped step is ${state}`)
  }
}

/** It waits a week for billing. */
export const checkHeld = (world: World, before: Job) => {
  const { status, held_since, error } = world.jobs.get(before.id)!
  const due = world.work.get(before.id)
  hold(world, error === 'plan_invalid:trial_expired', `a job that is not paid for says ${error}`)
  if (before.held_since !== null && +world.now - +before.held_since >= WEEK_MS)
    return hold(world, status === 'failed', `after a week it is ${status}`)
  count(world, 'held')
  hold(world, status === 'queued' && held_since !== null, `before a week is over it is ${status}`)
  hold(
    world,
    +held_since! === +(before.held_since ?? world.now) && due! > world.now,
    'it does not wait',
  )
}
