/**
 * Fair shares of a workspace's work: how late its posts go out beside messages, jobs and
 * deliveries, and how long turns and answers take beside posts that are due. Each is measured with
 * and without the other, in turns.
 */
import { warmUp } from '../contest.ts'
import type { Figures, Goal, Row } from '../figures.ts'
import { quantile } from '../load.ts'
import type { World } from '../world.ts'
import {
  correspond,
  keepBusy,
  type LoadSizes,
  latenessOf,
  postsLeft,
  schedulePosts,
  talk,
  untilAtRest,
  untilFirst,
} from './lateness-acts.ts'
import { openScene, type Scene } from './lateness-stage.ts'

export interface Sizes {
  /** Of each: without and with the others. */
  rounds: number
  /** Of each workspace in a round, one after the other. */
  posts: number
  beside: LoadSizes
  /** Due at once, beside which turns and answers are measured. */
  due: number
  /** Of each kind in a round. */
  turns: number
}

/** A post falls due this often. */
const POST_EVERY_MS = 200
/** All posts are scheduled before the first is due. */
const AHEAD_MS = { few: 4_000, many: 20_000 }
const WARM_UP_ROUNDS = 3

/** Times in milliseconds, by what was measured. */
type Times = Record<string, number[]>

const add = (all: Times, more: Times): void => {
  for (const [what, times] of Object.entries(more)) all[what] = [...(all[what] ?? []), ...times]
}

const figuresOf = (times: number[]): Required<Pick<Figures, 'p50Ms' | 'p99Ms' | 'longestMs'>> => {
  const sorted = Float64Array.from(times).sort()
  return {
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    longestMs: sorted.at(-1) ?? Number.NaN,
  }
}

/** At most twice the p99 without the others, unless it is short anyway. */
const GOAL: Goal = { of: 'slowdown', atMost: 2, or: { of: 'p99Ms', atMost: 2_000 } }

const rowsOf = (quiet: Times, beside: Times): Row[] =>
  Object.entries(beside).map(([what, times]) => {
    const [without, figures] = [figuresOf(quiet[what]!), figuresOf(times)]
    return {
      what,
      figures: { ...figures, slowdown: figures.p99Ms / without.p99Ms },
      peers: [{ name: 'without', figures: without }],
      goals: [GOAL],
    }
  })

const number = (count: number): string => count.toLocaleString('en')

/** How late the posts of both workspaces are; `sizes`: what else happens in one of them. */
const postsOf = async (
  scene: Scene,
  posts: number,
  sizes?: LoadSizes,
): Promise<[own: number[], other: number[]]> => {
  const { own, other } = scene
  const due = await schedulePosts(
    scene,
    [own, other].map((home) => ({ home, count: posts, everyMs: POST_EVERY_MS })),
    AHEAD_MS.few,
  )
  await untilFirst(due)
  if (sizes) await keepBusy(scene, own, sizes)
  const late = [await latenessOf(scene, own, due), await latenessOf(scene, other, due)] as const
  if (late.some(({ length }) => length !== posts))
    throw new Error(`${late.map(({ length }) => length)} of ${posts} posts went out`)
  await untilAtRest(scene)
  return [...late]
}

const postRows = async (scene: Scene, { rounds, posts, beside }: Sizes): Promise<Row[]> => {
  const { messages, jobs, deliveries } = beside
  const what = `beside ${number(messages)} messages of a channel, ${number(jobs)} jobs and ${number(deliveries)} deliveries`
  const [own, other] = [
    `posts, one each ${POST_EVERY_MS} ms, ${what}: how late`,
    `the same posts of another workspace, ${what}`,
  ]
  const [quiet, busy]: [Times, Times] = [{}, {}]
  for (let round = 0; round < rounds; round++)
    for (const [all, sizes] of [[quiet], [busy, beside]] as const) {
      const [ours, theirs] = await postsOf(scene, posts, sizes)
      add(all, { [own]: ours, [other]: theirs })
    }
  return rowsOf(quiet, busy)
}

/** Turns and answers in one workspace, and turns in another. */
const answersOf = async (scene: Scene, turns: number, due: number): Promise<Times> => {
  const { own, other } = scene
  const [ours, answers, theirs] = await Promise.all([
    talk(scene, own, turns),
    correspond(scene, own, turns),
    talk(scene, other, turns),
  ])
  const beside = `beside ${number(due)} due posts`
  return {
    [`a turn of the agent ${beside} of its workspace, from the message to the answer; the model answers at once`]:
      ours,
    [`an answer in a channel ${beside} of its workspace, from the message to its provider; the model answers at once`]:
      answers,
    [`a turn of the agent ${beside} of another workspace`]: theirs,
  }
}

const answerRows = async (scene: Scene, { rounds, turns, due: count }: Sizes): Promise<Row[]> => {
  const [quiet, busy]: [Times, Times] = [{}, {}]
  for (let round = 0; round < rounds; round++) {
    add(quiet, await answersOf(scene, turns, count))
    const due = await schedulePosts(scene, [{ home: scene.own, count, everyMs: 0 }], AHEAD_MS.many)
    await untilFirst(due)
    add(busy, await answersOf(scene, turns, count))
    if ((await postsLeft(scene, due)) === 0)
      throw new Error('all posts had gone out before the last turn was over')
    await latenessOf(scene, scene.own, due)
    await untilAtRest(scene)
  }
  return rowsOf(quiet, busy)
}

export const lateness = async (world: World, sizes: Sizes): Promise<Row[]> => {
  await using scene = await openScene(world)
  const few = { messages: 20, jobs: 10, deliveries: 50, seconds: 1 }
  await warmUp(scene.server.pid, () => postsOf(scene, 20, few), WARM_UP_ROUNDS)
  await world.owner`vacuum analyze item, work, audit, attempt, agent_job, agent_step, agent_event,
    agent_message, agent_conversation`
  return [...(await postRows(scene, sizes)), ...(await answerRows(scene, sizes))]
}
