/**
 * Readers of what happens in jobs, on two servers of one database, of which one is killed
 * meanwhile: by streams and by long polls, broken off at random. Each that goes on where it was
 * ends with the stored events, each once and in order. Then readers of hints, while the workspace
 * changes its owner. `npm run fault:streams -- --readers 100`; with `--naive`, readers go on one
 * event too early, and must be found out.
 */
import type postgres from 'postgres'
import { createKey } from '#ops/operator/admin/workspaces'
import { openDb } from '#store/engine/db'
import { type Plan, plannedAnswer, planText } from '#test/support/agent/plan'
import type { ChatReply, ChatRequest } from '#test/support/model/fake-chat'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { newDeployment, type ServerProcess, startServer } from '#test/support/processes/server'
import { newTenants, type Tenant } from '../fleet.ts'
import { type Verdict, verdictOn, verdictOnNaive } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { newHintHome, runHintReaders } from './hint-readers.ts'
import { type Reader, type Reading, readAll, type Stored, storedOf, type Ways } from './readers.ts'

export interface StreamsOptions {
  readers: number
  workspaces: number
  seed: number
  naive: boolean
}

const WITHIN_MS = 90_000
const HINT_WITHIN_MS = 2_000
const POLL_MS = 20
/** Messages of a conversation, each with a job of its own. */
const TURNS = 2
/**
 * Events that each reader has seen, on average, when the server is killed: about a quarter of all.
 */
const SEEN_BEFORE = 12

const answer = ({ messages }: ChatRequest): ChatReply => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const answers = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length
  const said = plannedAnswer(messages[last]!.content ?? '[]', answers)
  if ('text' in said) return said
  return {
    calls: said.calls.map(([name, args], n) => ({
      id: `call${answers}000${n}`,
      name,
      arguments: JSON.stringify(args),
    })),
  }
}

/** Reads and commands in turn. */
const planOf = (id: string): Plan =>
  Array.from({ length: 6 }, (_, nth) =>
    nth % 2 === 0
      ? [['growth_add_learning', { kind: 'worked', note: `note ${nth} of ${id}` }]]
      : [
          ['growth_list_learnings', { limit: nth }],
          ['growth_list_queue', { limit: nth }],
        ],
  )

/** Whose events are read: a conversation, and its first job. */
interface Followed {
  key: string
  conversation: string
  job: string
}

const require201 = ({ status, body }: Awaited<ReturnType<ServerProcess['send']>>) => {
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body
}

const converse = async ({ send }: ServerProcess, { key, id }: Tenant): Promise<Followed> => {
  const path = '/api/v1/agent/conversations'
  const { conversation } = require201(await send('POST', path, { key, body: {} }))
  const jobs: string[] = []
  for (let nth = 0; nth < TURNS; nth++) {
    const content = planText(planOf(`${nth} of ${id}`))
    jobs.push(
      require201(
        await send('POST', `${path}/${conversation.id}/messages`, { key, body: { content } }),
      ).job.id,
    )
  }
  return { key, conversation: conversation.id, job: jobs[0]! }
}

/** Half of the readers follow the conversation, half its first job. */
const readerOf = (
  followed: readonly Followed[],
  nth: number,
): Reader & { of: { job: string } | { conversation: string } } => {
  const { key, conversation, job } = followed[nth % followed.length]!
  const ofJob = Math.floor(nth / followed.length) % 2 === 0
  const path = `/api/v1/agent/${ofJob ? `jobs/${job}` : `conversations/${conversation}`}/events`
  return {
    of: ofJob ? { job } : { conversation },
    path,
    key,
    ends: ofJob ? 1 : TURNS,
    got: [],
    cuts: 0,
    lost: 0,
  }
}

/**
 * Kills a server once the readers have seen some of what happens. Resolves with how many of them
 * had not finished.
 */
const killInTheMiddle = async (
  server: ServerProcess,
  readers: readonly Reader[],
  isOver: (reader: Reader) => boolean,
): Promise<number> => {
  const seen = () => readers.reduce((sum, { got }) => sum + got.length, 0)
  const until = performance.now() + WITHIN_MS
  while (seen() < readers.length * SEEN_BEFORE && performance.now() < until)
    await Bun.sleep(POLL_MS)
  const open = readers.filter((reader) => !isOver(reader)).length
  await server.kill()
  return open
}

