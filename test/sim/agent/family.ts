/** What must hold of the children of jobs, said without the functions under test. */
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import { count, hold, note, stepsOf, type World } from './world.ts'

const OVER = ['completed', 'failed', 'cancelled']
const isOpen = ({ status }: Job): boolean => !OVER.includes(status)

export const treeOf = (world: World, root: string): Job[] =>
  [...world.jobs.values()].filter(({ root_id }) => root_id === root)

export const callsOfTree = (world: World, { root_id }: Job): number =>
  treeOf(world, root_id).reduce((calls, { model_calls }) => calls + model_calls, 0)

/** All open jobs below a job. */
export const openBelow = (world: World, id: string): Job[] =>
  [...world.jobs.values()]
    .filter((one) => one.parent_id === id)
    .flatMap((one) => [...(isOpen(one) ? [one] : []), ...openBelow(world, one.id)])

interface Delegated {
  parent: Job
  child: Job
  /** Those that its parent asks for. */
  tools: readonly string[]
}

export const checkNewChild = (world: World, { parent, child, tools }: Delegated) => {
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
}

const isGiven = (name: string, parent: Job, { depth }: Job): boolean =>
  (parent.tools === null || parent.tools.includes(name)) && (name !== 'delegate' || depth < 3)

/** A job is over, for which a step of its parent has waited. */
export const checkHeard = (world: World, child: Job, { id, job_id }: Step) => {
  const [job, step] = [world.jobs.get(job_id)!, world.steps.get(id)!]
  note(world, job_id, { tool_calls: 1 })
  const words = String(child.output?.text ?? '')
  count(world, `heard of a child that is ${child.status}`)
  hold(world, world.work.get(job_id)! <= world.now, 'a parent does not go on')
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
