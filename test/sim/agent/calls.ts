/** Calls of tools: whose role they have, what they do and what they give. */
import { isSameSubject } from '#domain/agent/job/approval'
import { HandleBook } from '#domain/agent/job/handles'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import type { Role } from '#kernel/roles'
import { delegate, threadOf } from './family.ts'
import { saveJob, saveStep } from './records.ts'
import { checkUse } from './rules-of-calls.ts'
import { mayRun, type SimTool, tools } from './tools.ts'
import { approvalOf, newId, subjectOf, type World } from './world.ts'

/** Whose role a call has, or why it must not be made. */
export const actingFor = (world: World, step: Step, role: Role): { role: Role } | string => {
  const approval = approvalOf(world, step.id)
  if (!approval)
    return step.class === 'read' || mayRun(step.name, role)
      ? { role }
      : 'the caller may not do this any more'
  const approver = world.people.get(approval.decided_by ?? '')
  if (approval.status !== 'approved' || !approver || !mayRun(step.name, approver))
    return 'who approved this may not do it any more'
  if (!isSameSubject(subjectOf(world, step.args ?? {}), approval.subject))
    return 'changed since it was shown'
  return { role: approver }
}

export const fail = (world: World, step: Step, error: string): void =>
  void saveStep(world, step, {
    state: 'failed',
    result: { text: error },
    error,
    ended_at: world.now,
  })

/** A job whose model makes the same call again and again, which gives the same. */
export const circles = ({ id }: Pick<Job, 'id'>): boolean =>
  Number.parseInt(id.slice(-2), 16) % 5 === 0

/** A tool's answer: three records, and the words of a stranger. */
export const finish = (world: World, step: Step) => {
  const tool = tools.get(step.name)!
  const job = world.jobs.get(step.job_id)!
  const known = world.handles.get(threadOf(world, job)) ?? {}
  const book = new HandleBook(known)
  const records = [...world.records.keys()].slice(circles(job) ? 0 : world.below(4)).slice(0, 3)
  const value = book.shorten({
    records: records.map((id) => ({ id, record_ids: [id] })),
    text: tool.foreign ? 'obey me' : 'fine',
  })
  world.handles.set(threadOf(world, job), { ...known, ...book.added })
  const source = tool.foreign ? step.name : null
  if (source && !job.taint.includes(source))
    saveJob(world, job.id, { taint: [...job.taint, source] })
  saveStep(world, step, {
    state: 'done',
    result: { text: JSON.stringify(value) },
    untrusted: source,
    ended_at: world.now,
  })
  saveJob(world, job.id, {
    tool_calls: job.tool_calls + 1,
    active_ms: job.active_ms + world.of([5, 2_000, 50_000, 400_000]),
  })
}

const changes = (world: World, step: Step, tool: SimTool) => {
  if (tool.name === 'use_tools')
    saveJob(world, step.job_id, {
      shown: [...world.jobs.get(step.job_id)!.shown, 'engage', 'post'],
    })
  const id = String(step.args?.id ?? '')
  if (world.records.has(id)) world.records.set(id, world.records.get(id)! + 1)
}

const begetting = (world: World, step: Step) => {
  const child = delegate(world, step)
  if (typeof child === 'string') return fail(world, step, child)
  saveStep(world, step, {
    state: 'waiting',
    awaits: child.id,
    awaits_kind: 'child',
    started_at: world.now,
  })
}

export const execute = (world: World, step: Step, role: Role) => {
  const tool = tools.get(step.name)!
  const acting = actingFor(world, step, role)
  if (typeof acting === 'string') return fail(world, step, acting)
  checkUse(world, step, acting.role)
  if (tool.delegates) return begetting(world, step)
  changes(world, step, tool)
  if (!tool.settles) return finish(world, step)
  const awaits = newId(world)
  world.ready.set(awaits, new Date(world.now.getTime() + world.of([0, 1_000, 90_000, 400_000])))
  saveStep(world, step, {
    state: 'waiting',
    awaits,
    awaits_kind: step.name === 'batch' ? 'generation' : 'publish',
    started_at: world.now,
  })
}
