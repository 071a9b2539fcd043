/** What a turn of a conversation takes beside the model's own time. */
import { FairLimit } from '#kernel/fair-limit'
import { newId } from '#kernel/ids'
import type { Plan } from '../../support/agent/plan.ts'
import { figuresOf, takeTurn, warmUp } from '../contest.ts'
import type { Figures, Row } from '../figures.ts'
import { quantile } from '../load.ts'
import type { Running } from '../spawn.ts'
import { addDrafts } from '../world.ts'
import { MODEL_MS, type Stage } from './stage.ts'
import { converse, resultOf } from './talk.ts'

/** How many calls of models a process of ours has at once. */
const MODEL_CALLS = 8

export interface Sizes {
  /** Of each row, in all. */
  turns: number
  callers: number[]
  warmUpRounds: number
}

interface Talk {
  callers: number
  /** Of each caller, in one conversation. */
  turns: number
  /** What a turn does before its answer. */
  plan(): Plan
}

/** Times of turns, each caller without a pause. */
const talked = async (
  { server, tenants }: Stage,
  { callers, turns, plan }: Talk,
): Promise<number[]> => {
  const times: number[] = []
  const talk = async (nth: number) => {
    await using conversation = await converse(server, tenants[nth]!)
    for (let turn = 0; turn < turns; turn++) times.push(await conversation.say(plan(), 'reasoning'))
  }
  await Promise.all(Array.from({ length: callers }, (_, nth) => talk(nth)))
  return times
}

/** Asks the provider as a program without a server would, and reads the answer to its end. */
const askModel = async ({ port }: Running, text: string): Promise<void> => {
  const messages = [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: text },
  ]
  const body = {
    model: 'timed',
    messages,
    max_completion_tokens: 4_000,
    stream: true,
    stream_options: { include_usage: true },
  }
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${reply.status}`)
  await reply.text()
}

const MOST_ALONE = 16

/**
 * The same calls without a server, within the bound on calls at once that our process has; fewer,
 * as they hardly differ.
 */
const modelAlone = async (
  { model }: Stage,
  { callers, turns }: Talk,
  calls: number,
): Promise<number[]> => {
  const limit = new FairLimit({ name: 'model', total: MODEL_CALLS, bound: 1, withinMs: 60_000 })
  const times: number[] = []
  const ask = async (party: string) => {
    for (let turn = 0; turn < Math.min(turns, MOST_ALONE); turn++) {
      const began = performance.now()
      for (let call = 0; call < calls; call++) await limit.run(party, () => askModel(model, '[]'))
      times.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: callers }, () => ask(newId())))
  return times
}

/** The overhead of each turn is what it took beyond the median of the model alone. */
export const overheadOf = (turns: number[], model: number[]): Figures => {
  const sorted = (times: number[]) => Float64Array.from(times).sort()
  const alone = quantile(sorted(model), 0.5)
  const more = sorted(turns.map((ms) => ms - alone))
  return { overheadMs: quantile(more, 0.5), overheadP99Ms: quantile(more, 0.99) }
}

/** `calls`: of the model in a turn. */
const compare = async (
  stage: Stage,
  what: string,
  { calls, ...talk }: Talk & { calls: number },
): Promise<Row> => {
  const { world, server } = stage
  const alone = await modelAlone(stage, talk, calls)
  let times: number[] = []
  const run = async () => {
    const began = performance.now()
    times = await talked(stage, talk)
    return resultOf(times, performance.now() - began)
  }
  const turn = await takeTurn(world.owner, { pid: server.pid, run })
  const { answerBytes: _, ...figures } = figuresOf([turn])
  const { p50, p99 } = resultOf(alone, 1)
  return {
    what,
    figures: { ...figures, ...overheadOf(times, alone) },
    peers: [
      { name: 'the model alone', figures: { p50Ms: p50, p99Ms: p99 }, ratio: p50 / turn.p50 },
    ],
  }
}

const ALL_AT_ONCE = 'all of which may ask the model at once'
const IN_TURN = `${MODEL_CALLS} of which may ask the model at once`

const withCommand = async (stage: Stage, turns: number): Promise<Row> => {
  const { world, tenants } = stage
  const drafts = await addDrafts(world.owner, tenants.slice(0, 1), turns)
  const plan = (): Plan => [[['growth_reject_item', { id: drafts.pop()!.id }]]]
  const what = `a turn with a command: the model takes ${MODEL_MS} ms two times; 1 caller`
  return await compare(stage, what, { callers: 1, turns, plan, calls: 2 })
}

export const turns = async (
  stage: Stage,
  { turns: count, callers, warmUpRounds }: Sizes,
): Promise<Row[]> => {
  const talkOf = (among: number): Talk => ({
    callers: among,
    turns: Math.ceil(count / among),
    plan: () => [],
  })
  await warmUp(
    stage.server.pid,
    () => talked(stage, { ...talkOf(MODEL_CALLS), turns: 5 }),
    warmUpRounds,
  )
  const rows: Row[] = []
  for (const among of callers) {
    const who =
      among === 1 ? '1 caller' : `${among} callers, ${among > MODEL_CALLS ? IN_TURN : ALL_AT_ONCE}`
    const what = `a turn, from the message to its answer; the model takes ${MODEL_MS} ms; ${who}`
    rows.push(await compare(stage, what, { ...talkOf(among), calls: 1 }))
  }
  return [...rows, await withCommand(stage, Math.ceil(count / 2))]
}
