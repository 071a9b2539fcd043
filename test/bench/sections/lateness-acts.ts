/**
 * What happens in the workspaces of the section `lateness`: posts fall due, people write in
 * channels and talk, jobs run, events go out.
 */
import { newId } from '#kernel/ids'
import { planText } from '../../support/agent/plan.ts'
import { postDev } from '../../support/channels/dev-posts.ts'
import { converse } from '../agent/talk.ts'
import { ask, request } from '../client.ts'
import { post } from '../requests.ts'
import { sendOnce } from '../spawn.ts'
import { addDrafts, type Tenant } from '../world.ts'
import type { Home, Scene } from './lateness-stage.ts'

/** Posts by id, and when each is due. */
export type Due = Map<string, Date>

interface Wish {
  home: Home
  count: number
  /** Of one post and the next. */
  everyMs: number
}

/** As many as the API takes in a request. */
const TOGETHER = 100
const SETTLED_WITHIN_MS = 300_000
const LOOK_EVERY_MS = 100

/** Approves and schedules drafts over the API, the first due in `aheadMs`. */
export const schedulePosts = async (
  { world, server }: Scene,
  wishes: Wish[],
  aheadMs: number,
): Promise<Due> => {
  const drafts = await Promise.all(
    wishes.map(({ home, count }) => addDrafts(world.owner, [home.tenant], count)),
  )
  const approvals = drafts
    .flat()
    .map(({ id, tenant }) => post(`/api/v1/growth/items/${id}/approve`, tenant))
  await sendOnce(server.port, 16, approvals)
  const from = Date.now() + aheadMs
  const due: Due = new Map()
  const scheduleAll = async ({ home, everyMs }: Wish, ids: string[]) => {
    const items = ids.map((id, nth) => ({
      id,
      post_at: new Date(from + nth * everyMs).toISOString(),
    }))
    for (const { id, post_at } of items) due.set(id, new Date(post_at))
    for (let at = 0; at < items.length; at += TOGETHER) {
      const body = { action: 'schedule', items: items.slice(at, at + TOGETHER) }
      const { results } = await ask(server, home.tenant, 'POST', 'growth/items/bulk', body)
      const refused = results.find(({ error }: { error: object | null }) => error)
      if (refused) throw new Error(`a post was not scheduled: ${JSON.stringify(refused.error)}`)
    }
  }
  await Promise.all(
    wishes.map((wish, nth) =>
      scheduleAll(
        wish,
        drafts[nth]!.map(({ id }) => id),
      ),
    ),
  )
  if (Date.now() > from) throw new Error('posts were due before all of them had been scheduled')
  return due
}

export const untilFirst = async (due: Due): Promise<void> => {
  await Bun.sleep(
    Math.max(0, Math.min(...[...due.values()].map((at) => at.getTime())) - Date.now()),
  )
}

/** How many of these are still to be sent. */
export const postsLeft = async ({ world: { owner } }: Scene, due: Due): Promise<number> =>
  (
    await owner<{ n: number }[]>`select count(*)::int as n from work where kind = 'send'
      and ref_id = any(${[...due.keys()]}::uuid[])`
  )[0]!.n

const untilNone = async (what: string, left: () => Promise<number>): Promise<void> => {
  for (const until = performance.now() + SETTLED_WITHIN_MS; ; await Bun.sleep(LOOK_EVERY_MS)) {
    const count = await left()
    if (count === 0) return
    if (performance.now() > until) throw new Error(`${count} ${what} were left`)
  }
}

/** Milliseconds from the time of each post to its arrival at the network, where each is once. */
export const latenessOf = async (scene: Scene, { tenant }: Home, due: Due): Promise<number[]> => {
  await untilNone('posts', () => postsLeft(scene, due))
  const rows = await scene.world.owner<{ id: string; at: Date }[]>`select i.id, p.created_at as at
    from item i join sandbox.posts p on p.text = i.body where i.id = any(${[...due.keys()]}::uuid[])
      and i.tenant_id = ${tenant.id}`
  if (new Set(rows.map(({ id }) => id)).size !== rows.length)
    throw new Error('a post went out twice')
  return rows.map(({ id, at }) => at.getTime() - due.get(id)!.getTime())
}

