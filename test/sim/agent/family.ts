/**
 * Children of jobs: made, heard and called off as the pure functions say; and what must hold of
 * them, said without those.
 */
import { newChild, requireRoomForChild } from '#domain/agent/job/delegation'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { stepOf } from '#domain/agent/job/transition'
import { temptations } from './tools.ts'
import { count, hold, newId, stepsOf, type World } from './world.ts'

const OVER = ['completed', 'failed', 'cancelled']
const isOpen = ({ status }: Job): boolean => !OVER.includes(status)

const treeOf = (world: World, root: string): Job[] =>
  [...world.jobs.values()].filter(({ root_id }) => root_id === root)

export const callsOfTree = (world: World, { root_id }: Job): number =>
  treeOf(world, root_id).reduce((calls, { model_calls }) => calls + model_calls, 0)

/** The conversation whose names of records a job uses. */
export const threadOf = (world: World, { root_id }: Job): string =>
  world.jobs.get(root_id)!.conversation_id!

/** The child that a step waits for from now on; a refusal, if there may be none. */
export const delegate = (world: World, { id: stepId, job_id }: Step): Job | string => {
  const parent = world.jobs.get(job_id)!
  try {
    requireRoomForChild(treeOf(world, parent.root_id).length - 1)
  } catch (cause) {
    return String(cause)
  }
  const tools = temptations.filter(() => world.next() < 0.7)
  const asked = {
    stepId,
    goal: 'do a part of it',
    tools,
    mostSteps: world.of([null, null, 1, 3]),
    now: world.now,
  }
  const child = newChild(newId(world), parent, asked)
  count(world, `child at depth ${child.depth}`)
  hold(
    world,
    child.tools!.join() === tools.filter((name) => isGiven(name, parent, child)).join(),
    `a child has ${child.tools}`,
  )
  hold(
    world,
    parent.taint.every((source) => child.taint.includes(source)),
    'a child does not know what its parent has read',
  )
  world.jobs.set(child.id, child)
  world.work.set(child.id, world.now)
  return child
}

const isGiven = (name: string, parent: Job, { depth }: Job): boolean =>
  (parent.tools === null || parent.tools.includes(name)) && (name !== 'delegate' || depth < 3)

/** A job is over: its parent hears of it. */
export const tellParent = (world: World, child: Job) => {
  const parent = child.parent_id === null ? undefined : world.jobs.get(child.parent_id)!
  const step = child.parent_step_id === null ? undefined : world.steps.get(child.parent_step_id)!
  if (!parent || !isOpen(parent) || step?.state !== 'waiting') return
  const facts = { now: world.now, newId: () => newId(world) }
  const { job, steps } = stepOf(parent, { kind: 'child', step, child }, facts)
  const after = { job, step: steps[0]! }
  world.jobs.set(parent.id, after.job)
  world.steps.set(step.id, after.step)
  world.work.set(parent.id, world.now)
  checkAnswer(world, child, after)
}

const checkAnswer = (world: World, child: Job, { job, step }: { job: Job; step: Step }) => {
  const words = String(child.output?.text ?? '')
  count(world, `heard of a child that is ${child.status}`)
  hold(
    world,
    (step.state === 'done') === (child.status === 'completed'),
    `a child that is ${child.status} makes a step that is ${step.state}`,
  )
  if (step.state === 'done')
    hold(world, step.result!.text === words.slice(0, 8_000), 'another answer than the child gave')
  hold(
    world,
    step.result_cut === (step.state === 'done' && words.length > 8_000),
    'an answer that is cut without a word',
  )
  hold(
    world,
    child.taint.every((source) => job.taint.includes(source)),
    'what a child has read is forgotten',
  )
  hold(
    world,
    child.taint.length > 0 === (step.untrusted !== null),
    'the words of strangers come through a child',
  )
}

export const openBelow = (world: World, id: string): Job[] =>
  [...world.jobs.values()].filter((one) => one.parent_id === id && isOpen(one))

/** After each step of the history. */
export const checkFamilies = (world: World) => {
  for (const job of world.jobs.values()) {
    if (job.parent_id === null) {
      hold(
        world,
        callsOfTree(world, job) <= 6,
        `${callsOfTree(world, job)} calls of the model in a tree`,
      )
      hold(world, treeOf(world, job.id).length <= 9, 'more than eight children')
      continue
    }
    checkChild(world, job)
  }
  for (const step of world.steps.values()) {
    if (step.state !== 'waiting' || step.awaits_kind !== 'child') continue
    hold(world, isOpen(world.jobs.get(step.awaits!)!), 'a step waits for a child that is over')
  }
}

const checkChild = (world: World, child: Job) => {
  const parent = world.jobs.get(child.parent_id!)!
  const same =
    child.on_behalf === parent.on_behalf &&
    child.origin === parent.origin &&
    child.scheduled === parent.scheduled
  hold(world, same && child.root_id === parent.root_id, 'a child is not of its parent')
  hold(
    world,
    child.depth === parent.depth + 1 && child.depth <= 3,
    `a child at depth ${child.depth}`,
  )
  hold(
    world,
    child.model_calls <= (child.most_steps ?? 6),
    `a child of ${child.most_steps} steps makes ${child.model_calls}`,
  )
  if (!isOpen(child)) return
  const step = world.steps.get(child.parent_step_id!)!
  hold(
    world,
    isOpen(parent) && step.state === 'waiting' && step.awaits === child.id,
    'nobody waits for a child',
  )
  hold(
    world,
    stepsOf(world, parent.id).every(({ state }) => state !== 'running'),
    'a parent runs while it waits',
  )
}
