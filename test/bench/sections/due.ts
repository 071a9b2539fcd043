/**
 * Many posts of many tenants that fall due at one moment: how late they go out, and that each goes
 * out once.
 */
import { costOf, takeTurn } from '../contest.ts'
import type { Figures, Row } from '../figures.ts'
import { post } from '../requests.ts'
import { type Running, sendOnce } from '../spawn.ts'
import { addDrafts, type World } from '../world.ts'
import { scheduleWorkflows, startWorkflows, workflowsLeft } from './due-peer.ts'

const SETTLED_WITHIN_MS = 240_000
const LOOK_EVERY_MS = 100

export interface Sizes {
  posts: number
  tenants: number
}

/** Posts scheduled for one moment, as rows of `table` with `posted_at`. */
export interface Due {
  ids: string[]
  at: Date
  table: 'item' | 'peer.item'
}

/** Approves and schedules drafts over the API. */
export const schedule = async (
  world: World,
  { port }: Running,
  { posts, tenants }: Sizes,
): Promise<Due> => {
  const drafts = await addDrafts(
    world.owner,
    world.tenants.slice(0, tenants),
    Math.ceil(posts / tenants),
  )
  const send = (requests: string[]) => sendOnce(port, 32, requests)
  const started = performance.now()
  await send(drafts.map(({ id, tenant }) => post(`/api/v1/growth/items/${id}/approve`, tenant)))
  // Scheduling takes about as long again, or longer on a busy machine; all must be scheduled before
  // the first is due.
  const at = new Date(Date.now() + (performance.now() - started) * 4 + 3_000)
  await send(
    drafts.map(({ id, tenant }) =>
      post(`/api/v1/growth/items/${id}/schedule`, tenant, { post_at: at.toISOString() }),
    ),
  )
  return { ids: drafts.map(({ id }) => id), at, table: 'item' }
}

export const untilDue = async ({ at }: Due): Promise<void> => {
  const ahead = at.getTime() - Date.now()
  if (ahead < 0) throw new Error('posts were due before all of them had been scheduled')
  await Bun.sleep(ahead)
}

/**
 * Whether a post is still to be sent. The answer is cheap, as its processor time is counted too.
 */
export const postsLeft = async ({ owner }: World): Promise<boolean> =>
  (await owner`select 1 from work where kind = 'send' limit 1`).length > 0

export const untilSettled = async (left: () => Promise<boolean>): Promise<void> => {
  const until = performance.now() + SETTLED_WITHIN_MS
  while (await left()) {
    if (performance.now() > until) throw new Error('not all posts went out in time')
    await Bun.sleep(LOOK_EVERY_MS)
  }
}

/** How late the posts went out; throws unless the network has each once. */
export const lateness = async ({ owner }: World, { ids, at, table }: Due): Promise<Figures> => {
  const [late] = await owner<{ p50: number; p99: number; last: number }[]>`
    select percentile_cont(0.5) within group (order by late) as p50, percentile_cont(0.99)
      within group (order by late) as p99, max(late) as last
    from (select extract(epoch from posted_at - ${at}::timestamptz)::float8 * 1000 as late
      from ${owner(table)} where id = any(${ids}::uuid[])) l`
  const [sent] = await owner<
    { posts: number; texts: number }[]
  >`select count(*)::int as posts, count(distinct p.text)::int as texts
    from sandbox.posts p join ${owner(table)} i on i.body = p.text where i.id = any(${ids}::uuid[])`
  if (sent?.posts !== ids.length || sent.texts !== ids.length)
    throw new Error(
      `${ids.length} posts were due; ${sent?.posts} went out, of ${sent?.texts} texts`,
    )
  const { p50, p99, last } = late!
  return { perSecond: ids.length / (last / 1_000), p50Ms: p50, p99Ms: p99, longestMs: last }
}

const measured = async (
  world: World,
  { pid }: Running,
  due: Due,
  left: () => Promise<boolean>,
): Promise<Figures> => {
  await untilDue(due)
  const run = () => untilSettled(left).then(() => ({}))
  const { server, database } = await takeTurn(world.owner, { pid, run })
  const each = (ms: number): number => (ms * 1_000) / due.ids.length
  return { ...(await lateness(world, due)), serverUs: each(server), postgresUs: each(database) }
}

/**
 * Beside the same number of workflows of DBOS: three durable steps each, with the same write to the
 * network.
 */
export async function due(world: World, server: Running, sizes: Sizes): Promise<Row> {
  const figures = await measured(world, server, await schedule(world, server, sizes), () =>
    postsLeft(world),
  )
  await using peer = await startWorkflows(world)
  const theirs = await measured(world, peer, await scheduleWorkflows(world, peer, sizes), () =>
    workflowsLeft(world),
  )
  return {
    what: 'posts of many tenants due at one moment, each sent once: how late',
    figures,
    peers: [
      {
        name: 'DBOS, a workflow of three durable steps a post',
        figures: theirs,
        ratio: figures.perSecond! / theirs.perSecond!,
        costRatio: costOf(theirs) / costOf(figures),
      },
    ],
    goals: [
      { of: 'p99Ms', atMost: 15_000 },
      { of: 'ratio', atLeast: 3 },
      { of: 'costRatio', atLeast: 3 },
    ],
  }
}
