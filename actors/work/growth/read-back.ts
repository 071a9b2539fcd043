/**
 * Before an item is sent that was returned because the network had not made its post, the timeline is read once more, in the same
 * lane and right before the send: should the network have broken its promise, nothing goes out twice.
 */

import type { Claiming } from '#actors/engine/lane'
import type { Connection } from '#domain/growth/sending/connection'
import { type Attempt, type PublishTimes, type SendOutcome, type Sent, type Settled, settle } from '#domain/growth/sending/publish'
import type { SeenPost } from '#domain/growth/sending/reconcile'
import { foundBefore, returnedSince, unclearBefore } from '#domain/growth/sending/returning'
import type { Network } from '#port/network/network'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { workOf } from '#store/engine/work'
import { ownedSince, returnedAttempt } from '#store/growth/attempts'
import { identify, mayBeAmong, readTimeline } from './timeline.ts'

export interface ReadBack {
  /** The attempt whose post is looked for. */
  returned: Attempt
  /** Posts that items owned at the claim. */
  owned: Set<string>
}

/** An owner of a post is known at most so long before the post by the network's clock. */
const OWNED_BEFORE_MS = 60_000

/** What must be read first, if anything; the watch over the returned attempt rests while the item is sent. */
export const readBackOf = async (
  { sql, gate, work }: Claiming,
  connection: Connection,
  times: PublishTimes,
): Promise<{ readBack: ReadBack; effects: Effects } | undefined> => {
  const returned = await returnedAttempt(sql, { sendable: 'post', record_id: work.ref_id }, returnedSince(gate.now, times))
  if (!returned) return undefined
  const owned = new Set(await ownedSince(sql, connection.id, new Date(returned.intent_at.getTime() - OWNED_BEFORE_MS)))
  const watch = await workOf(sql, 'reconcile', work.ref_id)
  const runAt = new Date(gate.now.getTime() + times.leaseMs)
  return { readBack: { returned, owned }, effects: watch ? { requeued: [{ id: watch.id, runAt }] } : {} }
}

/** What the timeline shows instead of nothing, and how many posts were read. */
export type Shown = { kind: 'shown'; posts: SeenPost[] }

interface Reading {
  network: Network
  connection: Connection
  readBack: ReadBack
}

/** Why nothing may be sent; no `stop` where the timeline was read to its end and shows nothing that may be the post. */
export const lookFirst = async (
  { network, connection, readBack: { returned, owned } }: Reading,
  signal: AbortSignal,
): Promise<{ stop?: SendOutcome | Shown; resources: number }> => {
  const looked = await readTimeline(network, { connection, attempt: returned }, signal)
  if (looked.kind === 'read') {
    const { posts } = looked
    return { ...(mayBeAmong(returned, posts, owned) ? { stop: { kind: 'shown', posts } } : {}), resources: posts.length }
  }
  const { why, retryAfterMs, resources = 0 } = looked
  if (why === 'disconnected') return { stop: { kind: 'disconnected', reason: why }, resources }
  const reason = why === 'rate_limited' ? why : 'unreachable'
  return { stop: { kind: 'not_applied', reason, detail: 'the timeline could not be read to its end', retryAfterMs }, resources }
}

/** Decided under the lock: it is the post, or may be; or it belongs to another item by now, and the send is tried again. */
export const settleShown = async (
  sql: Sql,
  { sent, connection, readBack }: { sent: Sent; connection: Connection; readBack: ReadBack },
  { posts }: Shown,
): Promise<Settled> => {
  const { returned } = readBack
  const { post, mayBeThere } = await identify(sql, { attempt: returned, connection }, posts)
  if (post) return foundBefore({ ...sent, returned }, post)
  return mayBeThere ? unclearBefore({ ...sent, returned }) : settle(sent, { kind: 'unsent' })
}
