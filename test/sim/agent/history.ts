/**
 * One history: jobs run, people decide, processes die, clocks jump; then everything comes to rest.
 */
import { argumentsHash } from '#domain/agent/hash'
import { decide } from '#domain/agent/job/approval'
import { newTurn } from '#domain/agent/job/job'
import type { Role } from '#kernel/roles'
import { claim } from './claim.ts'
import { checkFamilies } from './family.ts'
import { checkHandles } from './money.ts'
import { endJob, saveStep } from './records.ts'
import { checkAll } from './rules.ts'
import { settle } from './settle.ts'
import { mayRun, temptations } from './tools.ts'
import { approvalOf, count, hold, newId, newWorld, subjectOf, type World } from './world.ts'

const STEPS = 150
const CONVERSATIONS = ['c1', 'c2', 'c3']
const PEOPLE = ['ann', 'bob', 'cem', 'dee']
const SECOND = 1_000
const HOUR = 3_600_000

const say = (world: World) => {
  const id = newId(world)
  const tools = world.next() < 0.8 ? null : [...temptations].filter(() => world.next() < 0.5)
  const asked = {
    conversation_id: world.of(CONVERSATIONS),
    message_id: null,
    asked_model: null,
    model: 'm',
    tier: 'fast' as const,
  }
  const on_behalf = { kind: 'session' as const, id: 's', personId: world.of(PEOPLE) }
  const goal = world.next() < 0.9 ? 'do it' : `do it with ${[...world.records.keys()][5]}`
  const turn = newTurn(id, { ...asked, on_behalf, tools, taint: [], content: goal, now: world.now })
  world.jobs.set(id, { ...turn, scheduled: world.next() < 0.2 })
  world.work.set(id, world.now)
}

/** As the operation does: a person who may run the tool decides, perhaps about other arguments. */
const judgeOne = (world: World) => {
  const all = [...world.approvals.values()]
  const person = world.of(PEOPLE)
  const role = world.people.get(person)
  const before =
    world.next() < 0.9 ? all.findLast(({ status }) => status === 'pending') : world.of(all)
  if (!before || !role || !mayRun(before.tool_name, role)) return
  const status = world.next() < 0.7 ? 'approved' : 'rejected'
  try {
    const after = decide(before, status, {
      decided_how: 'person',
      decided_by: person,
      now: world.now,
    })
    hold(world, before.status === 'pending' || after === before, 'a decision is taken twice')
    hold(world, after.status === status, `${status} becomes ${after.status}`)
    if (after === before) return
    hold(
      world,
      +after.decided_at! === +world.now && after.decided_by === person,
      'a decision of nobody',
    )
    apply(world, before.step_id, after)
  } catch {
    const isLate = status === 'approved' && before.expires_at <= world.now
    const isOther =
      before.status !== 'pending' && (before.status !== status || before.decided_how !== 'person')
    hold(world, isLate || isOther, `${status} is refused where it is ${before.status}`)
  }
}

const apply = (world: World, stepId: string, decided: ReturnType<typeof decide>) => {
  const step = world.steps.get(stepId)!
  if (step.state !== 'asked')
    return hold(world, false, `a decision about a step that is ${step.state}`)
  count(world, decided.status)
  world.work.set(step.job_id, world.now)
  if (decided.status === 'rejected') {
    world.approvals.set(decided.id, decided)
    return void saveStep(world, step, {
      state: 'rejected',
      result: world.next() < 0.5 ? { text: 'A person rejected this call: no.' } : null,
      ended_at: world.now,
    })
  }
  if (world.next() < 0.8) {
    world.approvals.set(decided.id, decided)
    return void saveStep(world, step, { state: 'ready' })
  }
  const args = { ...step.args, n: 7 }
  const edited = {
    arguments: args,
    arguments_hash: argumentsHash(args),
    edited: true,
    subject: subjectOf(world, args),
  }
  world.approvals.set(decided.id, { ...decided, ...edited })
  saveStep(world, step, { state: 'ready', args, args_hash: edited.arguments_hash })
}

