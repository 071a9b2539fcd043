/**
 * Two servers on one database, killed in turn at random times while their agents and sub-agents
 * work with every kind of tool: commands happen once, calls outside go out once at most, every job
 * ends, and budgets add up. `npm run fault:agent -- --kills 300 --seed 7`; with `--naive`, a loop
 * that runs a command and then writes down that it has stands in, and must be found out.
 */
import type postgres from 'postgres'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { plannedReply } from '#test/support/agent/plan'
import { allowOutside } from '#test/support/agent/story'
import { createFakeOpenAi, type FakeOpenAi } from '#test/support/model/fake-openai'
import { newDeployment, startServer } from '#test/support/processes/server'
import { newAsking } from '../asking.ts'
import { connectedTenants, othersPosts } from '../generation-wishes.ts'
import { type Killing, type Mortal, startKilling } from '../killing.ts'
import { countIn, one, type Verdict, verdictOn, verdictOnNaive } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { goodAnswer } from '../provider.ts'
import { unlimitAgents } from '../stories.ts'
import { askFor, type Clients, type Person, signIn } from './clients.ts'
import { notesOnly, planOf } from './jobs.ts'
import { repeatsOf, startOutside } from './outside-server.ts'

export interface AgentOptions {
  kills: number
  workspaces: number
  /** Of all workspaces together. */
  clients: number
  seed: number
  naive: boolean
}

/** Posts of others, which agents reply to. */
const POSTS = 1_000

/** The patience of one request. */
const GIVE_UP_MS = 60_000

/** An outside call lasts long enough that kills hit it. */
const OUTSIDE_MS = 20

/** A model for agents and drafts, and how many of its requests broke the provider's rules. */
const startModel = async (next: () => number) => {
  const fake: FakeOpenAi = await createFakeOpenAi()
  fake.otherwise((call) => goodAnswer(next, call))
  fake.converseOtherwise(plannedReply)
  return fake
}

/** Events of jobs, and how long to wait for them. */
const BUSY = { events: 20, withinMs: 30_000, pollMs: 20 }

/** A server that is killed before it does anything tests nothing. */
const untilEvents = async (owner: postgres.Sql): Promise<void> => {
  const events = () => countIn(owner`select count(*)::int as n from agent_event`)
  const [before, until] = [await events(), performance.now() + BUSY.withinMs]
  while (performance.now() < until && (await events()) < before + BUSY.events)
    await Bun.sleep(BUSY.pollMs)
}

/**
 * One server after the other: if the same events counted for both, both would always be killed at
 * once.
 */
const inTurn = (wait: () => Promise<void>): (() => Promise<void>) => {
  let last = Promise.resolve()
  return () => {
    last = last.then(wait)
    return last
  }
}

interface Load {
  killing: Killing<Mortal>
  clients: Clients
  people: Person[]
  posts: string[]
}

/**
 * Each client requests one job after the other until all kills have happened, so that jobs are
 * under way at each kill.
 */
const askAll = async (
  { clients: count, kills, naive }: AgentOptions,
  { killing, clients, people, posts }: Load,
): Promise<void> => {
  let begun = 0
  const client = async (): Promise<void> => {
    while (killing.kills() < kills) {
      const nth = begun++
      const person = people[nth % people.length]!
      const wanted = {
        id: `job ${nth}`,
        tenantId: person.tenantId,
        post: posts[nth % posts.length]!,
      }
      await askFor(clients, person, {
        id: `job-${nth}`,
        plan: naive ? notesOnly(wanted) : planOf(nth, wanted),
      })
    }
  }
  await Promise.all(Array.from({ length: count }, client))
}

const countsOf = (owner: postgres.Sql) =>
  one(
    owner<
      Record<string, number>[]
    >`select count(*)::int as jobs, count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'cancelled')::int as cancelled,
        count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where ended_at is null)::int as open,
      count(*) filter (where parent_id is not null)::int as children,
        coalesce(max(depth), 0)::int as depth,
      (select count(*) from agent_step where kind = 'tool' and state = 'done')::int as tools_done,
      (select count(*) from agent_step where kind = 'tool'
        and state = 'failed')::int as tools_failed,
      (select count(*) from agent_step where state = 'unknown')::int as unknown,
      (select count(*) from agent_approval where decided_how = 'person')::int as decided,
      (select count(*) from sandbox.posts p join connection c on c.external_id = p.account_id)::int
        as posts,
      (select coalesce(sum(attempt), 0) from agent_step)::int as deaths,
      (select coalesce(sum(s.attempt), 0) from agent_step s join agent_job c on c.id = s.job_id
        where c.parent_id is not null)::int as child_deaths
      from agent_job`,
  )

