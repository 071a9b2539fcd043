/**
 * Reads the timeline once more before a returned record is sent again, in the same lane and right
 * before the send. Even if the network has broken its promise, nothing is sent twice.
 */

import type { Claiming } from '#actors/engine/lane'
import { readEvidence } from '#decisions/growth/evidence'
import { identify, mayBeAmong } from '#decisions/growth/identify'
import { recordOf } from '#decisions/growth/send-work'
import { accountOf, resourcesOf, type Seen } from '#decisions/growth/timeline'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { foundBefore, returnedSince, unclearBefore } from '#domain/growth/sending/returning'
import { type SendOutcome, type Sent, type Settled, settle } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import type { SendTimes } from '#domain/growth/sending/times'
import type { Network } from '#port/network/network'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { workOf } from '#store/engine/work'
import { ownedSince, returnedAttempt } from '#store/growth/attempts'

export interface ReadBack {
  /** The attempt whose post is looked for. */
  returned: Attempt
  /** Posts that records owned at the claim. */
  owned: Set<string>
}

/** How long before a post, by the network's clock, the record that owns it may be known. */
const OWNED_BEFORE_MS = 60_000

/**
 * What to read before the send, if anything. The watch over the returned attempt pauses during the
 * send.
 */
export const readBackOf = async (
  { sql, gate, work }: Claiming,
  times: SendTimes,
): Promise<{ readBack: ReadBack; effects: Effects } | undefined> => {
  const returned = await returnedAttempt(sql, recordOf(work), returnedSince(gate.now, times))
  if (!returned) return undefined
  const owned = new Set(
    await ownedSince(sql, returned, new Date(returned.intent_at.getTime() - OWNED_BEFORE_MS)),
  )
  const watch = await workOf(sql, 'reconcile', work.ref_id)
  const runAt = new Date(gate.now.getTime() + times.leaseMs)
  return {
    readBack: { returned, owned },
    effects: watch ? { requeued: [{ id: watch.id, runAt }] } : {},
  }
}

/** What the timeline showed, and how many posts were read. */
export type ShownTimeline = { kind: 'shown'; seen: Seen }

interface Before {
  record: Sendable
  network: Network
  connection: Connection
  readBack: ReadBack
}

/**
 * Why nothing may be sent. Without `stop`, the timeline was read completely and shows nothing that
 * may be the post.
 */
export const readFirst = async (
  { record, network, connection, readBack: { returned, owned } }: Before,
  signal: AbortSignal,
): Promise<{ stop?: SendOutcome | ShownTimeline; resources: number }> => {
  const sought = { record, attempt: returned, account: accountOf(connection) }
  const result = await readEvidence(network, sought, signal)
  if (result.kind !== 'unread')
    return {
      ...(mayBeAmong({ record, attempt: returned }, result, owned)
        ? { stop: { kind: 'shown', seen: result } }
        : {}),
      resources: resourcesOf(result),
    }
  const { why, retryAfterMs, resources = 0 } = result
  if (why === 'disconnected') return { stop: { kind: 'disconnected', reason: why }, resources }
  const reason = why === 'rate_limited' ? why : 'unreachable'
  return {
    stop: {
      kind: 'not_applied',
      reason,
      detail: 'the timeline could not be read to its end',
      retryAfterMs,
    },
    resources,
  }
}

/**
 * Decided under the lock: the post is the record's, or may be; or another record owns it by now,
 * and the send is tried again.
 */
export const settleShown = async (
  sql: Sql,
  {
    sent,
    connection,
    readBack,
  }: { sent: Sent<Sendable>; connection: Connection; readBack: ReadBack },
  { seen }: ShownTimeline,
): Promise<Settled<Sendable>> => {
  const { returned } = readBack
  const { post, mayBeThere } = await identify(
    sql,
    { record: sent.record, attempt: returned, connection },
    seen,
  )
  if (post) return foundBefore({ ...sent, returned }, post)
  return mayBeThere ? unclearBefore({ ...sent, returned }) : settle(sent, { kind: 'unsent' })
}
