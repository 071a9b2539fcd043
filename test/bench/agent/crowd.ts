/**
 * A process with as many streams of events as it takes: what a turn costs then, and what a stream
 * takes of memory.
 */
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { costOf, figuresOf, type Turn, takeTurn } from '../contest.ts'
import { type Figures, median, type Row } from '../figures.ts'
import { residentMiB } from '../meter.ts'
import { startWorker, type Worker } from '../spawn.ts'
import type { Tenant } from '../world.ts'
import type { Wish } from './readers.ts'
import { addAgentTenants, type Stage } from './stage.ts'
import { type Conversation, converse, pathOf, resultOf } from './talk.ts'

export interface Sizes {
  /** Each with a conversation in which somebody talks, over a stream of their own. */
  workspaces: number
  /** Of each conversation, that of who talks included. A credential may have 20. */
  streams: number
  turns: number
  rounds: number
}

const BYTES_OF_MIB = 1_048_576

/** A credential for the readers of each workspace. */
const readersOf = async ({ world }: Stage, tenants: Tenant[]): Promise<string[]> => {
  const keys = tenants.map(() => newApiKey())
  const hashes = keys.map((key) => hashApiKey(key).toString('hex'))
  await world.owner`insert into api_key (id, tenant_id, name, hash, last4, scopes)
    select gen_random_uuid(), id, 'reader', decode(hash, 'hex'), 'last', '{api:read,workspace:use}'
    from unnest(${tenants.map(({ id }) => id)}::uuid[], ${hashes}::text[]) as t (id, hash)`
  return keys
}

/** So many turns in each conversation, all conversations at once. */
const talked = (
  { world, server }: Stage,
  conversations: Conversation[],
  turns: number,
): Promise<Turn> =>
  takeTurn(world.owner, {
    pid: server.pid,
    async run() {
      const began = performance.now()
      const times: number[] = []
      const talk = async (one: Conversation) => {
        for (let turn = 0; turn < turns; turn++) times.push(await one.say([], 'fast'))
      }
      await Promise.all(conversations.map(talk))
      return resultOf(times, performance.now() - began)
    },
  })

interface Round {
  alone: Turn
  crowded: Turn
  /** What the readers' streams take. */
  bytes: number
  mib: [before: number, after: number]
}

interface Crowd extends Sizes {
  tenants: Tenant[]
  keys: string[]
  worker: Worker<Wish, number[]>
}

const roundOf = async (
  stage: Stage,
  { tenants, keys, worker, streams, turns }: Crowd,
): Promise<Round> => {
  const { server } = stage
  await using stack = new AsyncDisposableStack()
  const conversations: Conversation[] = []
  for (const tenant of tenants) conversations.push(stack.use(await converse(server, tenant)))
  const alone = await talked(stage, conversations, turns)
  const before = residentMiB(server.pid) ?? Number.NaN
  const wanted = conversations.flatMap(({ id }, nth) =>
    Array.from({ length: streams - 1 }, () => ({
      url: `http://127.0.0.1:${server.port}${pathOf(id)}`,
      key: keys[nth]!,
    })),
  )
  await worker.ask({ open: wanted })
  const after = residentMiB(server.pid) ?? Number.NaN
  const crowded = await talked(stage, conversations, turns)
  const heard = await worker.ask('close')
  const missed = heard.filter((messages) => messages !== 2 * turns).length
  if (heard.length !== wanted.length || missed > 0)
    throw new Error(`${missed} of ${heard.length} readers did not get each message once`)
  return {
    alone,
    crowded,
    bytes: (Math.max(0, after - before) * BYTES_OF_MIB) / wanted.length,
    mib: [before, after],
  }
}

const figures = (turns: Turn[]): Figures => {
  const { answerBytes: _, ...rest } = figuresOf(turns)
  return rest
}

export const crowd = async (stage: Stage, sizes: Sizes): Promise<Row[]> => {
  const tenants = await addAgentTenants(stage.world, sizes.workspaces)
  const keys = await readersOf(stage, tenants)
  await using worker = startWorker<Wish, number[]>('test/bench/agent/readers.ts', {
    BUN_CONFIG_MAX_HTTP_REQUESTS: '5000',
  })
  const rounds: Round[] = []
  // The first is a warm-up.
  for (let round = -1; round < sizes.rounds; round++) {
    const one = await roundOf(stage, { ...sizes, tenants, keys, worker })
    if (round >= 0) rounds.push(one)
  }
  const all = (sizes.workspaces * sizes.streams).toLocaleString('en')
  const [ours, without] = [
    figures(rounds.map(({ crowded }) => crowded)),
    figures(rounds.map(({ alone }) => alone)),
  ]
  const middle = (of: (round: Round) => number) => median(rounds.map(of))
  return [
    {
      what: `turns of ${sizes.workspaces} conversations at once, each followed by ${sizes.streams} streams, ${all} in all; the model answers at once`,
      figures: ours,
      peers: [
        {
          name: 'each followed by one',
          figures: without,
          ratio: middle(({ alone, crowded }) => crowded.perSecond / alone.perSecond),
          costRatio: costOf(without) / costOf(ours),
        },
      ],
    },
    {
      what: `memory of a process with ${all} streams, and of each`,
      figures: { mib: middle(({ mib }) => mib[1]), bytes: middle(({ bytes }) => bytes) },
      peers: [{ name: `with ${sizes.workspaces}`, figures: { mib: middle(({ mib }) => mib[0]) } }],
    },
  ]
}
