/**
 * Two servers of one database that die in turn, while what they are sent is sent again until one of
 * them has taken it.
 */
import { eventually, type TestApp } from '../app.ts'
import { crash } from '../growth/story.ts'

/**
 * After so many answers of success, a server dies. That is twice of fifty: a call of the model
 * whose process dies three times is given up.
 */
const DIES_AFTER = 20
const SENT = 50
/** Of a post, while servers die and others start on a busy machine. */
const TAKEN_WITHIN_MS = 100_000

/**
 * Sends fifty posts at once, each until it is answered by another status than 503. Gives the
 * statuses, the number of crashes, and a server that runs. `send` gives the status; it may throw
 * where the server has gone.
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
   * One after the other: a crash cuts all connections to the database, which a server that starts
   * does not survive.
   */
  let dying: Promise<unknown> = Promise.resolve()
  const sent = async (nth: number): Promise<number | undefined> => {
    const status = await send(servers[tries++ % servers.length]!.url, nth).catch(() => undefined)
    // The other server may own the workspace by then.
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
