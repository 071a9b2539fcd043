/**
 * What a turn costs while many clients read its conversation's events. Its own process holds the
 * readers.
 */
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { type EventClient, openStream } from '../../support/http/event-stream.ts'
import { costOf, figuresOf, type Turn, takeTurn } from '../contest.ts'
import { type Figures, median, type Row } from '../figures.ts'
import { serveLines, startWorker } from '../spawn.ts'
import type { Stage } from './stage.ts'
import { type Conversation, converse, pathOf, resultOf } from './talk.ts'

export interface Sizes {
  readers: number
  turns: number
  rounds: number
}

/**
 * Opens streams, or closes all. Answers with the messages of the agent that each stream has had.
 */
export type Wish = { open: { url: string; key: string }[] } | 'close'

/** A credential may open so many. */
const STREAMS_OF_KEY = 20

const keysFor = async ({ world, tenants: [tenant] }: Stage, readers: number): Promise<string[]> => {
  const keys = Array.from({ length: Math.ceil(readers / STREAMS_OF_KEY) }, newApiKey)
  const hashes = keys.map((key) => hashApiKey(key).toString('hex'))
  await world.owner`insert into api_key (id, tenant_id, name, hash, last4, scopes)
    select gen_random_uuid(), ${tenant!.id}, 'reader', decode(hash, 'hex'), 'last',
      '{api:read,workspace:use}'
    from unnest(${hashes}::text[]) hash`
  return keys
}

const talked = async (
  { world, server }: Stage,
  conversation: Conversation,
  turns: number,
): Promise<Turn> =>
  takeTurn(world.owner, {
    pid: server.pid,
    async run() {
      const began = performance.now()
      const times: number[] = []
      for (let turn = 0; turn < turns; turn++) times.push(await conversation.say([], 'fast'))
      return resultOf(times, performance.now() - began)
    },
  })

const figuresOfTurns = (all: Turn[]): Figures => {
  const { answerBytes: _, perSecond: __, ...figures } = figuresOf(all)
  return figures
}

export const readers = async (
  stage: Stage,
  { readers: count, turns, rounds }: Sizes,
): Promise<Row> => {
  const { server, tenants } = stage
  const keys = await keysFor(stage, count)
  await using worker = startWorker<Wish, number[]>(import.meta.path)
  const [alone, followed]: [Turn[], Turn[]] = [[], []]
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round++) {
    await using conversation = await converse(server, tenants[0]!)
    const before = await talked(stage, conversation, turns)
    const url = `http://127.0.0.1:${server.port}${pathOf(conversation.id)}`
    await worker.ask({
      open: Array.from({ length: count }, (_, nth) => ({ url, key: keys[nth % keys.length]! })),
    })
    const after = await talked(stage, conversation, turns)
    const heard = await worker.ask('close')
    const missed = heard.filter((messages) => messages !== 2 * turns).length
    if (heard.length !== count || missed > 0)
      throw new Error(`${missed} of ${heard.length} readers did not get each message once`)
    if (round >= 0) alone.push(before)
    if (round >= 0) followed.push(after)
  }
  const [ours, without] = [figuresOfTurns(followed), figuresOfTurns(alone)]
  return {
    what: `a turn while ${count} streams follow its conversation; the model answers at once`,
    figures: ours,
    peers: [
      {
        name: 'without them',
        figures: without,
        ratio: median(followed.map(({ p50 }, round) => alone[round]!.p50 / p50)),
        costRatio: costOf(without) / costOf(ours),
      },
    ],
  }
}

const open: EventClient[] = []
const SETTLE_MS = 10_000

const messagesIn = ({ events }: EventClient): number =>
  events.filter(({ type, data }) => type === 'message' && data.role === 'assistant').length

/** The last message may still be on its way. */
const allHeard = async (): Promise<number[]> => {
  const until = performance.now() + SETTLE_MS
  for (;;) {
    const heard = open.map(messagesIn)
    if (new Set(heard).size <= 1 || performance.now() > until) return heard
    await Bun.sleep(10)
  }
}

const answer = async (wish: Wish): Promise<number[]> => {
  if (wish !== 'close') {
    open.push(...(await Promise.all(wish.open.map(({ url, key }) => openStream(url, { key })))))
    const refused = open.find(({ response }) => !response.ok)
    if (refused) throw new Error(`a stream was answered ${refused.response.status}`)
    return open.map(messagesIn)
  }
  const heard = await allHeard()
  await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()))
  return heard
}

if (import.meta.main) await serveLines(answer)
