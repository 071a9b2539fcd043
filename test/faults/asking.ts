/** Clients of servers that die: each repeats its request, at any server, until it is answered. */
import type { ServerProcess } from '#test/support/processes/server'
import type { Killing, Mortal } from './killing.ts'
import { isOverdue } from './killing.ts'

export interface Asking {
  /** The servers that run now; a request goes to a random one. */
  servers(): ServerProcess[]
  /** Numbers in [0, 1). */
  next(): number
  /** Whether a client that has been asking since then gives up, by `performance.now()`. */
  isOverdue(began: number): boolean
  /** Requests, and how many of them were repeats. */
  requests: number
  repeated: number
  /** Answers that nobody should get. */
  wrong: string[]
}

/** Nobody has asked for anything yet. */
export const newAsking = (given: Pick<Asking, 'servers' | 'next' | 'isOverdue'>): Asking => ({
  ...given,
  requests: 0,
  repeated: 0,
  wrong: [],
})

/** Follows the servers that are killed in turn: clients give up some time after the last kill. */
export const askingThrough = <T extends ServerProcess & Mortal>(
  killing: Killing<T>,
  next: () => number,
): Asking =>
  newAsking({
    servers: killing.running,
    next,
    isOverdue: (began) => isOverdue(killing.overSince(), began),
  })

/** The outcome of one request: an answer, an answer that nobody should get, or none yet. */
export type Came<T> = { answer: T } | { wrong: string } | { again: string }

/** A client that has waited this long repeats its request. */
const PATIENCE_MS = 4_000
const RETRY_MS = 100

/**
 * `what`: the thing asked for. `once`: sends one request. Undefined: the problem has been noted.
 */
export const persistently = async <T>(
  asking: Asking,
  what: string,
  once: (server: ServerProcess) => Promise<Came<T>>,
): Promise<T | undefined> => {
  const began = performance.now()
  let last = 'nothing'
  while (!asking.isOverdue(began)) {
    const servers = asking.servers()
    const server = servers[Math.floor(asking.next() * servers.length)]!
    asking.requests++
    const late = Bun.sleep(PATIENCE_MS).then(() => undefined)
    const came = await Promise.race([once(server).catch(() => undefined), late])
    if (came && 'answer' in came) return came.answer
    if (came && 'wrong' in came) {
      asking.wrong.push(`${what}: ${came.wrong}`)
      return undefined
    }
    last = came?.again ?? last
    asking.repeated++
    await Bun.sleep(RETRY_MS)
  }
  const ms = Math.round(performance.now() - began)
  asking.wrong.push(`${what}: no answer within ${ms} ms; the last was ${last}`)
  return undefined
}

/** The text of a reply, just enough to identify it. */
export const wordsOf = ({ status, text }: { status: number; text: string }): string =>
  `${status} ${text.slice(0, 200)}`
