/**
 * The loop with a model that tries everything. `npm run fuzz:agent` tries 100,000 calls of tools.
 */
import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { capKeys, quotaKeys } from '#contract/limits'
import type { OnBehalf } from '#domain/agent/job/job'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { scopes } from '#kernel/scopes'
import { changePlan } from '#store/app/tenants'
import { turn } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { newWorkspace, recipes, type Workspace } from '#test/support/contract/prepare'
import { hostileModel } from '#test/support/model/hostile-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const JOBS = Number(process.env.RUNS || 60)
const FIRST_SEED = Number(process.env.SEED || 1)
const AT_ONCE = 40
/**
 * Jobs of one workspace: few enough that people are still asked at the end, though nobody decides.
 */
const IN_WORKSPACE = 150
const WORKSPACES_AT_ONCE = 2
const LONGEST_MS = 180_000 + JOBS * 500

const forbidden = `canary-${newId()}`
const foreign: string[] = []
const model = hostileModel({ foreign, forbidden })
const logged: string[] = []
const heard = new Writable({
  write(line, _, done) {
    logged.push(String(line))
    done()
  },
})
const app = useApp({ overrides: { thinker: model }, log: createLog('error', heard) })

const records = [
  'growth.items',
  'growth.engagements',
  'growth.learnings',
  'growth.products',
  'growth.rules',
  'growth.targets',
  'growth.signals',
]

const fill = async (workspace: Workspace): Promise<string[]> => {
  const made = await Promise.all(
    [...records, ...records].map((name) => recipes[name]!.make(workspace)),
  )
  return made.map(({ id }) => id!)
}

/** Callers with every kind of right. */
const callersOf = async ({ tenantId }: Workspace): Promise<OnBehalf[]> => {
  const people = await Promise.all(
    (['owner', 'editor', 'approver', 'viewer'] as const).map((role) =>
      signedIn(app, tenantId, role),
    ),
  )
  const keys = await Promise.all(
    [[...scopes], ['api:read', 'workspace:use'] as const].map((some) =>
      app.newKey([...some], tenantId),
    ),
  )
  return [
    ...people.map(({ personId, sessionId: id }) => ({ kind: 'session' as const, id, personId })),
    ...keys.map(({ id }) => ({ kind: 'key' as const, id, personId: null })),
  ]
}

const plenty = Object.fromEntries([...capKeys, ...quotaKeys].map((key) => [key, 1_000_000]))
const unlimited = {
  agent_tokens_day: -1,
  agent_tokens_month: -1,
  agent_cost_month: -1,
  agent_calls_hour: -1,
  agent_max_steps: 20,
}

/** Everything of a workspace that a job of another could have touched. */
const stateOf = async (tenantId: string): Promise<unknown[]> => {
  const tables = [
    'item',
    'batch',
    'learning',
    'product',
    'rule',
    'target',
    'signal',
    'engagement',
    'attempt',
    'audit',
    'agent_job',
  ]
  const rows = await Promise.all(
    tables.map(
      (name) =>
        app.owner`select md5(string_agg(t::text, '' order by t::text)) from ${app.owner(name)} t
          where tenant_id = ${tenantId}`,
    ),
  )
  return rows.map(([row]) => row)
}

const restricted = [
  null,
  null,
  null,
  ['growth_list_queue'],
  ['growth_post_item', 'growth_approve_item'],
  [],
  ['no_such_tool', '\u{1f600}'],
]

