/**
 * Readers of hints on two servers while their workspace changes its owner. Each opens a new stream
 * when it has lost one; it is told of every change, or to read again since; and nothing of it stays
 * behind: afterwards each key has as many streams as before, and no more.
 */
import type postgres from 'postgres'
import { createKey, createWorkspace } from '#ops/operator/admin/workspaces'
import { type ConnectionOptions, openDb } from '#store/engine/db'
import { eventually } from '#test/support/eventually'
import { type HintClient, openHints } from '#test/support/http/hint-stream'
import type { ServerProcess } from '#test/support/processes/server'

interface HintReader {
  key: string
  /** Index of its server. */
  at: number
  streams: { began: number; client: HintClient }[]
}

export interface HintWorld {
  owner: postgres.Sql
  tenantId: string
  keys: readonly string[]
  /** Two of them. */
  servers: ServerProcess[]
  restart(): Promise<ServerProcess>
}

const KEYS = 4

/** A workspace with a few keys, whose streams are counted apart. */
export const newHintHome = async (
  database: ConnectionOptions,
): Promise<Pick<HintWorld, 'tenantId' | 'keys'>> => {
  await using db = openDb({ ...database, max: 1 })
  const tenantId = await createWorkspace(db, 'Hints')
  const scopes = ['api:read', 'api:write'] as const
  const made = Array.from({ length: KEYS }, () =>
    createKey(db, { tenantId, scopes: [...scopes], name: 'reader' }),
  )
  return { tenantId, keys: (await Promise.all(made)).map(({ api_key }) => api_key) }
}

interface HintFigures {
  hints: number
  /** Streams that ended under a reader. */
  hint_streams_lost: number
  hints_missed: number
  worst_hint_ms: number
  readers_leaked: number
  beyond_bounds: number
}

const READERS_OF_KEY = 10
const CHANGES = 8
const BETWEEN_MS = 100
const TOLD_WITHIN_MS = 10_000
/** Of one credential at one server, as src/edge/event-streams.ts has it. */
const BOUND = 20

const follow = async ({ servers }: HintWorld, reader: HintReader, signal: AbortSignal) => {
  const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  while (!signal.aborted) {
    const began = Date.now()
    const client = await openHints(servers[reader.at]!.url, reader).catch(() => undefined)
    if (client?.response.status === 200) {
      reader.streams.push({ began, client })
      await Promise.race([client.ended(), over])
    }
    await client?.[Symbol.asyncDispose]()
    if (!signal.aborted) await Bun.sleep(BETWEEN_MS)
  }
}

interface Change {
  id: string
  sent: number
}

const knows = ({ streams }: HintReader, { id, sent }: Change): boolean =>
  streams.some(({ began, client }) =>
    client.events.some(({ type, data }) =>
      type === 'resync' ? began >= sent : type === 'hint' && data.id === id,
    ),
  )

/** Writes at any server until one takes it. */
const change = async ({ servers, keys }: HintWorld, nth: number): Promise<Change> => {
  const body = { kind: 'worked', note: `note ${nth}` }
  for (let tries = nth; ; tries++) {
    const sent = Date.now()
    const server = servers[tries % servers.length]!
    const reply = await server
      .send('POST', 'learnings', { key: keys[0]!, body })
      .catch(() => undefined)
    if (reply?.status === 201) return { id: reply.body.learning.id, sent }
    await Bun.sleep(BETWEEN_MS)
  }
}

const ownerIn = async ({ owner, tenantId, servers }: HintWorld): Promise<ServerProcess> => {
  const [node] = await owner<{ url: string }[]>`select n.url from actor a
    join node n on n.incarnation = a.owner where a.tenant_id = ${tenantId}`
  return servers.find(({ url }) => url === node?.url) ?? servers[0]!
}

/** The owner is counted out while it works, twice, and then killed. */
const disturb = async (world: HintWorld): Promise<void> => {
  for (let times = 0; times < 2; times++) {
    await world.owner`delete from node where url = ${(await ownerIn(world)).url}`
    await Bun.sleep(CHANGES * BETWEEN_MS)
  }
  const killed = await ownerIn(world)
  await killed.kill()
  world.servers[world.servers.indexOf(killed)] = await world.restart()
}

/** Changes before, while and after the owner changes. Resolves with how each reader learned. */
const tell = async (world: HintWorld, readers: readonly HintReader[]) => {
  const changes: Change[] = []
  let isOver = false
  const disturbed = disturb(world).finally(() => {
    isOver = true
  })
  for (let after = 0; after < CHANGES; after += isOver ? 1 : 0) {
    changes.push(await change(world, changes.length))
    await Bun.sleep(BETWEEN_MS)
  }
  await disturbed
  const unknown = () =>
    readers.flatMap((reader) => changes.filter((one) => !knows(reader, one))).length
  const missed = await eventually(unknown, (n) => n === 0, TOLD_WITHIN_MS).catch(unknown)
  return { hints: changes.length, missed }
}

/** Milliseconds until all readers know of one more change, while nothing else happens. */
const timeOne = async (world: HintWorld, readers: readonly HintReader[]): Promise<number> => {
  const one = await change(world, 0)
  const all = () => readers.every((reader) => knows(reader, one))
  await eventually(all, Boolean, TOLD_WITHIN_MS).catch(() => {})
  return all() ? Date.now() - one.sent : Number.POSITIVE_INFINITY
}

/** How many streams of the key the server admits of a few too many. */
const admitted = async ({ url }: ServerProcess, key: string): Promise<number> => {
  const opened = await Promise.all(Array.from({ length: BOUND + 2 }, () => openHints(url, { key })))
  const count = opened.filter(({ response }) => response.status === 200).length
  for (const stream of opened) await stream[Symbol.asyncDispose]()
  return count
}

/** What the readers have left behind, at each server. */
const leftBehind = async ({ servers, keys }: HintWorld) => {
  let [leaked, beyond] = [0, 0]
  for (const server of servers)
    for (const key of keys) {
      // A server notices a moment later that a client has gone.
      const count = await eventually(
        () => admitted(server, key),
        (now) => now === BOUND,
        TOLD_WITHIN_MS,
      ).catch(() => admitted(server, key))
      leaked += Math.max(0, BOUND - count)
      beyond += Math.max(0, count - BOUND)
    }
  return { leaked, beyond }
}

export const runHintReaders = async (world: HintWorld): Promise<HintFigures> => {
  const readers = world.keys.flatMap((key) =>
    Array.from(
      { length: READERS_OF_KEY },
      (_, nth): HintReader => ({
        key,
        at: nth % 2,
        streams: [],
      }),
    ),
  )
  const over = new AbortController()
  const following = readers.map((reader) => follow(world, reader, over.signal))
  await eventually(() => readers.every(({ streams }) => streams.length > 0), Boolean)
  const { hints, missed } = await tell(world, readers)
  const worst = await timeOne(world, readers)
  over.abort()
  await Promise.all(following)
  const { leaked, beyond } = await leftBehind(world)
  return {
    hints: hints + 1,
    hint_streams_lost: readers.reduce((sum, { streams }) => sum + streams.length - 1, 0),
    hints_missed: missed,
    worst_hint_ms: worst,
    readers_leaked: leaked,
    beyond_bounds: beyond,
  }
}
