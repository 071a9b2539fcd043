/**
 * Two servers in different time zones with different wall clocks that step, on a database whose
 * clock steps by an hour either way and by two days, around changes to and from summer time, the
 * leap day and the turn of the year; some are killed in between. Nothing is posted before the
 * database's clock has shown its time, nothing twice, and nothing due is passed over without a
 * reason. The same holds of the runs of schedules. `npm run fault:clock -- --scenes 9 --items 60
 * --kills 9 --seed 7`; in every other round the network applies posts that it answers with 502.
 * With `--naive`, publishers that trust their own clocks take over, and must be exposed.
 */
import type postgres from 'postgres'
import type { Story } from '#test/support/growth/story'
import { type Verdict as Judgement, verdictOn, verdictOnNaive } from '../ledger.ts'
import { alone } from '../own-database.ts'
import { persist } from '../posting/clients.ts'
import { brokenRules, untilSettled } from '../posting/verdict.ts'
import { dueAfter, pickOf, type Scene, STEPS, scenes, stepsOf, written } from './scenes.ts'
import { judgeSchedules } from './schedules.ts'
import { judge, type Ordered, type Verdict } from './verdict.ts'
import { APART, type ClockOptions, DAY_MS, newWorld, type World } from './world.ts'

const SETTLES_WITHIN_MS = 180_000
/** How long before the scene's moment, by the database's clock, its items are scheduled. */
const LEAD_MS = 2_500
/** Items of a scene that a person posts just before a step. */
const BY_HAND = 3

const real = async (owner: postgres.Sql): Promise<number> => {
  const [row] = await owner<
    { ms: number }[]
  >`select (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::float8 as ms`
  return row!.ms
}

/** Approves an item, then schedules it or posts it now. */
const order = async (
  { owner, clients, orders }: World,
  story: Story,
  due?: { ms: number; offset: string; onMissed: Ordered['onMissed'] },
) => {
  const id = await story.drafted()
  await persist(clients, { story, id, action: 'approve' })
  const postAt = due ? Math.floor(due.ms) : null
  const askedAt = await real(owner)
  const one: Ordered = {
    id,
    postAt,
    onMissed: due?.onMissed ?? 'post',
    asked: askedAt,
    answered: Number.POSITIVE_INFINITY,
  }
  orders.push(one)
  if (due)
    await persist(clients, {
      story,
      id,
      action: 'schedule',
      body: { post_at: written(postAt!, due.offset), on_missed: due.onMissed },
    })
  else await persist(clients, { story, id, action: 'post-now' })
  one.answered = due ? await real(owner) : askedAt
}

const scheduleAll = async (world: World, { at, offsets }: Scene, items: number): Promise<void> => {
  const { stories, next } = world
  const dues = Array.from({ length: items }, () => ({
    ms: Date.parse(at) + dueAfter(next),
    offset: pickOf(offsets, next),
    onMissed: pickOf(['post', 'post', 'skip'] as const, next),
  }))
  await Promise.all(
    stories.map(async (story, place) => {
      for (let nth = place; nth < dues.length; nth += stories.length)
        await order(world, story, dues[nth])
    }),
  )
}

/**
 * Lets the database's clock pass the moment, then steps it and the servers' clocks, while people
 * post and servers die.
 */
const play = async (
  world: World,
  scene: Scene,
  { items, kill, byHand: count }: { items: number; kill: boolean; byHand: number },
): Promise<void> => {
  const { clock, next, servers, stories } = world
  await clock.set(new Date(Date.parse(scene.at) - LEAD_MS))
  await Promise.all(APART.map((ahead, place) => world.wall(place, ahead)))
  await scheduleAll(world, scene, items)
  await Bun.sleep(Math.max(0, Date.parse(scene.at) - (await clock.now())) + 1_000 + next() * 2_500)
  const byHand: Promise<void>[] = []
  const steps = stepsOf(next)
  const killAt = kill ? Math.floor(next() * steps.length) : -1
  let killed: Promise<void> = Promise.resolve()
  for (const [nth, step] of steps.entries()) {
    for (let asked = 0; asked < count; asked++) byHand.push(order(world, pickOf(stories, next)))
    const place = Math.floor(next() * servers.length)
    await Promise.all([
      Bun.sleep(next() * 20).then(() => clock.step(step)),
      world.wall(place, pickOf(STEPS, next)),
    ])
    if (nth === killAt) killed = world.replace(place, scene.zone)
    await Bun.sleep(300 + next() * 900)
  }
  await Promise.all([killed, ...byHand])
}