interface Judged {
  missing: number
  doubled: number
  different: number
}

const judged = (got: readonly Stored[], stored: readonly Stored[]): Judged => {
  const ids = new Set(got.map(({ id }) => id))
  return {
    missing: stored.filter(({ id }) => !ids.has(id)).length,
    doubled: got.length - ids.size,
    different: Bun.deepEquals(got, stored) ? 0 : 1,
  }
}

const verdictOf = async (
  owner: postgres.Sql,
  readers: readonly ReturnType<typeof readerOf>[],
): Promise<Judged & { stored: number }> => {
  const all = { missing: 0, doubled: 0, different: 0, stored: 0 }
  for (const { of, got } of readers) {
    const stored = await storedOf(owner, of)
    const { missing, doubled, different } = judged(got, stored)
    all.missing += missing
    all.doubled += doubled
    all.different += different
    all.stored += stored.length
  }
  return all
}

/** Workspaces, each with a key that may talk to the agent. */
const talkingTenants = async (
  server: { database?: Parameters<typeof openDb>[0] },
  count: number,
): Promise<Tenant[]> => {
  const tenants = await newTenants(server.database!, count)
  await using db = openDb({ ...server.database!, max: 1 })
  const scopes = ['api:read', 'api:write', 'workspace:use'] as const
  return await Promise.all(
    tenants.map(async ({ id }) => ({
      id,
      key: (await createKey(db, { tenantId: id, scopes: [...scopes], name: 'reader' })).api_key,
    })),
  )
}

export async function runStreams({
  readers: count,
  workspaces,
  seed,
  naive,
}: StreamsOptions): Promise<Verdict> {
  await using stack = new AsyncDisposableStack()
  const { owner, server } = stack.use(await newDeployment())
  const tenants = await talkingTenants(server, workspaces)
  const fake = stack.use(await createFakeOpenAi())
  fake.converseOtherwise(answer)
  const env = { OPENAI_BASE_URL: fake.url, LOG_LEVEL: 'silent' }
  const servers = [
    stack.use(await startServer({ ...server, env })),
    stack.use(await startServer({ ...server, env })),
  ]
  const followed = await Promise.all(
    tenants.map((tenant, nth) => converse(servers[nth % 2]!, tenant)),
  )
  const readers = Array.from({ length: count }, (_, nth) => readerOf(followed, nth))
  const ways: Ways = { by_header: 0, by_query: 0, by_json: 0 }
  const finished = new Set<Reader>()
  const reading: Reading = {
    servers,
    next: numbers(seed),
    naive,
    until: performance.now() + WITHIN_MS,
  }
  const read = readers.map((reader) =>
    readAll(reading, reader, ways).then((whole) => whole && finished.add(reader)),
  )
  const open = await killInTheMiddle(servers[0]!, readers, (reader) => finished.has(reader))
  await Promise.all(read)
  const found = await verdictOf(owner, readers)
  const { stored: _, ...differences } = found
  const sum = (of: 'cuts' | 'lost') => readers.reduce((total, reader) => total + reader[of], 0)
  const counts = {
    readers: count,
    seed,
    open_at_kill: open,
    broken_off: sum('cuts'),
    cut_under: sum('lost'),
    ...ways,
    ...found,
  }
  if (naive) return verdictOnNaive(counts, { doubled: found.doubled })
  const restart = async () => stack.use(await startServer({ ...server, env }))
  servers[0] = await restart()
  const hints = await runHintReaders({
    owner,
    servers,
    restart,
    ...(await newHintHome(server.database!)),
  })
  const { hints_missed, readers_leaked, beyond_bounds, hint_streams_lost, worst_hint_ms } = hints
  return verdictOn({
    counts: { ...counts, ...hints },
    never: {
      ...differences,
      unfinished: count - finished.size,
      hints_missed,
      readers_leaked,
      beyond_bounds,
    },
    atStake: { open_at_kill: open, hint_streams_lost },
    late: worst_hint_ms > HINT_WITHIN_MS ? [`a hint took ${worst_hint_ms} ms`] : [],
  })
}

if (import.meta.main)
  await alone('streams', { readers: 100, workspaces: 10, seed: 1 }, runStreams, 'naive')
