/** Many posts of many tenants that fall due in the same second: how late they go out, and that each goes out once. */
import { post } from './requests.ts'
import { load, type Running } from './spawn.ts'
import { ms, type Row } from './table.ts'
import { addDrafts, type World } from './world.ts'

const SETTLED_WITHIN_MS = 240_000

export async function due(world: World, { port }: Running, sizes: { posts: number; tenants: number }): Promise<Row> {
  const { owner } = world
  const drafts = await addDrafts(owner, world.tenants.slice(0, sizes.tenants), Math.ceil(sizes.posts / sizes.tenants))
  const ids = drafts.map(({ id }) => id)
  const send = (requests: string[]) => load({ port, callers: 32, seconds: 300, warmUpSeconds: 0, once: true, requests })
  const started = performance.now()
  await send(drafts.map(({ id, tenant }) => post(`/api/v1/growth/items/${id}/approve`, tenant)))
  // Scheduling takes about as long again, or longer on a busy machine; all must be scheduled before the first is due.
  const ahead = (performance.now() - started) * 4 + 3_000
  const at = new Date(Date.now() + ahead)
  const body = { post_at: at.toISOString() }
  await send(drafts.map(({ id, tenant }) => post(`/api/v1/growth/items/${id}/schedule`, tenant, body)))
  const inTime = Date.now() < at.getTime()
  await untilPosted(world, ids)
  const [row] = await owner<{ p50: number; p99: number; last: number }[]>`
    select percentile_cont(0.5) within group (order by late) as p50, percentile_cont(0.99) within group (order by late) as p99, max(late) as last
    from (select extract(epoch from posted_at - ${at}::timestamptz)::float8 * 1000 as late from item where id = any(${ids}::uuid[])) l`
  const [sent] = await owner<{ posts: number; texts: number }[]>`select count(*)::int as posts, count(distinct p.text)::int as texts
    from sandbox.posts p join item i on i.body = p.text where i.id = any(${ids}::uuid[])`
  if (sent?.posts !== ids.length || sent.texts !== ids.length)
    throw new Error(`${ids.length} posts were due; ${sent?.posts} went out, of ${sent?.texts} texts`)
  return {
    what: `${ids.length.toLocaleString('en')} posts of ${sizes.tenants} tenants due at the same moment${inTime ? '' : ' (scheduling ran into it)'}`,
    result: `late by p50 ${ms(row!.p50)}, p99 ${ms(row!.p99)}, at most ${ms(row!.last)}; the network has ${sent.posts.toLocaleString('en')}, each once`,
    peer: `${Math.round(ids.length / (row!.last / 1_000)).toLocaleString('en')} posts/s`,
  }
}

const untilPosted = async ({ owner }: World, ids: string[]): Promise<void> => {
  for (const until = performance.now() + SETTLED_WITHIN_MS; performance.now() < until; await Bun.sleep(250)) {
    const [row] = await owner<
      { open: number }[]
    >`select count(*)::int as open from item where id = any(${ids}::uuid[]) and status <> 'posted'`
    if (row?.open === 0) return
  }
  throw new Error('not all posts went out in time')
}