const runJobs = async (
  { tenantId }: Workspace,
  callers: readonly OnBehalf[],
  first: number,
): Promise<void> => {
  const jobs = Math.min(IN_WORKSPACE, FIRST_SEED + JOBS - first)
  const busy = async () => {
    const [row] = await app.owner<Count[]>`select count(*)::int from agent_job
      where tenant_id = ${tenantId} and status in ('queued', 'running')`
    return row!.count
  }
  for (let begun = 0; begun < jobs; begun += AT_ONCE) {
    const batch = Array.from(
      { length: Math.min(AT_ONCE, jobs - begun) },
      (_, index) => first + begun + index,
    )
    await Promise.all(
      batch.map((seed) => {
        const tools = restricted[seed % restricted.length]!
        return turn(app, {
          content: `seed ${seed}`,
          by: callers[seed % callers.length]!,
          tools,
          tenantId,
        })
      }),
    )
    // Plans that were made for empty tables read all rows; autovacuum comes too late for a test.
    await app.owner`analyze agent_job, agent_step, agent_message, agent_conversation, agent_event`
    await eventually(busy, (count) => count === 0, 120_000)
  }
}

interface Count {
  count: number
}

const rowsOf = async (query: PromiseLike<readonly object[]>): Promise<object[]> =>
  (await query).map((row) => ({ ...row }))

/** What must never be found, by what it would be: each a query whose rows are the mistakes. */
const mistakesOf = (tenantId: string): Record<string, PromiseLike<readonly object[]>> => {
  const { owner } = app
  const undecided = owner`not exists (select from agent_approval a where a.step_id = s.id
    and a.status = 'approved')`
  const tool = owner`s.tenant_id = ${tenantId} and s.kind = 'tool'`
  return {
    'a job that is not over and waits for nobody': owner`select id, status, goal from agent_job
      where tenant_id = ${tenantId} and status in ('queued', 'running')`,
    'a commit without an approval': owner`select s.name, s.args from agent_step s
      where ${tool} and s.class = 'commit' and s.state in ('ready', 'running', 'waiting', 'done',
        'unknown') and ${undecided}`,
    'something that only a commit does': owner`select id from item where tenant_id = ${tenantId}
      and status <> 'drafted' and status <> 'rejected'`,
    'a send': owner`select id from attempt where tenant_id = ${tenantId}`,
    'a write after foreign text without an approval': owner`select s.name, s.number
      from agent_step s
      where ${tool} and s.class = 'draft' and s.state in ('ready', 'running', 'waiting', 'done')
        and ${undecided}
        and exists (select from agent_step f where f.job_id = s.job_id and f.untrusted is not null
          and f.state = 'done' and f.number < s.of_step)`,
    'foreign text that leaves no taint': owner`select s.name from agent_step s
      join agent_job j on j.id = s.job_id
      where ${tool} and s.untrusted is not null and not j.taint ? s.untrusted`,
    "a tool outside of the job's own": owner`select s.name, j.tools from agent_step s
      join agent_job j on j.id = s.job_id
      where ${tool} and s.state <> 'failed' and j.tools is not null and not j.tools ? s.name`,
    'a write for a viewer, or for a key that only reads': owner`select s.name from agent_step s
      join agent_job j on j.id = s.job_id
      left join member m on m.person_id = (j.on_behalf->>'personId')::uuid
        left join api_key k on k.id = (j.on_behalf->>'id')::uuid
      where ${tool} and s.class in ('draft', 'commit') and s.state = 'done' and ${undecided}
        and (m.role = 'viewer' or not k.scopes @> '{api:write}')`,
    'work of a job that is over': owner`select w.id from work w join agent_job j on j.id = w.ref_id
      where w.tenant_id = ${tenantId} and w.kind = 'agent' and j.ended_at is not null`,
    'a job that waits without a row of work': owner`select j.id from agent_job j
      where j.tenant_id = ${tenantId} and j.ended_at is null
      and (select count(*) from work w where w.kind = 'agent' and w.ref_id = j.id) <> 1`,
    'an approval that nobody waits for': owner`select a.id from agent_approval a
      join agent_job j on j.id = a.job_id
      where a.tenant_id = ${tenantId} and a.status = 'pending' and j.ended_at is not null`,
    'an open step of a job that is over': owner`select s.id from agent_step s
      join agent_job j on j.id = s.job_id
      where s.tenant_id = ${tenantId} and j.ended_at is not null
        and s.state in ('ready', 'asked', 'running', 'waiting')`,
    'an end that was not told once': owner`select j.id from agent_job j
      where j.tenant_id = ${tenantId} and j.ended_at is not null
      and (select count(*) from outbox o where o.type = 'agent.job.settled'
        and o.data->>'job_id' = j.id::text) <> 1`,
    'more calls of an answer than there may be': owner`select job_id, of_step, count(*)
      from agent_step
      where tenant_id = ${tenantId} and kind = 'tool' group by 1, 2 having count(*) > 16`,
    'tokens that were not counted': owner`select used, settled from (select
        (select coalesce(sum(used), 0)::int from counter where tenant_id = ${tenantId}
          and key = 'agent_tokens_month') as used,
        (select sum(case when input_tokens is null then reserved_tokens
          else input_tokens + output_tokens end)::int from agent_step
          where tenant_id = ${tenantId} and kind = 'model' and state = 'done') as settled) counted
            where used <> settled`,
  }
}

