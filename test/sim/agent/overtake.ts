/** Somebody does something to a record that calls wait to change. */
import { overtakingEffects } from '#decisions/agent/overtaking'
import type { HeldCall } from '#domain/agent/job/overtaking'
import { commit } from './rows.ts'
import { isOver } from './rules.ts'
import { count, hold, type World } from './world.ts'

const waitingCalls = (world: World): HeldCall[] =>
  [...world.approvals.values()].flatMap((approval) => {
    const [job, step] = [world.jobs.get(approval.job_id), world.steps.get(approval.step_id)]
    return approval.status === 'pending' && job && step ? [{ approval, job, step }] : []
  })

/**
 * As the operation that deletes a record does, after which no call about it makes sense any more.
 * Calls that name none count as being about one.
 */
export const overtakeOne = (world: World): void => {
  const all = waitingCalls(world)
  if (all.length === 0) return
  const { subject_id } = world.of(all).approval
  const calls = all.filter(({ approval }) => approval.subject_id === subject_id)
  const own = world.next() < 0.2 ? world.of(calls).job.id : undefined
  const by = own ? ({ kind: 'agent', id: own } as const) : ({ kind: 'person', id: 'ann' } as const)
  const how = { deed: 'growth.items.remove', by, byJob: own, now: world.now } as const
  commit(world, overtakingEffects(calls, how))
  for (const call of calls) checkOvertaken(world, call, { own, by: by.id })
  if (new Set(calls.map(({ job }) => job.id)).size < calls.length) count(world, 'overtaken twice')
}

const checkOvertaken = (
  world: World,
  { approval: before, job: { id: jobId }, step: { id, name } }: HeldCall,
  { own, by }: { own: string | undefined; by: string },
) => {
  const [approval, step] = [world.approvals.get(before.id)!, world.steps.get(id)!]
  const job = world.jobs.get(jobId)!
  if (jobId === own || isOver(job))
    return hold(world, approval === before, `${name} is settled by its own job, or too late`)
  count(world, 'overtaken')
  const isMoot = approval.status === 'rejected' && approval.decided_how === 'moot'
  hold(world, isMoot && approval.decider?.id === by, `${name} is ${approval.decided_how}`)
  const { state, result } = step
  const isTold =
    result?.text.startsWith('No longer needed') && result.text.includes('Nobody refused')
  hold(world, state === 'rejected' && isTold === true, `${name} is told: ${result?.text}`)
  hold(world, world.work.get(jobId)! <= world.now, 'a job does not go on after its call is moot')
}
