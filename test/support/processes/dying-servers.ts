/**
 * Two servers of one database that die in turn, while requests to them are repeated until one of
 * them has accepted.
 */
import { eventually, type TestApp } from '../app.ts'
import { crash } from '../growth/story.ts'

/**
 * A server dies after this many successful answers. With fifty requests that is twice: a model call
 * whose process dies three times is given up.
 */
const DIES_AFTER = 20
const SENT = 50
/** For one post, while servers die and others start on a busy machine. */
const TAKEN_WITHIN_MS = 100_000

/**
 * Sends fifty posts at once, each until it is answered by a status other than 503. Returns the
 * statuses, the number of crashes, and a running server. `send` returns the status; it may throw if
 * the server is gone.
 */
export const sendWhileServersDie = async (
  start: () => Promise<TestApp>,
  servers: TestApp[],
  send: (url: string, nth: number) => Promise<number>,
) => {
  let [tries, taken, crashes] = [0, 0, 0]
  const replace = async () => {
    const place = crashes++ % servers.length
    await crash(servers[place]!)
    servers[place] = await start()
  }
  /**
   * One at a time: a crash cuts all connections to the database, which a starting server does not
   * survive.
   */
  let dying: Promise<unknown> = Promise.resolve()
  const sent = async (nth: number): Promise<number | undefined> => {
    const status = await send(servers[tries++ % servers.length]!.url, nth).catch(() => undefined)
    // By then the other server may own the workspace.
    if (status === 200 && ++taken % DIES_AFTER === 0) {
      dying = dying.then(replace)
      await dying
    }
    return status
  }
  const once = (nth: number) =>
    eventually(
      () => sent(nth),
      (status) => status !== undefined && status !== 503,
      TAKEN_WITHIN_MS,
    )
  const statuses = await Promise.all(Array.from({ length: SENT }, (_, nth) => once(nth)))
  return { statuses, crashes, server: servers[0]! }
}