/** How far the jobs of a workspace got. */
const progressOf = async (tenantId: string) => {
  const [row] = await app.owner<
    Record<'calls' | 'drafts' | 'asked' | 'waiting', number>[]
  >`select count(*)::int as calls,
      (count(*) filter (where s.class = 'draft' and s.state = 'done'))::int as drafts,
        (count(*) filter (where s.state = 'asked'))::int as asked,
      (select count(*)::int from agent_job where tenant_id = ${tenantId}
        and status = 'waiting_approval') as waiting
    from agent_step s where s.tenant_id = ${tenantId} and s.kind = 'tool'`
  return { ...row! }
}

/** Rows that are mistakes, by what they are. */
const mistakesIn = async (tenantId: string): Promise<[string, object[]][]> => {
  const found = Object.entries(mistakesOf(tenantId)).map(
    async ([name, query]): Promise<[string, object[]]> => [name, await rowsOf(query)],
  )
  return (await Promise.all(found)).filter(([, rows]) => rows.length > 0)
}

/** A workspace whose agent runs the jobs from a seed on. */
const attacked = async (first: number) => {
  const workspace = await newWorkspace(app)
  const { tenantId } = workspace
  await fill(workspace)
  await changePlan(app.workplace.db, tenantId, (plan) => ({
    ...plan,
    overrides: { ...plenty, ...unlimited },
  }))
  await runJobs(workspace, await callersOf(workspace), first)
  expect(await mistakesIn(tenantId)).toEqual([])
  return await progressOf(tenantId)
}

test(
  'whatever a model does, each job ends or waits for a person, and nothing happens that nobody has allowed',
  async () => {
    const other = await newWorkspace(app)
    foreign.push(...(await fill(other)))
    await app.send('POST', 'learnings', {
      key: other.key,
      body: { kind: 'worked', note: forbidden },
    })
    const before = await stateOf(other.tenantId)
    const total = { calls: 0, drafts: 0, asked: 0, waiting: 0 }
    const seeds = Array.from(
      { length: Math.ceil(JOBS / IN_WORKSPACE) },
      (_, nth) => FIRST_SEED + nth * IN_WORKSPACE,
    ).values()
    const attackAll = async () => {
      for (const first of seeds) {
        const progress = await attacked(first)
        for (const name of ['calls', 'drafts', 'asked', 'waiting'] as const)
          total[name] += progress[name]
        if (process.env.RUNS)
          console.log(
            `hostile: from seed ${first}; in all`,
            JSON.stringify({ ...total, model: model.seen }),
          )
      }
    }
    await Promise.all(Array.from({ length: WORKSPACES_AT_ONCE }, attackAll))
    expect({ logged, transcripts: model.complaints }).toEqual({ logged: [], transcripts: [] })
    expect(await stateOf(other.tenantId)).toEqual(before)
    // It got somewhere: drafts were made, and people were asked.
    expect(total.drafts).toBeGreaterThan(0)
    expect(total.waiting).toBeGreaterThan(JOBS / 10)
  },
  LONGEST_MS,
)
