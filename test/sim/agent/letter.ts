/** What a letter about a job knows, and what it writes. */
import { askEffects } from '#decisions/agent/asking'
import { type AroundJob, jobEffects } from '#decisions/agent/job-effects'
import type { JobChange, JobFacts } from '#domain/agent/job/change'
import type { Job } from '#domain/agent/job/job'
import type { Step, StepHead } from '#domain/agent/job/step'
import { type JobAnswer, stepOf } from '#domain/agent/job/transition'
import { type Effects, merge } from '#store/engine/letter'
import { checkHeard, openBelow } from './family.ts'
import { commit } from './rows.ts'
import { isOver } from './rules.ts'
import { rolesOf, tools } from './tools.ts'
import { approvalOf, count, hold, newId, stepsOf, threadOf, type World } from './world.ts'

export interface At extends AroundJob {
  job: Job
  facts: JobFacts
  heads: StepHead[]
}

const headsOf = (world: World, jobId: string): StepHead[] =>
  stepsOf(world, jobId).map((step) => {
    const approval = approvalOf(world, step.id)
    return {
      ...step,
      way: tools.get(step.name)?.way ?? null,
      result_hash: step.result?.text ?? null,
      expires_at: approval?.status === 'pending' ? approval.expires_at : null,
    }
  })

/** The first job of the conversation that has not begun may begin. */
const nextOf = (world: World, { id, conversation_id }: Job): string[] =>
  [...world.jobs.values()]
    .filter(
      (one) =>
        conversation_id !== null &&
        one.conversation_id === conversation_id &&
        one.id !== id &&
        one.status === 'queued' &&
        one.held_since === null,
    )
    .slice(0, 1)
    .map((one) => one.id)

export const letterOf = (world: World, id: string): At => {
  const job = world.jobs.get(id)!
  const { parent_id, parent_step_id } = job
  return {
    job,
    heads: headsOf(world, id),
    facts: { now: world.now, newId: () => newId(world), thread: threadOf(world, job) },
    work: { id },
    next: nextOf(world, job),
    parent:
      parent_id === null
        ? undefined
        : { job: world.jobs.get(parent_id), step: world.steps.get(parent_step_id!) },
    below: openBelow(world, id).map((one) => ({ ...one, work: one.id })),
  }
}

export const stepsIn = (world: World, heads: readonly { id: string }[]): Step[] =>
  heads.map(({ id }) => world.steps.get(id)!)

/** `more`: what the letter changes besides. */
export const write = (world: World, at: At, change: JobChange, more: Effects = {}): void => {
  const { asked: approvals } = change
  const asking = { approvals, approvers: [], roles: rolesOf, by: at.job.on_behalf }
  const asks = askEffects({ ...asking, publicUrl: 'https://example.com', now: world.now })
  commit(world, merge(jobEffects(change, at), asks, more))
  checkWritten(world, at)
}

/** After which a job does not go on at once. */
const WAITING = ['park', 'nothing', 'no thought', 'unpaid']

export const answer = (world: World, at: At, given: JobAnswer, more?: Effects): void => {
  write(world, at, stepOf(at.job, given, at.facts), more)
  const { id } = at.job
  const goesOn = WAITING.includes(given.kind) || isOver(world.jobs.get(id)!)
  hold(world, goesOn || world.work.get(id)! <= world.now, `after ${given.kind} it does not go on`)
}

export const checkWritten = (world: World, { job: before, next = [], parent, below = [] }: At) => {
  const job = world.jobs.get(before.id)!
  const waits = job.status.startsWith('waiting') && job.status !== before.status
  const isHeld = job.held_since !== null && before.held_since === null
  if (isOver(job) || waits || isHeld)
    for (const id of next)
      hold(world, world.work.get(id)! <= world.now, 'the next of its conversation does not begin')
  if (!isOver(job) || isOver(before)) return
  count(world, `end ${job.status} ${job.error ?? ''}`)
  for (const { id } of below)
    hold(world, world.jobs.get(id)!.status === 'cancelled', 'a job goes on below one that is over')
  if (parent?.job && !isOver(parent.job) && parent.step?.state === 'waiting')
    checkHeard(world, job, parent.step)
}
