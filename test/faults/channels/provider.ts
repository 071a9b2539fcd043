/**
 * What stands for the provider of a channel: it delivers what people write until a server has taken
 * it, and counts what it is asked to send.
 */
import type { Server } from 'bun'
import { CHANNEL_SECRET } from '#test/support/channels/channels'
import { type DevChannel, postDev } from '#test/support/channels/dev-posts'
import { type Asking, persistently, wordsOf } from '../asking.ts'

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
const USUAL_MS = 20
/**
 * The shares of requests that the provider wants later, and of those that it takes and answers with
 * an error, or not at all.
 */
const [LATER, ERROR, SILENCE] = [0.03, 0.02, 0.02]

export const startProvider = (next: () => number, lastsMs = USUAL_MS): Provider => {
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
      await Bun.sleep(lastsMs)
      if (chance < LATER + ERROR) return new Response('', { status: 500 })
      if (chance < LATER + ERROR + SILENCE) throw new Error('no answer')
      return new Response()
    },
    error: () => new Response('', { status: 502 }),
  })
  return {
    port: server.port!,
    url: `http://127.0.0.1:${server.port}/`,
    requests: () => requests,
    taken,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** The share of events that come twice at once, from two machines of the provider. */
const DOUBLED = 0.2

export interface Written {
  channel: DevChannel
  sender: string
  id: string
  text: string
}

/** One machine of the provider posts the event until a server says that it has it. */
const deliver = (asking: Asking, { channel, ...post }: Written) =>
  persistently(asking, `event ${post.id}`, async ({ url }) => {
    const answer = await postDev(url, channel, post, { secret: CHANNEL_SECRET })
    if (answer.status === 200) return { answer }
    // What is wrong with a post does not change.
    return answer.status < 500 ? { wrong: wordsOf(answer) } : { again: wordsOf(answer) }
  })

/** Some events come twice at once. */
export const write = async (asking: Asking, written: Written): Promise<void> => {
  const twice = asking.next() < DOUBLED
  if (twice) asking.repeated++
  await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => deliver(asking, written)))
}
