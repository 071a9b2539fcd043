/**
 * What tools of the agent that always fail cost the rest of their own workspace: its commands and
 * its due posts, beside jobs that call such tools, and beside as many that call one that works, in
 * turns.
 */

import { planText } from '../../support/agent/plan.ts'
import { request } from '../client.ts'
import { type Figures, median, type Row } from '../figures.ts'
import { PROFILE_PATCH } from '../peer-sql.ts'
import { put } from '../requests.ts'
import { load, type Running, startProcess } from '../spawn.ts'
import { addDrafts, type Tenant, type World } from '../world.ts'

/** A post falls due this often. */
const POST_EVERY_MS = 100
/** A job calls each tool this often, unless the one before still runs. */
const CALL_EVERY_MS = 500
const WORKING = 'growth_list_learnings'
/** All posts of a phase are scheduled before the first is due. */
const AHEAD_MS = 2_500
const SETTLED_WITHIN_MS = 60_000

interface Sizes {
  /** Duration of one phase. */
  seconds: number
  /** Pairs of a phase with a tool that works and a phase with those that fail. */
  repeats: number
  /** Duration of the one phase with a tool that takes four seconds for each of three tries. */
  slowSeconds: number
}

interface Phase {
  commandsP99: number
  postsP99: number
  latestPost: number
}

const FAILING = {
  'that throw, cannot be written, or never end beside the mailbox': [
    'throws',
    'cannot_be_written',
    'read_throws',
    'read_never_ends',
    'reach_never_ends',
    'reach_throws_in_the_letter',
  ],
  'whose statement takes longer than it may': ['is_very_slow_in_the_database'],
}

/** The workspace's API. */
const client =
  (server: Running, tenant: Tenant) => async (method: string, path: string, body?: unknown) => {
    const response = await request(server, tenant, method, path, body)
    const text = await response.text()
    if (!response.ok && response.status !== 503)
      throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
type Client = ReturnType<typeof client>

/**
 * Calls a tool in one job after the other until it is stopped. The last one ends before the next
 * phase begins.
 */
const callAgain = async (send: Client, tool: string, stopped: () => boolean): Promise<void> => {
  while (!stopped()) {
    const next = performance.now() + CALL_EVERY_MS
    const { body } = await send('POST', 'agent/conversations', {})
    const id = body.conversation?.id
    const asked =
      id &&
      (
        await send('POST', `agent/conversations/${id}/messages`, {
          content: planText([[[tool, {}]]]),
        })
      ).body
    while (asked?.job) {
      const { job } = (await send('GET', `agent/jobs/${asked.job.id}`)).body
      if (job?.endedAt) break
      await Bun.sleep(50)
    }
    await Bun.sleep(Math.max(0, next - performance.now()))
  }
}

interface Scheduled {
  id: string
  at: string
}

/** Posts that fall due one after the other from `from` on. */
const schedulePosts = async (
  world: World,
  send: Client,
  tenant: Tenant,
  { from, count }: { from: number; count: number },
) => {
  const drafts = await addDrafts(world.owner, [tenant], count)
  const posts = drafts.map(
    ({ id }, n): Scheduled => ({ id, at: new Date(from + n * POST_EVERY_MS).toISOString() }),
  )
  await Promise.all(
    posts.map(async ({ id, at }) => {
      await send('POST', `growth/items/${id}/approve`)
      await send('POST', `growth/items/${id}/schedule`, { post_at: at })
    }),
  )
  if (Date.now() > from) throw new Error('posts were due before all of them had been scheduled')
  return posts
}

const latenessOf = async (
  { owner }: World,
  posts: Scheduled[],
): Promise<Pick<Phase, 'postsP99' | 'latestPost'>> => {
  for (const until = performance.now() + SETTLED_WITHIN_MS; ; await Bun.sleep(100)) {
    const [late] = await owner<
      { left: number; p99: number; last: number }[]
    >`select count(*) filter (where posted_at is null)::int as left,
        percentile_cont(0.99) within group (order by late) as p99, max(late) as last
      from (select i.posted_at, extract(epoch from i.posted_at - d.at)::float8 * 1000 as late
        from unnest(${posts.map(({ id }) => id)}::uuid[],
          ${posts.map(({ at }) => at)}::timestamptz[]) d (id, at) join item i on i.id = d.id) l`
    if (late!.left === 0) return { postsP99: late!.p99, latestPost: late!.last }
    if (performance.now() > until) throw new Error(`${late!.left} posts did not go out in time`)
  }
}

const phase = async (
  world: World,
  server: Running,
  tenant: Tenant,
  { seconds, tools }: { seconds: number; tools: string[] },
) => {
  const send = client(server, tenant)
  const from = Date.now() + AHEAD_MS
  const posts = await schedulePosts(world, send, tenant, {
    from,
    count: Math.floor((seconds * 1_000) / POST_EVERY_MS),
  })
  let isOver = false
  const calling = tools.map((tool) => callAgain(send, tool, () => isOver))
  await Bun.sleep(Math.max(0, from - Date.now()))
  const requests = [put('/api/v1/growth/profile', tenant, PROFILE_PATCH)]
  const { p99 } = await load({ port: server.port, callers: 1, seconds, warmUpSeconds: 0, requests })
  isOver = true
  await Promise.all(calling)
  return { commandsP99: p99, ...(await latenessOf(world, posts)) }
}

const figuresOf = (
  pairs: { quiet: Phase; failing: Phase }[],
  of: 'commandsP99' | 'postsP99',
): Figures => ({
  quietP99Ms: median(pairs.map(({ quiet }) => quiet[of])),
  p99Ms: median(pairs.map(({ failing }) => failing[of])),
  slowdown: median(pairs.map(({ quiet, failing }) => failing[of] / quiet[of])),
})

export async function contained(
  world: World,
  { seconds, repeats, slowSeconds }: Sizes,
): Promise<Row[]> {
  const tenant = world.tenants[0]!
  await world.owner`update api_key set scopes = scopes || '{workspace:use}'
    where tenant_id = ${tenant.id} and not scopes @> '{workspace:use}'`
  const env = { ...world.env, OPENAI_BASE_URL: 'http://127.0.0.1:9' }
  await using server = await startProcess(
    [process.execPath, 'test/bench/sections/contained-server.ts'],
    env,
  )
  await phase(world, server, tenant, { seconds: 1, tools: [WORKING] })
  const rows: Row[] = []
  for (const [which, tools] of Object.entries(FAILING)) {
    const isSlow = tools.length === 1
    const lasts = isSlow ? slowSeconds : seconds
    const pairs: { quiet: Phase; failing: Phase }[] = []
    for (let repeat = 0; repeat < (isSlow ? 1 : repeats); repeat++) {
      const quiet = await phase(world, server, tenant, {
        seconds: lasts,
        tools: tools.map(() => WORKING),
      })
      pairs.push({ quiet, failing: await phase(world, server, tenant, { seconds: lasts, tools }) })
    }
    const goals = isSlow ? [] : [{ of: 'slowdown' as const, atMost: 2 }]
    const latest = Math.max(...pairs.map(({ failing }) => failing.latestPost))
    rows.push({
      what: `a workspace's commands, one at a time, while its agent calls tools ${which}; alone: one that works`,
      figures: figuresOf(pairs, 'commandsP99'),
      goals,
    })
    rows.push({
      what: `its posts, one each ${POST_EVERY_MS} ms, while its agent calls tools ${which}: how late; alone: one that works`,
      figures: { ...figuresOf(pairs, 'postsP99'), longestMs: latest },
      goals,
    })
  }
  return rows
}
