/**
 * Doubts about what was sent under a key of ours. The network says whether it has the key, and
 * sending again under it makes no second post, so the machine goes on by itself. Pure.
 */
import { createHash } from 'node:crypto'
import { watchNext } from './returning.ts'
import type { Settled, Trial } from './send.ts'
import type { Sendable } from './sendable.ts'

const MINUTE_MS = 60_000

/** When an id was made, in milliseconds since 1970. */
const madeAt = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

/**
 * What makes the key of a record as it was approved for an account. Nothing else has a part in it,
 * so neither another try nor a copy of this database can send the same under another key.
 */
export const sentContent = ({
  id,
  approved_hash,
}: Pick<Sendable, 'id' | 'approved_hash'>): { at: Date; digest: Buffer } => ({
  at: new Date(Math.floor(madeAt(id) / MINUTE_MS) * MINUTE_MS),
  digest: createHash('sha256').update(`${id} ${approved_hash}`).digest(),
})

interface Looked<R extends Sendable> extends Trial<R> {
  /** When the first try that is still in doubt began. */
  since: Date
}

/**
 * The network does not have the key. The record is sent again for a while; then it is approved and
 * off the schedule, for a person to send.
 */
export const absent = <R extends Sendable>(looked: Looked<R>): Settled<R> => {
  const { moves, record, attempt, since, now, times } = looked
  const returned = {
    ...attempt,
    state: 'returned',
    ended_at: now,
    clean_reads: attempt.clean_reads + 1,
  } as const
  const watchAt = watchNext(returned, now, times) ?? now
  if (now.getTime() - since.getTime() >= times.resendMs)
    return {
      ...moves.returned({ ...record, review: false }, 'network_error_not_posted', now),
      attempt: returned,
      next: { kind: 'reconcile', at: watchAt },
    }
  const wait = times.backoffMs[attempt.number - 1] ?? times.backoffMs.at(-1) ?? 0
  return {
    record: moves.unsent({ ...record, review: false }, now),
    attempt: returned,
    events: [],
    next: { kind: 'resend', at: new Date(now.getTime() + wait), watchAt },
  }
}
