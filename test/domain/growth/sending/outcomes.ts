/** Each answer of a network, and what it makes of an item that was sent at `now`. */
import type { Item } from '#domain/growth/drafting/item'
import { post } from '#domain/growth/sending/post'
import { type SendOutcome, type Settled, settle } from '#domain/growth/sending/send'
import type { Origin } from '#domain/growth/sending/sendable'
import { sendTimes } from '#domain/growth/sending/times'
import { approvedItem, at, attemptWith } from '#test/domain/records'

export const due = at()
export const now = at(3_000)
export const after = (ms: number): Date => new Date(now.getTime() + ms)

/** Claimed and sent: by hand, or because it was due. */
export const sent: Record<Origin, Item> = {
  manual: approvedItem({ status: 'publishing', last_error: 'rate_limited' }),
  automatic: approvedItem({
    status: 'publishing',
    post_at: due,
    on_missed: 'skip',
    last_error: 'rate_limited',
  }),
}
export const settled = (origin: Origin, outcome: SendOutcome, tries = 0): Settled<Item> =>
  settle(
    {
      moves: post,
      record: sent[origin],
      attempt: attemptWith({ origin }),
      tries,
      now,
      times: sendTimes,
    },
    outcome,
  )

export const outcomes = {
  posted: { kind: 'posted', externalId: 'post-1', url: 'https://example.com/p/1' },
  refused: { kind: 'refused', reason: 'not allowed here' },
  rateLimited: { kind: 'not_applied', reason: 'rate_limited', detail: '429' },
  unreachable: { kind: 'not_applied', reason: 'unreachable', detail: 'ECONNREFUSED' },
  disconnected: { kind: 'disconnected', reason: 'token revoked' },
  unknown: { kind: 'unknown', reason: 'timeout' },
  unsent: { kind: 'unsent' },
} satisfies Record<string, SendOutcome>
export const off = { post_at: null, on_missed: null }
