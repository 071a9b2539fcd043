/**
 * Clients that want posts out: each command under a key of its own, asked again, at any server,
 * until it is answered.
 */
import type postgres from 'postgres'
import type { Reply } from '#test/support/app'
import { inMs, type Story } from '#test/support/growth/story'
import { type Asking, type Came, persistently, wordsOf } from '../asking.ts'

export interface Clients extends Asking {
  owner: postgres.Sql
  /** Commands that are over: with an answer, or because the item went on without it. */
  answered: number
  /** How often a client asks for a post whose network took nothing, each time under a new key. */
  asks: number
  /** The longest that one went on asking before it had its answer, in milliseconds. */
  longestMs: number
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

const isFinal = (reply: Reply): boolean => reply.status !== 503 && !REPEATABLE.test(reply.text)

export const newClients = (owner: postgres.Sql, asking: Asking, asks = 1): Clients => ({
  ...asking,
  owner,
  asks,
  answered: 0,
  longestMs: 0,
})

/**
 * A doubt is no answer, and the request that brought it waits long; its client has seen enough once
 * the item is on its way.
 */
const isUnderWay = async (
  { owner }: Clients,
  { on, action, id, body }: Command,
): Promise<boolean> => {
  const sends = action === 'post-now' || action === 'execute' || body === APPROVED_AND_SENT
  if (!sends) return false
  const table = owner(on ? 'engagement' : 'item')
  const left = await owner`select 1 from ${table}
    where id = ${id} and status not in ('drafted', 'approved')`
  return left.length > 0
}

/** Approves an engagement, and executes it in the same letter. */
export const APPROVED_AND_SENT = { execute: true }

const judged = async (
  clients: Clients,
  command: Command,
  reply: Reply,
): Promise<Came<Reply | 'under way'>> => {
  const words = wordsOf(reply)
  if (isFinal(reply))
    return isTooLate(command, reply) || EXPECTED.includes(reply.status)
      ? { answer: reply }
      : { wrong: words }
  const isOver = reply.status === 409 && (await isUnderWay(clients, command))
  return isOver ? { answer: 'under way' } : { again: words }
}

/**
 * Asks until there is a final answer, which it returns; undefined if the item went on without it,
 * or nobody should get such an answer.
 */
export const asked = async (clients: Clients, command: Command): Promise<Reply | undefined> => {
  const { story, id, on = 'items', action, body, round = 0 } = command
  const began = performance.now()
  const [method, path] =
    action === 'edit' ? ['PATCH', `${on}/${id}`] : ['POST', `${on}/${id}/${action}`]
  const request = {
    key: story.key,
    headers: { 'idempotency-key': `${action} ${id} ${round}` },
    ...(body === undefined ? {} : { body }),
  }
  const reply = await persistently(clients, `${action} ${id}`, async ({ send }) =>
    judged(clients, command, await send(method!, path!, request)),
  )
  if (reply === undefined) return undefined
  clients.answered++
  if (reply === 'under way') return undefined
  clients.longestMs = Math.max(clients.longestMs, Math.round(performance.now() - began))
  return reply
}

/** The same; returns whether a new time has to be asked for. */
export const persist = async (
  clients: Clients,
  command: Command,
): Promise<'too late' | undefined> => {
  const reply = await asked(clients, command)
  return reply && isTooLate(command, reply) ? 'too late' : undefined
}

const TOOK_NOTHING = [429, 502]
const ASK_AGAIN_MS = 300

/** Asks for the post until the network has taken it, or is asked often enough. */
export const postNow = async (
  clients: Clients,
  item: Pick<Command, 'story' | 'id'>,
): Promise<void> => {
  for (let nth = 0; nth < clients.asks; nth++) {
    const round = nth === 0 ? {} : { round: nth }
    const reply = await asked(clients, { ...item, action: 'post-now', ...round })
    if (!reply || !TOOK_NOTHING.includes(reply.status)) return
    await Bun.sleep(ASK_AGAIN_MS)
  }
}

/** Approves the item, then asks for it now, or schedules it for soon. */
export const postItem = async (clients: Clients, story: Story, id: string): Promise<void> => {
  await persist(clients, { story, id, action: 'approve' })
  if (clients.next() < 0.5) {
    await postNow(clients, { story, id })
    return
  }
  for (let round = 0; round < MAX_TIMES; round++) {
    const body = { post_at: inMs(clients.next() * SOON_MS) }
    if ((await persist(clients, { story, id, action: 'schedule', body, round })) !== 'too late')
      return
  }
  clients.wrong.push(`schedule ${id}: too late ${MAX_TIMES} times`)
}
