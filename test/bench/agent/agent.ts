/**
 * The workspace agent: its steps, what a turn takes beside the model, readers of events; and jobs
 * that wait for a person.
 */
import type { Row } from '../figures.ts'
import type { World } from '../world.ts'
import { crowd } from './crowd.ts'
import { rate } from './rate.ts'
import { readers } from './readers.ts'
import { openStage } from './stage.ts'
import { steps } from './steps.ts'
import { turns } from './turns.ts'
import { waiting } from './waiting.ts'

export async function agent(world: World, quick: boolean): Promise<Row[]> {
  await using stage = await openStage(world)
  return [
    await steps(stage, { rounds: quick ? 2 : 4, warmUpRounds: quick ? 2 : 6 }),
    ...(await turns(stage, {
      turns: quick ? 16 : 100,
      callers: quick ? [1, 8] : [1, 8, 16],
      warmUpRounds: quick ? 1 : 5,
    })),
    await readers(stage, { readers: 100, turns: quick ? 5 : 20, rounds: quick ? 2 : 4 }),
  ]
}

/** Many conversations at once. */
export async function conversations(world: World, quick: boolean): Promise<Row[]> {
  await using stage = await openStage(world)
  return [
    await rate(stage, {
      turns: quick ? 4 : 20,
      rounds: quick ? 2 : 6,
      warmUpRounds: quick ? 2 : 8,
    }),
    ...(await crowd(stage, {
      workspaces: quick ? 5 : 50,
      streams: 20,
      turns: quick ? 2 : 4,
      rounds: quick ? 1 : 4,
    })),
  ]
}

export async function agentWaiting(world: World, quick: boolean): Promise<Row[]> {
  await using stage = await openStage(world)
  return await waiting(
    stage,
    quick ? { workspaces: 4, each: 50, probes: 2 } : { workspaces: 25, each: 200, probes: 6 },
  )
}