/**
 * Commands that the workspace shows more often than they were requested, and those that it does not
 * show at all.
 */
const effectsOf = (owner: postgres.Sql) =>
  one(
    owner<{ doubled: number; lost: number }[]>`select
      ((select coalesce(sum(n - 1), 0) from (select count(*) as n from learning group by note
        having count(*) > 1) d)
        + (select coalesce(sum(n - 1), 0) from (select count(*) as n from audit
          where actor_kind = 'agent'
          group by actor_id, detail->>'step' having count(*) > 1) d)
        + (select coalesce(sum(n - 1), 0) from (select count(*) as n from sandbox.posts
          group by text having count(*) > 1) d))::int as doubled,
      (select count(*) from agent_step s where s.name = 'growth_add_learning' and s.state = 'done'
        and not exists
        (select from learning l where l.tenant_id = s.tenant_id and l.note = s.args->>'note'))::int
          as lost`,
  )

const failuresOf = async (owner: postgres.Sql): Promise<string[]> => {
  const rows = await owner<
    { error: string; n: number }[]
  >`select error, count(*)::int as n from agent_job
    where status = 'failed' and error <> 'enqueue_failed' group by error`
  return rows.map(({ error, n }) => `${n} jobs failed: ${error}`)
}

export async function runAgent(options: AgentOptions): Promise<Verdict> {
  const { seed, kills, workspaces, naive } = options
  await using stack = new AsyncDisposableStack()
  const { owner, server } = stack.use(await newDeployment())
  const fake = stack.use(await startModel(numbers(seed + 2)))
  const outside = stack.use(startOutside(() => OUTSIDE_MS))
  const tenants = await connectedTenants(owner, server.database, workspaces)
  await unlimitAgents(owner, { agent_max_steps: 40, post_now: 1e6, agent_requests: -1 })
  const people = await Promise.all(tenants.map(({ id }) => signIn(owner, id)))
  for (const { id } of tenants) await allowOutside(owner, id)
  await recordReservations(owner)
  const env = {
    OPENAI_BASE_URL: fake.url,
    OUTSIDE_URL: outside.url,
    LOG_LEVEL: 'silent',
    ...(naive ? { AGENT_NAIVE: 'yes' } : {}),
  }
  const start = () => startServer({ ...server, program: 'test/faults/agent/server.ts', env })
  const busy = inTurn(() => untilEvents(owner))
  const killing = stack.use(
    await startKilling({ places: 2, count: kills, next: numbers(seed), start, busy }),
  )
  const asking = newAsking({
    servers: killing.running,
    next: numbers(seed + 1),
    isOverdue: (began) => performance.now() - began > GIVE_UP_MS,
  })
  const clients: Clients = { ...asking, owner, overSince: killing.overSince }
  const posts = await othersPosts(owner, POSTS)
  await Promise.all([askAll(options, { killing, clients, people, posts }), killing.over])
  const [effects, seen] = [await effectsOf(owner), await countsOf(owner)]
  const repeated = repeatsOf(outside.sent)
  const counts = {
    ...(naive ? { naive: 'yes' } : {}),
    seed,
    kills: killing.kills(),
    ...seen,
    model_calls: fake.chats.length,
    outside: outside.sent.length - repeated,
    outside_repeated: repeated,
    ...effects,
    repeated: clients.repeated,
    wrong: clients.wrong.length,
  }
  if (naive) return verdictOnNaive(counts, { doubled: effects.doubled })
  const broken = [
    ...(await brokenInvariants(owner, { ledger: true })),
    ...(await failuresOf(owner)),
  ]
  const never = { ...effects, outside_repeated: repeated, open: seen.open! }
  return verdictOn({ counts, never, broken, wrong: clients.wrong })
}

if (import.meta.main) {
  const defaults = { kills: 1_000, workspaces: 10, clients: 20, seed: 1 }
  await alone('agent', defaults, runAgent, 'naive')
}
