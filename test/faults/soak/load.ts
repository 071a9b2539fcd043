/**
 * What people and programs do all day in many workspaces: one act after another, each of a
 * workspace taken at random.
 */
import type { Reply } from '#test/support/app'
import { type DevChannel, postDev } from '#test/support/channels/dev-posts'
import { openStream } from '#test/support/http/event-stream'
import { connectMcp } from '#test/support/mcp/mcp'
import type { ServerProcess } from '#test/support/processes/server'

/** A workspace of the load. */
export interface Home {
  key: string
  channel: DevChannel
  /** The conversation that goes on, and the messages in it so far. */
  talk?: { id: string; messages: number }
}

export interface Scene {
  server: ServerProcess
  homes: readonly Home[]
  next: () => number
  /** Acts by name. */
  done: Record<string, number>
  /** Answers that nobody expects. */
  wrong: string[]
}

type Act = (scene: Scene, home: Home) => Promise<void>

const MOST_WRONG = 20
/** A new conversation begins after so many messages. */
const MESSAGES = 12
const JOB_WITHIN_MS = 30_000

const sentence = ({ next }: Scene): string => {
  const word = () => Math.floor(next() * 20_000).toString(36)
  return Array.from({ length: 12 }, word).join(' ')
}

/** Sends as the workspace's key, and keeps what is not one of the expected statuses. */
const sends =
  ({ server, wrong }: Scene, { key }: Home) =>
  async (
    method: string,
    path: string,
    body?: unknown,
    expected = [200, 201, 202],
  ): Promise<Reply['body'] & Record<string, never>> => {
    const reply = await server.send(method, path, { key, ...(body === undefined ? {} : { body }) })
    if (!expected.includes(reply.status) && wrong.length < MOST_WRONG)
      wrong.push(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`)
    return reply.body as never
  }

const reading: Act = async (scene, home) => {
  const send = sends(scene, home)
  const paths = [
    'overview',
    'counts',
    'brief',
    'items?limit=25',
    `items?q=${Math.floor(scene.next() * 20_000).toString(36)}`,
    'plan',
  ]
  for (const path of paths) await send('GET', path)
}

const posting: Act = async (scene, home) => {
  const send = sends(scene, home)
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
  const { item } = (await send('POST', 'items', { body: sentence(scene) })) as any
  if (!item) return
  if (scene.next() < 0.3) return void (await send('DELETE', `items/${item.id}`))
  await send('POST', `items/${item.id}/approve`, {})
  await send('POST', `items/${item.id}/post-now`, {})
}

const drafting: Act = async (scene, home) => {
  await sends(scene, home)('POST', 'batches', { count: 2 })
}

const talking: Act = async (scene, home) => {
  const send = sends(scene, home)
  const begin = async () => ({
    // biome-ignore lint/suspicious/noExplicitAny: answers of the API
    id: ((await send('POST', '/api/v1/agent/conversations', {})) as any).conversation?.id,
    messages: 0,
  })
  if (!home.talk || home.talk.messages >= MESSAGES) home.talk = await begin()
  home.talk.messages++
  const path = `/api/v1/agent/conversations/${home.talk.id}/messages`
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
  const { job } = (await send('POST', path, { content: sentence(scene) })) as any
  if (!job) return
  await using stream = await openStream(
    `${scene.server.url}/api/v1/agent/jobs/${job.id}/events`,
    home,
  )
  await Promise.race([stream.ended(), Bun.sleep(JOB_WITHIN_MS)])
}

const filing: Act = async (scene, home) => {
  const send = sends(scene, home)
  const content = Array.from(
    { length: 60 },
    () => `## ${sentence(scene)}\n\n${sentence(scene)}`,
  ).join('\n\n')
  const { document } = (await send('POST', '/api/v1/documents', {
    fileName: 'notes.md',
    content,
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
  })) as any
  if (!document) return
  for (let tries = 0; tries < 5; tries++) {
    await send(
      'GET',
      `/api/v1/documents/search?q=${Math.floor(scene.next() * 20_000).toString(36)}`,
    )
    await Bun.sleep(100)
  }
  await send('DELETE', `/api/v1/documents/${document.id}`, undefined, [200, 204])
}

const connecting: Act = async ({ server }, { key }) => {
  await using mcp = await connectMcp(server.url, { key })
  await mcp.tools()
  await mcp.call('growth_overview')
  await mcp.call('growth_list_queue', { limit: 10 })
}

const writing: Act = async (scene, { channel }) => {
  const { status, text } = await postDev(scene.server.url, channel, {
    sender: 'somebody',
    text: sentence(scene),
  })
  if (status !== 200 && scene.wrong.length < MOST_WRONG)
    scene.wrong.push(`channel: ${status} ${text.slice(0, 200)}`)
}

/** A password that is wrong, and a key that is unknown. */
const failing: Act = async (scene, home) => {
  const body = {
    email: `${Math.floor(scene.next() * 1e6)}@example.com`,
    password: 'not the password of anybody',
  }
  await sends(scene, home)('POST', '/api/v1/app/session', body, [401, 429])
  await sends(scene, { ...home, key: `tnd_${'x'.repeat(40)}` })('GET', 'overview', undefined, [401])
}

const acts = { reading, posting, drafting, talking, filing, connecting, writing, failing }
/** In this mix. */
const mix: (keyof typeof acts)[] = [
  ...([
    'reading',
    'reading',
    'reading',
    'posting',
    'posting',
    'posting',
    'talking',
    'talking',
  ] as const),
  ...(['drafting', 'filing', 'connecting', 'writing', 'failing'] as const),
]

/** One client, who acts until `isOver`; few workspaces are busy, most sleep and wake. */
export const live = async (scene: Scene, pauseMs: number, isOver: () => boolean): Promise<void> => {
  const { homes, next, done, wrong } = scene
  while (!isOver()) {
    const name = mix[Math.floor(next() * mix.length)]!
    const home = homes[Math.floor(next() ** 3 * homes.length)]!
    await acts[name](scene, home).catch((cause) => {
      if (wrong.length < MOST_WRONG && !isOver()) wrong.push(`${name}: ${cause}`)
    })
    done[name] = (done[name] ?? 0) + 1
    await Bun.sleep(pauseMs * 2 * next())
  }
}
