/**
 * What stands for the provider of a channel: it delivers what people write until a server has taken
 * it, and counts what it is asked to send.
 */
import type { Server } from 'bun'
import { CHANNEL_SECRET } from '#test/support/channels/channels'
import { type DevChannel, postDev } from '#test/support/channels/dev-posts'
import type { ServerProcess } from '#test/support/processes/server'
import { isOverdue } from '../killing.ts'

/** A message of ours that the provider has taken. */
export interface Taken {
  /** Of the reply and its part. */
  id: string
  text: string
}

export interface Provider extends AsyncDisposable {
  port: number
  url: string
  /** Requests, those included that were declined. */
  requests(): number
  taken: Taken[]
}

/** A request lasts long enough that kills hit it. */
const LASTS_MS = 20
/**
 * The shares of requests that the provider wants later, and of those that it takes and answers with
 * an error, or not at all.
 */
const [LATER, ERROR, SILENCE] = [0.03, 0.02, 0.02]

export const startProvider = (next: () => number): Provider => {
  let requests = 0
  const taken: Taken[] = []
  const server: Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { id, text } = (await request.json()) as Taken
      requests++
      const chance = next()
      if (chance < LATER) return new Response('', { status: 429, headers: { 'retry-after': '1' } })
      taken.push({ id, text })
      await Bun.sleep(LASTS_MS)
      if (chance < LATER + ERROR) return new Response('', { status: 500 })
      if (chance < LATER + ERROR + SILENCE) throw new Error('no answer')
      return new Response()
    },
    error: () => new Response('', { status: 502 }),
  })
  return {
    ...{
      port: server.port!,
      url: `http://127.0.0.1:${server.port}/`,
      requests: () => requests,
      taken,
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

export interface Delivering {
  servers(): ServerProcess[]
  /**
   * When the last kill was over, as `performance.now()` has it; undefined while more are to come.
   */
  overSince(): number | undefined
  next: () => number
  /** Posts, the repeated ones included. */
  posts: number
  /** Of these, posts of what was sent before. */
  repeated: number
  wrong: string[]
}

/** The share of events that come twice at once, from two machines of the provider. */
const DOUBLED = 0.2
const PATIENCE_MS = 4_000
const RETRY_MS = 100

export interface Written {
  channel: DevChannel
  sender: string
  id: string
  text: string
}

/** One machine of the provider posts the event until a server says that it has it. */
const deliver = async (delivering: Delivering, { channel, ...post }: Written): Promise<void> => {
  const began = performance.now()
  let last = 'none'
  for (let tries = 0; !isOverdue(delivering.overSince(), began); tries++) {
    const servers = delivering.servers()
    const { url } = servers[Math.floor(delivering.next() * servers.length)]!
    delivering.posts++
    if (tries > 0) delivering.repeated++
    const late = Bun.sleep(PATIENCE_MS).then(() => undefined)
    const posted = postDev(url, channel, post, { secret: CHANNEL_SECRET }).catch(() => undefined)
    const answer = await Promise.race([posted, late])
    if (answer?.status === 200) return
    last = answer ? `${answer.status} ${answer.text.slice(0, 200)}` : 'nothing'
    // What is wrong with a post does not change.
    if (answer && answer.status < 500) break
    await Bun.sleep(RETRY_MS)
  }
  delivering.wrong.push(`event ${post.id}: no answer but ${last}`)
}

/** Some events come twice at once. */
export const write = async (delivering: Delivering, written: Written): Promise<void> => {
  const twice = delivering.next() < DOUBLED
  if (twice) delivering.repeated++
  await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => deliver(delivering, written)))
}
