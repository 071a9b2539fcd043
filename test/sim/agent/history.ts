/**
 * One history: jobs run, people decide, processes die, clocks jump; then everything comes to rest.
 */
import { cancelledJob, startEffects } from '#decisions/agent/job-effects'
import { argumentsHash } from '#domain/agent/hash'
import { type Approval, decide } from '#domain/agent/job/approval'
import type { CallDecision } from '#domain/agent/job/decision'
import { newTurn } from '#domain/agent/job/job'
import type { Role } from '#kernel/roles'
import { applyDecision } from '#ops/agent/approval/deciding'
import type { CommandContext } from '#ops/engine/call'
import { merge } from '#store/engine/letter'
import { claim } from './claim.ts'
import { checkFamilies, openBelow } from './family.ts'
import { checkWritten, letterOf } from './letter.ts'
import { checkCounted, checkHandles } from './money.ts'
import { overtakeOne } from './overtake.ts'
import { commit } from './rows.ts'
import { checkAll, isOver } from './rules.ts'
import { checkWords } from './rules-of-answers.ts'
import { settle } from './settle.ts'
import { mayRun, temptations } from './tools.ts'
import {
  approvalOf,
  CONVERSATIONS,
  count,
  hold,
  newId,
  newWorld,
  subjectOf,
  threadOf,
  type World,
} from './world.ts'

const STEPS = 150
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
  commit(world, startEffects({ ...turn, scheduled: world.next() < 0.2 }, world.now))
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
    apply(world, after)
  } catch {
    const isLate = status === 'approved' && before.expires_at <= world.now
    const isOther =
      before.status !== 'pending' && (before.status !== status || before.decided_how !== 'person')
    hold(world, isLate || isOther, `${status} is refused where it is ${before.status}`)
  }
}

/** Perhaps with other arguments than were asked for. */
const goingOf = (world: World, decided: Approval): Pick<CallDecision, 'approval' | 'going'> => {
  const { step_id, status } = decided
  const ended_at = world.now
  if (status === 'rejected') {
    const result = world.next() < 0.5 ? { text: 'A person rejected this call: no.' } : null
    return { approval: decided, going: { state: 'rejected', result, ended_at } }
  }
  if (world.next() < 0.8) return { approval: decided, going: { state: 'ready' } }
  const args = { ...world.steps.get(step_id)!.args, n: 7 }
  const args_hash = argumentsHash(args)
  const said = { arguments: args, arguments_hash: args_hash, subject: subjectOf(world, args) }
  const going = { state: 'ready', args, args_hash } as const
  return { approval: { ...decided, ...said, edited: true }, going }
}

const apply = (world: World, decided: Approval) => {
  const step = world.steps.get(decided.step_id)!
  const job = world.jobs.get(step.job_id)!
  const thread = threadOf(world, job)
  const decision = { step, ...goingOf(world, decided) }
  const context = { gate: { now: world.now } } as CommandContext
  commit(world, applyDecision({ job, thread }, decision, context).effects)
  count(world, decided.status)
  hold(world, world.work.get(job.id)! <= world.now, 'a job does not go on after a decision')
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
  const chance = world.next()
  if (due.length > 0) claim(world, world.of(due), { dies: chance < 0.05, inVain: chance > 0.98 })
}

const finishOne = (world: World, last = false) => {
  if (world.runs.length === 0) return
  const [run] = world.runs.splice(world.below(world.runs.length), 1)
  if (last || world.next() > 0.05) settle(world, run!, { last })
}

/** As on SIGTERM. */
const stop = (world: World) => {
  for (const run of world.runs.splice(0)) settle(world, run, { stops: true })
}

/** As the operation does: with all that is below. */
const cancelOne = (world: World) => {
  const calling = world.runs.filter(({ kind }) => kind === 'tools')
  const running = calling.map((run) => world.jobs.get(run.job)!)
  const job = world.of(running.length > 0 ? running : [...world.jobs.values()])
  const at = letterOf(world, job.id)
  const { next, parent } = at
  try {
    const tree = [job, ...openBelow(world, job.id)].map((one) => ({ ...one, work: one.id }))
    const ended = tree.map((one, index) =>
      cancelledJob(one, world.now, index === 0 ? { next, parent } : {}),
    )
    hold(world, !isOver(job), `a job that is ${job.status} is cancelled`)
    const settled = tree.map(({ id }) => id)
    commit(world, merge({ settled }, ...ended.map(({ effects }) => effects)))
    checkWritten(world, at)
  } catch {
    hold(world, isOver(job), `a job that is ${job.status} cannot be cancelled`)
  }
}

/** Billing may be out of order for a while. */
const bill = (world: World, billing: 'ok' | 'trial_expired') => {
  world.usage.plan.billing = billing
}

/** A call that is to be made later. */
const rest = (world: World) => {
  const ready = [...world.steps.values()].filter(
    ({ kind, state }) => kind === 'tool' && state === 'ready',
  )
  if (ready.length === 0) return
  const step = world.of(ready)
  const not_before = new Date(+world.now + world.of([SECOND, 60 * SECOND]))
  world.steps.set(step.id, { ...step, not_before })
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
  if (chance < 83) return world.next() < 0.8 ? judgeOne(world) : overtakeOne(world)
  if (chance < 86) return say(world)
  if (chance < 88) return rest(world)
  if (chance < 92) return jump(world)
  if (chance < 95) return cancelOne(world)
  if (chance < 96) return world.next() < 0.5 ? stop(world) : world.runs.splice(0)
  if (chance < 97) return changeRole(world)
  if (chance < 98)
    return void world.records.set(world.of([...world.records.keys()]), 1 + world.below(9))
  if (chance < 99) return bill(world, world.of(['ok', 'ok', 'ok', 'trial_expired']))
  setRule(world)
}

const checkEverything = (world: World) => {
  checkAll(world)
  checkFamilies(world)
  checkCounted(world)
  checkWords(world)
}

/** Nobody decides any more, models answer, and time passes: every job must end. */
const runOut = (world: World) => {
  const isUnpaid = world.next() < 0.02
  bill(world, isUnpaid ? 'trial_expired' : 'ok')
  for (let turns = 0; turns < 3_000 && world.work.size > 0 && world.broken.length === 0; turns++) {
    const due = dueJobs(world)
    const soonest = Math.min(...[...world.work.values()].map(Number))
    if (world.runs.length > 0) finishOne(world, true)
    else if (due.length > 0) claim(world, due[0]!)
    else world.now = new Date(isUnpaid ? Math.max(soonest, +world.now + 6 * HOUR) : soonest)
    checkEverything(world)
  }
  hold(world, world.work.size === 0, `${world.work.size} jobs never end`)
}

/** What was wrong; empty if nothing was. */
export const history = (seed: number, counts: Map<string, number>): string[] => {
  const world = newWorld(seed, counts)
  say(world)
  for (let step = 0; step < STEPS && world.broken.length === 0; step++) {
    const before = new Map(world.threads)
    try {
      act(world)
    } catch (cause) {
      hold(world, false, `thrown: ${cause}`)
    }
    checkHandles(world, before)
    checkEverything(world)
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
