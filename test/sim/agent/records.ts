/** Jobs and steps as they are written, and the end of a job. */
import { concludeJob, type Job } from '#domain/agent/job/job'
import type { JobEnd } from '#domain/agent/job/loop'
import { isFinished, newStep, type Step } from '#domain/agent/job/step'
import { openBelow, tellParent } from './family.ts'
import { count, newId, stepsOf, type World } from './world.ts'

export const saveJob = (world: World, id: string, patch: Partial<Job>): Job => {
  const job = { ...world.jobs.get(id)!, ...patch, updated_at: world.now }
  world.jobs.set(id, job)
  return job
}

export const saveStep = (world: World, step: Step, patch: Partial<Step>): Step => {
  const saved = { ...step, ...patch, updated_at: world.now }
  world.steps.set(step.id, saved)
  return saved
}

export const addStep = (
  world: World,
  jobId: string,
  made: Pick<Step, 'kind' | 'name' | 'state'> & Partial<Step>,
): Step => {
  const { next_step } = world.jobs.get(jobId)!
  saveJob(world, jobId, { next_step: next_step + 1 })
  const step = newStep({ id: newId(world), job_id: jobId, number: next_step, ...made }, world.now)
  world.steps.set(step.id, step)
  return step
}

/** The first job of the conversation that has not begun may begin. */
export const giveWay = (world: World, { id, conversation_id }: Job) => {
  if (conversation_id === null) return
  const next = [...world.jobs.values()].find(
    (one) => one.conversation_id === conversation_id && one.id !== id && one.status === 'queued',
  )
  if (next) world.work.set(next.id, world.now)
}

export const endJob = (world: World, id: string, end: JobEnd) => {
  const job = concludeJob(world.jobs.get(id)!, end, world.now)
  world.jobs.set(id, job)
  world.ended.push(id)
  world.work.delete(id)
  count(world, `end ${end.status} ${end.error ?? ''}`)
  giveWay(world, job)
  for (const below of openBelow(world, id))
    endJob(world, below.id, { status: 'cancelled', error: null })
  tellParent(world, job)
  if (end.status === 'completed') return
  for (const step of stepsOf(world, id)) {
    if (isFinished(step)) continue
    const isOut = step.state === 'running' && step.class === 'outside_write'
    saveStep(world, step, { state: isOut ? 'unknown' : 'cancelled', ended_at: world.now })
  }
  const how = end.error === 'approval_expired' ? 'expiry' : 'cancel'
  for (const approval of world.approvals.values())
    if (approval.job_id === id && approval.status === 'pending')
      world.approvals.set(approval.id, {
        ...approval,
        status: 'rejected',
        decided_how: how,
        decided_at: world.now,
      })
}
