/**
 * Runs a history: the real actor, lanes and commands over a simulated database, network and clock,
 * in one go.
 */
import { HOUR } from '#test/domain/records'
import { connect, perform, resume, settleByHand } from './actions.ts'
import { settle } from './clock.ts'
import { checkEnd, isAtRest } from './ending.ts'
import { engagements } from './engaging.ts'
import { CLEAR, fates, type Step } from './history.ts'
import { die, takeOver, wake } from './nodes.ts'
import { checkOver } from './outcome.ts'
import { checkCommit } from './rules.ts'
import { restartIds } from './statements.ts'
import { count, newWorld, type World } from './world.ts'

const LOOK_MS = 30_000
const FAILED = {
  before: 'commit failed',
  after: 'commit ack lost',
  beside: 'commit without what stood in a savepoint',
}
const LONGEST_MS = 27 * HOUR

/** From here on everything works, until the machine has nothing left to do. */
const runOut = (world: World): void => {
  world.holding = false
  world.fate = fates.posted!
  world.view = CLEAR
  Object.assign(world.memory, { failures: [], meanwhile: undefined })
  while (world.hung.length > 0) wake(world)
  for (const account of ['one', 'two']) connect(world, { account })
  for (const { goOn } of world.held.splice(0)) goOn()
  settle()
  resume(world)
  settle()
  const until = world.clock.monotonic() + LONGEST_MS
  while (world.clock.monotonic() < until && !isAtRest(world) && world.broken.length === 0)
    world.clock.advanceToNext(LOOK_MS)
}

/** Deadlines in the code under test use this history's clock. */
const simulateDeadlines = ({ clock }: World): void => {
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    clock.after(ms, () => controller.abort(new DOMException('the time is over', 'TimeoutError')))
    return controller.signal
  }
}

const begin = (counts: Map<string, number>): World => {
  restartIds()
  const world = newWorld(counts)
  for (const one of engagements) world.memory.engagements.set(one.id, one)
  simulateDeadlines(world)
  world.memory.onChange = (changes, command) => checkCommit(world, changes, command)
  world.memory.onFailure = (failure) => {
    world.hasFailed = true
    count(world, FAILED[failure])
  }
  world.memory.onBroken = (words) => world.broken.push(words)
  takeOver(world)
  settle()
  return world
}

/**
 * The world after the history. `broken`: what was wrong, at the step where it was first noticed.
 */
export const run = (steps: readonly Step[], counts = new Map<string, number>()): World => {
  const world = begin(counts)
  for (const step of steps) {
    perform(world, step)
    if (step.rush) continue
    settle()
    if (world.broken.length > 0) return world
  }
  settle()
  runOut(world)
  if (world.broken.length === 0) checkEnd(world)
  if (world.broken.length === 0) {
    settleByHand(world)
    settle()
    checkOver(world)
  }
  for (const { type } of world.memory.events) count(world, `event ${type}`)
  die(world)
  return world
}