/** No work that is due is left in the workspaces. */
export const untilAtRest = ({ world: { owner }, own, other }: Scene): Promise<void> =>
  untilNone('rows of work', async () => {
    const ids = [own, other].map(({ tenant }) => tenant.id)
    const [row] = await owner<{ n: number }[]>`select count(*)::int as n from work
      where tenant_id = any(${ids}::uuid[]) and run_at <= now() + interval '1 minute'
        and lane in ('publish', 'agent', 'delivery', 'ingest')`
    return row!.n
  })

/** A server that has no room wants the same again later; when, it mostly says. */
const AGAIN_S = 5

/** Sends until there is room. */
const sent = async <R extends { status: number; headers: Headers }>(
  send: () => Promise<R>,
): Promise<R> => {
  for (;;) {
    const reply = await send()
    if (reply.status < 400) return reply
    if (reply.status !== 429 && reply.status !== 503)
      throw new Error(`refused with ${reply.status}`)
    await Bun.sleep(Number(reply.headers.get('retry-after') ?? AGAIN_S) * 1_000)
  }
}

/**
 * Writes in the channel, in a thread of its own; resolves with the milliseconds until its provider
 * has the answer.
 */
const write = async (
  { server, outside }: Scene,
  { routingKey, senders }: Home,
  nth: number,
): Promise<number> => {
  const message = {
    id: newId(),
    sender: senders[nth % senders.length]!,
    text: planText([]),
    thread: newId(),
  }
  const began = performance.now()
  const answered = outside.answered(message.thread)
  await sent(() => postDev(`http://127.0.0.1:${server.port}`, { routingKey }, message))
  return (await answered) - began
}

/** A job that rejects a draft. */
const begin = async ({ server }: Scene, tenant: Tenant, draft: string): Promise<void> => {
  const body = {
    content: planText([[['growth_reject_item', { id: draft }]]]),
    model: 'fast',
    toolNames: ['growth_reject_item'],
  }
  await sent(() => request(server, tenant, 'POST', 'agent/messages', body))
}

export interface LoadSizes {
  messages: number
  jobs: number
  deliveries: number
  /**
   * Within which the messages come and the jobs begin, evenly spaced. All deliveries are due at
   * once.
   */
  seconds: number
}

/**
 * All of that in one workspace; resolves when every message has its answer and nothing is left to
 * do.
 */
export const keepBusy = async (
  scene: Scene,
  { tenant, ...home }: Home,
  { messages, jobs, deliveries, seconds }: LoadSizes,
): Promise<void> => {
  const { world, outside } = scene
  const drafts = await addDrafts(world.owner, [tenant], jobs)
  const before = outside.events
  // They go out with the next event of the workspace.
  await world.owner`insert into outbox (id, tenant_id, type, data, created_at, subject, state,
    next_at, expires_at)
    select gen_random_uuid(), ${tenant.id}, 'growth.item.failed', '{}', now(), 'bench-' || n,
      'pending', now(), null from generate_series(1, ${deliveries}) n`
  const spaced = async (count: number, act: (nth: number) => Promise<unknown>): Promise<void> => {
    const gap = (seconds * 1_000) / Math.max(1, count)
    await Promise.all(
      Array.from({ length: count }, (_, nth) => Bun.sleep(nth * gap).then(() => act(nth))),
    )
  }
  await Promise.all([
    spaced(jobs, (nth) => begin(scene, tenant, drafts[nth]!.id)),
    spaced(messages, (nth) => write(scene, { tenant, ...home }, nth)),
  ])
  await untilAtRest(scene)
  if (outside.events - before < deliveries)
    throw new Error(`${outside.events - before} of ${deliveries} events arrived`)
}

/** Messages to the agent, one after the other: the milliseconds from each to its answer. */
export const talk = async (
  { server }: Scene,
  { tenant }: Home,
  turns: number,
): Promise<number[]> => {
  const times: number[] = []
  await using conversation = await converse(server, tenant)
  for (let turn = 0; turn < turns; turn++) times.push(await conversation.say([], 'fast'))
  return times
}

/** The same in the channel. */
export const correspond = async (scene: Scene, home: Home, messages: number): Promise<number[]> => {
  const times: number[] = []
  for (let nth = 0; nth < messages; nth++) times.push(await write(scene, home, nth))
  return times
}