const dueJobs = (world: World): string[] => {
  // One of a tree at a time.
  const rootOf = (id: string) => world.jobs.get(id)!.root_id
  const running = new Set(world.runs.map(({ job }) => rootOf(job)))
  return [...world.work].flatMap(([id, at]) =>
    +at <= +world.now && !running.has(rootOf(id)) ? [id] : [],
  )
}

const work = (world: World) => {
  const due = dueJobs(world)
  if (due.length > 0) claim(world, world.of(due), world.next() < 0.05)
}

const finishOne = (world: World, wanted = false) => {
  if (world.runs.length === 0) return
  const [run] = world.runs.splice(world.below(world.runs.length), 1)
  if (wanted || world.next() > 0.05) settle(world, run!, wanted)
}

const cancelOne = (world: World) => {
  const job = world.of([...world.jobs.values()])
  const isOpen = world.work.has(job.id)
  try {
    endJob(world, job.id, { status: 'cancelled', error: null })
    hold(world, isOpen, `a job that is ${job.status} is cancelled`)
  } catch {
    hold(world, !isOpen, `a job that is ${job.status} cannot be cancelled`)
  }
}

/** A call that is to be made later. */
const rest = (world: World) => {
  const ready = [...world.steps.values()].filter(
    ({ kind, state }) => kind === 'tool' && state === 'ready',
  )
  if (ready.length > 0)
    saveStep(world, world.of(ready), {
      not_before: new Date(+world.now + world.of([SECOND, 60 * SECOND])),
    })
}

const changeRole = (world: World) => {
  const person = world.of(PEOPLE)
  if (world.next() < 0.2) world.people.delete(person)
  else world.people.set(person, world.of<Role>(['owner', 'editor', 'approver', 'viewer']))
}

const jump = (world: World) => {
  const ms = world.of([SECOND, 20 * SECOND, 200 * SECOND, HOUR, 3 * HOUR, 26 * HOUR, -HOUR])
  world.now = new Date(+world.now + ms)
}

const setRule = (world: World) => {
  const name = world.of(temptations)
  const rule = world.of(['allow', 'allow', 'ask', 'deny', undefined] as const)
  if (rule) world.rules.set(name, rule)
  else world.rules.delete(name)
}

const act = (world: World) => {
  const chance = world.below(100)
  if (chance < 45) return work(world)
  if (chance < 72) return finishOne(world)
  if (chance < 83) return judgeOne(world)
  if (chance < 86) return say(world)
  if (chance < 88) return rest(world)
  if (chance < 94) return jump(world)
  if (chance < 95) return cancelOne(world)
  if (chance < 96) return world.runs.splice(0)
  if (chance < 97) return changeRole(world)
  if (chance < 98)
    return void world.records.set(world.of([...world.records.keys()]), 1 + world.below(9))
  setRule(world)
}

/** Nobody decides any more, models answer, and time passes: every job must end. */
const runOut = (world: World) => {
  for (let turns = 0; turns < 3_000 && world.work.size > 0 && world.broken.length === 0; turns++) {
    if (world.runs.length > 0) finishOne(world, true)
    else if (dueJobs(world).length > 0) claim(world, dueJobs(world)[0]!, false)
    else world.now = new Date(Math.min(...[...world.work.values()].map(Number)))
    checkAll(world)
    checkFamilies(world)
  }
  hold(world, world.work.size === 0, `${world.work.size} jobs never end`)
}

/** What was wrong; empty if nothing was. */
export const history = (seed: number, counts: Map<string, number>): string[] => {
  const world = newWorld(seed, counts)
  say(world)
  for (let step = 0; step < STEPS && world.broken.length === 0; step++) {
    const before = new Map(world.handles)
    try {
      act(world)
    } catch (cause) {
      hold(world, false, `thrown: ${cause}`)
    }
    checkHandles(world, before)
    checkAll(world)
    checkFamilies(world)
  }
  try {
    if (world.broken.length === 0) runOut(world)
  } catch (cause) {
    hold(world, false, `thrown at the end: ${cause}`)
  }
  for (const step of world.steps.values())
    if (approvalOf(world, step.id)) count(world, `asked ${step.name} ${step.state}`)
  return world.broken
}
