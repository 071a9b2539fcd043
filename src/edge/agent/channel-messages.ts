/** Takes in what a verified post to a channel contains: messages, and reports about ours. */
import { arrivedOf } from '#decisions/agent/channel-bounds'
import type { ArrivedMessage } from '#domain/agent/channel/message'
import { partNamed } from '#domain/agent/channel/undelivered'
import { AppError } from '#kernel/errors'
import type { Operation } from '#ops/engine/bind'
import type { ChannelAdapter, InboundPost } from '#port/channel/channel'
import type { Incoming } from '../incoming.ts'
import type { Addressed } from './channel-signatures.ts'
import { callFrom } from './inbound.ts'

/** How many of a post's conversations have their messages taken at once. */
const AT_ONCE = 8

/** A post, and the operations that take in its contents. */
interface Received {
  adapter: ChannelAdapter
  post: InboundPost
  incoming: Incoming
  /** The operation that takes in a message. */
  operation: Operation
  /** The operation that notes messages of ours that did not arrive. */
  undelivered: Operation
}

interface Taking extends Addressed {
  message: ArrivedMessage
}

/** Each message only once, even if several of the connections are shown it. */
const messagesOf = ({ adapter, post }: Received, connections: readonly Addressed[]): Taking[] => {
  const seen = new Set<string>()
  return connections.flatMap((one) =>
    adapter.read(post, one.open).flatMap((read) => {
      const message = arrivedOf(read)
      if (!message || message.eventIds.some((id) => seen.has(id))) return []
      for (const id of message.eventIds) seen.add(id)
      return [{ ...one, message }]
    }),
  )
}

/** `gone`: the connection was deleted since it was looked up. */
export type Taken =
  | { outcome: 'taken' | 'known' | 'declined' | 'gone'; retryAfter: 0 }
  | { outcome: 'later'; retryAfter: number }

const unlessGone = async <T>(
  run: () => Promise<{ body: string }>,
): Promise<T | { outcome: 'gone'; retryAfter: 0 }> => {
  try {
    return JSON.parse((await run()).body) as T
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'not_found')
      return { outcome: 'gone', retryAfter: 0 }
    throw cause
  }
}

const take = (
  { operation, incoming }: Received,
  { tenantId, open, message }: Taking,
): Promise<Taken> =>
  unlessGone<Taken>(() =>
    operation.run(() => ({ id: open.id, message }), callFrom(tenantId, incoming)),
  )

/**
 * Takes the messages of one thread one after the other. After a message that came too soon, takes
 * no more.
 */
const takeAll = async (
  all: readonly Taking[],
  takeOne: (taking: Taking) => Promise<Taken>,
): Promise<Taken[]> => {
  const threads = [
    ...Map.groupBy(all, ({ open, message }) => JSON.stringify([open.id, message.thread])).values(),
  ]
  const results: Taken[] = []
  const next = async (): Promise<void> => {
    for (let thread = threads.shift(); thread; thread = threads.shift())
      for (const taking of thread) {
        if (results.some(({ outcome }) => outcome === 'later')) return
        results.push(await takeOne(taking))
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return results
}

/** How many are noted in one letter. */
const MOST_UNDELIVERED = 100

/**
 * Notes messages of ours that did not arrive. Messages that another program sent with the same key
 * do not have our names, and are skipped.
 */
const noteUndelivered = async (
  { undelivered, adapter, post, incoming }: Received,
  { tenantId, open }: Addressed,
): Promise<Taken[]> => {
  const told = adapter.undelivered?.(post, open) ?? []
  const messages = told.flatMap(({ id, externalId, error }) => {
    const named = partNamed(id)
    return named ? [{ ...named, externalId, error }] : []
  })
  const results: Taken[] = []
  for (let from = 0; from < messages.length; from += MOST_UNDELIVERED) {
    const input = { id: open.id, messages: messages.slice(from, from + MOST_UNDELIVERED) }
    const answer = await unlessGone<{ outcome: 'noted' | 'known' | 'later'; retryAfter: number }>(
      () => undelivered.run(() => input, callFrom(tenantId, incoming)),
    )
    const { outcome, retryAfter } = answer
    if (outcome === 'later') results.push({ outcome, retryAfter })
    else results.push({ outcome: outcome === 'gone' ? 'gone' : 'known', retryAfter: 0 })
  }
  return results
}

/** Takes in everything that a post contains for its connections. */
export const takeFrom = async (
  received: Received,
  connections: readonly Addressed[],
): Promise<Taken[]> => {
  const taken = await takeAll(messagesOf(received, connections), (one) => take(received, one))
  const noted = await Promise.all(connections.map((one) => noteUndelivered(received, one)))
  return [...taken, ...noted.flat()]
}