interface Round {
  verdict: Verdict
  steps: number
  kills: number
  items: number
  /** Runs of the agent's schedules. */
  scheduleRuns: number
  never: Record<string, number>
  broken: string[]
  wrong: string[]
}

const oneRound = async (options: ClockOptions, faults: string): Promise<Round> => {
  await using stack = new AsyncDisposableStack()
  const world = await newWorld(stack, options, faults)
  const { owner, clock, clients, orders } = world
  const isNaive = options.publisher === 'naive'
  const played = scenes.slice(options.first, options.first + options.scenes)
  for (const [nth, scene] of played.entries())
    await play(world, scene, {
      items: options.items,
      kill: nth < options.kills,
      byHand: isNaive ? 0 : BY_HAND,
    })
  // What no step has reached yet becomes due, or was missed.
  await clock.step(3 * DAY_MS)
  const unsettled = isNaive
    ? []
    : await untilSettled(owner, { doubts: options.doubts, withinMs: SETTLES_WITHIN_MS })
  const { verdict, broken } = await judge(owner, {
    orders,
    history: clock.history,
    lateMs: options.lateMs,
  })
  const schedules = isNaive
    ? { schedule_runs: 0, broken: [] }
    : await judgeSchedules(owner, clock.history)
  // A person has been asked by then: the clock's jump by two days ends the day of looking for a
  // post.
  const { 'in doubt without work': _, ...rules } = await brokenRules(owner, { events: 'announced' })
  const steps = clock.history.length - 1
  const kills = Math.min(options.kills, played.length)
  return {
    verdict,
    steps,
    kills,
    items: orders.length,
    scheduleRuns: schedules.schedule_runs,
    never: rules,
    broken: [...unsettled, ...broken, ...schedules.broken],
    wrong: clients.wrong,
  }
}

const sum = (rounds: Round[], of: (round: Round) => number): number =>
  rounds.reduce((total, round) => total + of(round), 0)

/**
 * Plays the scenes in each round, waits until everything is settled, and judges what the network
 * received.
 */
export async function runClock(options: ClockOptions): Promise<Judgement> {
  const rounds: Round[] = []
  for (let nth = 0; nth < options.rounds; nth++) {
    const seed = options.seed + nth
    rounds.push(
      await oneRound({ ...options, seed }, nth % 2 === 1 ? `applied502=0.15;seed=${seed}` : ''),
    )
  }
  const [items, steps, kills] = [
    sum(rounds, (round) => round.items),
    sum(rounds, (round) => round.steps),
    sum(rounds, (round) => round.kills),
  ]
  const { worst_late_ms: _, ...counted } = rounds[0]!.verdict
  const totals = Object.keys(counted).map(
    (name) => [name, sum(rounds, ({ verdict }) => verdict[name as keyof Verdict])] as const,
  )
  const worst = Math.max(...rounds.map(({ verdict }) => verdict.worst_late_ms))
  const schedule_runs = sum(rounds, ({ scheduleRuns }) => scheduleRuns)
  const of = { seed: options.seed, rounds: rounds.length, items, steps, kills, schedule_runs }
  const counts: Record<string, number> = {
    ...of,
    ...Object.fromEntries(totals),
    worst_late_ms: worst,
  }
  if (options.publisher === 'naive')
    return verdictOnNaive(counts, { 'posts that were early': counts.early! })
  const judged = rounds.map(({ never, broken, wrong }) =>
    verdictOn({ counts, never, broken, wrong }),
  )
  return { counts, broken: judged.flatMap(({ broken }) => broken) }
}

if (import.meta.main) {
  const defaults = {
    rounds: 2,
    scenes: scenes.length,
    first: 0,
    items: 60,
    workspaces: 6,
    kills: 9,
    lateMs: 15_000,
    seed: 1,
  }
  const run = ({ naive, ...given }: typeof defaults & { naive: boolean }) =>
    runClock({ ...given, doubts: 'counted', publisher: naive ? 'naive' : 'ours' })
  await alone('clock', defaults, run, 'naive')
}
