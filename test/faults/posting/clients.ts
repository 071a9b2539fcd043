/**
 * Clients that want posts out: each command under a key of its own, asked again, at any server,
 * until it is answered.
 */
import type postgres from 'postgres'
import type { Reply, Send } from '#test/support/app'
import { inMs, type Story } from '#test/support/growth/story'
import type { ServerProcess } from '#test/support/processes/server'
import { GIVE_UP_MS, isOverdue } from '../killing.ts'

export interface Clients {
  owner: postgres.Sql
  /**
   * The servers that run now; a request goes to a random one, so about half go to one that does not
   * own the workspace.
   */
  servers: () => ServerProcess[]
  /** Numbers in [0, 1). */
  next: () => number
  /**
   * When the last kill was over, as `performance.now()` has it; undefined while more are to come.
   */
  overSince: () => number | undefined
  /** Commands that are over: with an answer, or because the item went on without it. */
  answered: number
  /** Requests that were sent again with the same key. */
  repeated: number
  /** The longest that one went on asking before it had its answer, in milliseconds. */
  longestMs: number
  /** Answers that no client expects. */
  wrong: string[]
}

export interface Command {
  story: Story
  id: string
  /** Items unless told otherwise. */
  on?: 'engagements'
  action: 'approve' | 'schedule' | 'post-now' | 'execute' | 'reopen' | 'edit'
  body?: unknown
  /** Of a client that asks for a new time if this one has passed: how often it has done so. */
  round?: number
}

/** A client that waited this long asks again. */
const PATIENCE_MS = 4_000
const RETRY_MS = 100
const SOON_MS = 3_000
/** Of one schedule. */
const MAX_TIMES = 5
/**
 * Final answers; 502 and 429 say that the network provably took nothing, 409 that the item went on
 * without the client.
 */
const EXPECTED = [200, 202, 409, 429, 502]
const REPEATABLE = /idempotency_in_flight|rate_limited:(mailbox|database)/

/**
 * The servers were gone for so long that the time asked for has passed: nothing was scheduled, and
 * the client asks for a new time.
 */
const isTooLate = ({ round }: Command, reply: Reply): boolean =>
  round !== undefined && reply.status === 400 && reply.text.includes('post_at is in the past')

const isFinal = (reply: Reply | undefined): reply is Reply =>
  reply !== undefined && reply.status !== 503 && !REPEATABLE.test(reply.text)

/** Clients that have not asked for anything yet. `overSince`: where nothing is killed, 0. */
export const newClients = (
  given: Pick<Clients, 'owner' | 'servers' | 'next' | 'overSince'>,
): Clients => ({
  ...given,
  answered: 0,
  repeated: 0,
  longestMs: 0,
  wrong: [],
})

/** The words of a reply, as few as tell what it is. */
const wordsOf = (reply: Reply | undefined): string =>
  reply ? `${reply.status} ${reply.text.slice(0, 200)}` : 'nothing'

/**
 * A doubt is no answer, and the request that brought it waits long; its client has seen enough once
 * the item is on its way.
 */
const isUnderWay = async ({ owner }: Clients, { on, action, id }: Command): Promise<boolean> => {
  if (action !== 'post-now' && action !== 'execute') return false
  const table = owner(on ? 'engagement' : 'item')
  return (await owner`select 1 from ${table} where id = ${id} and status <> 'approved'`).length > 0
}

/**
 * Asks until there is a final answer, which it returns; undefined if the item went on without it.
 * What no client expects is noted.
 */
export const asked = async (clients: Clients, command: Command): Promise<Reply | undefined> => {
  const { story, id, on = 'items', action, body, round = 0 } = command
  const began = performance.now()
  const request: Send = {
    headers: { 'idempotency-key': `${action} ${id} ${round}` },
    ...(body === undefined ? {} : { body }),
  }
  let last: Reply | undefined
  while (!isOverdue(clients.overSince(), began)) {
    const servers = clients.servers()
    const server = servers[Math.floor(clients.next() * servers.length)]!
    const [method, path] =
      action === 'edit' ? ['PATCH', `${on}/${id}`] : ['POST', `${on}/${id}/${action}`]
    const asking = server.send(method, path, { ...request, key: story.key }).catch(() => undefined)
    const reply = await Promise.race([asking, Bun.sleep(PATIENCE_MS).then(() => undefined)])
    if (isFinal(reply)) {
      clients.answered++
      clients.longestMs = Math.max(clients.longestMs, Math.round(performance.now() - began))
      if (!isTooLate(command, reply) && !EXPECTED.includes(reply.status))
        clients.wrong.push(`${action}: ${wordsOf(reply)}`)
      return reply
    }
    if (reply?.status === 409 && (await isUnderWay(clients, command))) {
      clients.answered++
      return undefined
    }
    last = reply ?? last
    clients.repeated++
    await Bun.sleep(RETRY_MS)
  }
  clients.wrong.push(
    `${action} ${id}: no answer within ${GIVE_UP_MS} ms; the last reply was ${wordsOf(last)}`,
  )
  return undefined
}

/** The same; returns whether a new time has to be asked for. */
export const persist = async (
  clients: Clients,
  command: Command,
): Promise<'too late' | undefined> => {
  const reply = await asked(clients, command)
  return reply && isTooLate(command, reply) ? 'too late' : undefined
}

/** Approves the item, then asks for it now, or schedules it for soon. */
export const postItem = async (clients: Clients, story: Story, id: string): Promise<void> => {
  await persist(clients, { story, id, action: 'approve' })
  if (clients.next() < 0.5) {
    await persist(clients, { story, id, action: 'post-now' })
    return
  }
  for (let round = 0; round < MAX_TIMES; round++) {
    const body = { post_at: inMs(clients.next() * SOON_MS) }
    if ((await persist(clients, { story, id, action: 'schedule', body, round })) !== 'too late')
      return
  }
  clients.wrong.push(`schedule ${id}: too late ${MAX_TIMES} times`)
}
