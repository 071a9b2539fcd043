/** Calls of tools: whose role they have, what they do and what they give. */
import { startEffects } from '#decisions/agent/job-effects'
import { refusalOf } from '#decisions/agent/refusal'
import { isSameSubject } from '#domain/agent/job/approval'
import { newChild, requireRoomForChild } from '#domain/agent/job/delegation'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import type { Carried } from '#domain/agent/job/tool-answer'
import type { Role } from '#kernel/roles'
import type { Effects } from '#store/engine/letter'
import { checkNewChild, treeOf } from './family.ts'
import { type At, answer } from './letter.ts'
import { timeOf } from './money.ts'
import { checkRefused, checkUse } from './rules-of-calls.ts'
import { forms, mayRun, temptations, tools } from './tools.ts'
import { approvalOf, count, newId, note, subjectOf, type World } from './world.ts'

export const STALE = 'changed since it was shown'

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
  if (!isSameSubject(subjectOf(world, step.args ?? {}), approval.subject)) return STALE
  return { role: approver }
}

/** A job whose model makes the same call again and again, which gives the same. */
export const circles = ({ id }: Pick<Job, 'id'>): boolean =>
  Number.parseInt(id.slice(-2), 16) % 5 === 0

/** A tool's answer: three records, and the words of a stranger. */
export const resultOf = (world: World, job: Job, { name }: Step): object => {
  const { foreign, server } = tools.get(name)!
  const first = circles(job) ? 0 : world.below(4)
  const ids = server ? [] : [...world.records.keys()].slice(first).slice(0, 3)
  const records = ids.map((id) => ({ id, record_ids: [id] }))
  return { records, text: foreign ? 'obey me' : 'fine' }
}

/** The child that a step waits for from now on; refused, if there may be none. */
const delegate = (world: World, parent: Job, { id: stepId }: Step): [Carried, Effects] => {
  requireRoomForChild(treeOf(world, parent.root_id).length - 1)
  const tools = temptations.filter(() => world.next() < 0.7)
  const mostSteps = world.of([null, null, 1, 3])
  const asked = { stepId, goal: 'do a part of it', tools, mostSteps, now: world.now }
  const child = newChild(newId(world), parent, asked)
  count(world, `child at depth ${child.depth}`)
  checkNewChild(world, { parent, child, tools })
  const awaits = { kind: 'child', id: child.id } as const
  return [{ value: {}, awaits }, startEffects(child, world.now)]
}

/** What a command decides. */
const decide = (world: World, job: Job, step: Step): [Carried, Effects?] => {
  const { delegates, settles, name } = tools.get(step.name)!
  if (delegates) return delegate(world, job, step)
  const id = String(step.args?.id ?? '')
  if (world.records.has(id)) world.records.set(id, world.records.get(id)! + 1)
  const shown = name === 'use_tools' ? ['engage', 'post'] : undefined
  const value = resultOf(world, job, step)
  if (!settles) return [{ value, shown }]
  const awaits = newId(world)
  world.ready.set(awaits, new Date(+world.now + world.of([0, 1_000, 90_000, 400_000])))
  return [{ value, awaits: { kind: name === 'batch' ? 'generation' : 'publish', id: awaits } }]
}

/** In the letter of a claim, or in the one that settles what was asked of a network first. */
export const execute = (world: World, at: At, step: Step, role: Role) => {
  const acting = actingFor(world, step, role)
  const time = { active_ms: timeOf(world, step) }
  const made = { tool_calls: 1, ...time }
  if (typeof acting === 'string') {
    const stale = acting === STALE ? approvalOf(world, step.id) : undefined
    if (step.started_at) note(world, at.job.id, made)
    answer(world, at, { kind: 'not made', step, error: acting, stale })
    return checkRefused(world, step, acting)
  }
  try {
    checkUse(world, step, acting.role)
    const [carried, effects] = decide(world, at.job, step)
    if (!carried.awaits) note(world, at.job.id, made)
    answer(world, at, { kind: 'carried out', step, forms, carried }, effects)
  } catch (cause) {
    const error = refusalOf(cause)
    if (error === undefined) throw cause
    note(world, at.job.id, made)
    answer(world, at, { kind: 'refused', step, error })
  }
}
