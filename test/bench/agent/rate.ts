/**
 * Turns a second, from the message to the stored answer, beside the least that a chat without jobs
 * does for them.
 */
import { type Contestant, figuresOf, peerOf, takeTurns, warmUp } from '../contest.ts'
import type { Figures, Row } from '../figures.ts'
import type { TurnsPlan } from '../peer-turns.ts'
import { startWorker } from '../spawn.ts'
import { AT_ONCE, type Stage, startJobs, untilAtRest } from './stage.ts'
import { timed } from './talk.ts'

export interface Sizes {
  /** Of each workspace in a round. */
  turns: number
  rounds: number
  warmUpRounds: number
}

/** Without times of single turns, which nobody measured. */
const rates = ({ perSecond, serverUs, postgresUs }: Figures): Figures =>
  ({ perSecond, serverUs, postgresUs }) as Figures

export const rate = async (
  { world, server, model, tenants }: Stage,
  { turns, rounds, warmUpRounds }: Sizes,
): Promise<Row> => {
  await using bare = startWorker<TurnsPlan, number>('test/bench/peer-turns.ts', world.env)
  const count = tenants.length * turns
  const plan = {
    turns,
    tenants: tenants.map(({ id }) => id),
    callers: AT_ONCE,
    modelUrl: `http://127.0.0.1:${model.port}/v1/chat/completions`,
  }
  const wanted = Array.from({ length: turns }, () =>
    tenants.map((tenant) => ({ tenant, plan: [] })),
  ).flat()
  const ours = () =>
    timed(count, async () => {
      await startJobs(server, wanted)
      await untilAtRest(world, tenants)
    })
  const theirs = () => timed(count, () => bare.ask(plan))
  const contestants: Contestant[] = [
    { name: 'Tendril', pid: server.pid, run: ours },
    { name: 'bare', pid: bare.pid, run: theirs },
  ]
  for (const { pid, run } of contestants) await warmUp(pid, run, warmUpRounds)
  await world.owner`vacuum analyze work, audit, agent_job, agent_step, agent_event, agent_message,
    agent_conversation`
  const [own, other] = await takeTurns(world.owner, contestants, rounds)
  const peer = peerOf('postgres.js alone: two commits and a call of the model a turn', own!, other!)
  return {
    what: `turns, from the message to the stored answer, in ${tenants.length} workspaces; the model answers at once`,
    figures: rates(figuresOf(own!)),
    peers: [{ ...peer, figures: rates(peer.figures) }],
  }
}
