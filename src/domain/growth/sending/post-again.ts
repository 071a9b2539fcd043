/**
 * Posting again what may be on the network already, on a person's word. Pure. The item stays unconfirmed, and its attempt open,
 * until the timeline has been read to its end and does not show the post. Only then the claim of a new attempt supersedes the
 * doubtful one; a new send that provably did not take place brings the doubt about the old one back.
 */
import { fail } from '#kernel/errors'
import { type Item, stateOf } from '../drafting/item.ts'
import type { Attempt, PublishTimes, SendOutcome, Sent, Settled } from './publish.ts'
import { bindAccount, settle } from './publish.ts'
import { afterFailedRead } from './reconcile.ts'

/** A person's word, on its way to a send. */
export interface Again {
  askedAt: Date
  /** The timeline did not show the post then; absent while it has not been read. */
  clear?: Clear
}

export interface Clear {
  readAt: Date
  /** Id of the doubtful attempt. */
  attemptId: string
  /** Whether the item was in review, to be so again if the send does not take place. */
  review: boolean
}

/** Who asks for what: only a person who is signed in may, for a program would say it unread. */
export const requestAgain = (item: Item, { by, now }: { by: 'key' | 'session' | 'system'; now: Date }): Item => {
  if (item.status !== 'publish_unconfirmed') fail('conflict', `cannot post again: the item is ${stateOf(item)}`)
  if (by !== 'session')
    fail(
      'conflict',
      `cannot post again: the item is ${stateOf(item)} and may already be on the network; only a signed-in person can confirm, not an API key`,
    )
  return { ...item, updated_at: now }
}

/**
 * The timeline is not read before: the process that claimed the attempt may send until its lease ends, and that must have had
 * time to show. A lease that ends later than one that began with the doubt is one that the clock has stepped back from.
 */
export const readableFrom = ({ lease_until, doubt_at }: Attempt, times: PublishTimes): Date => {
  const latest = doubt_at ? doubt_at.getTime() + times.leaseMs : Number.POSITIVE_INFINITY
  return new Date(Math.min(lease_until.getTime(), latest) + times.settleMs)
}

/** A person does not expect it any more. */
export const isTooLate = ({ askedAt }: Again, now: Date, times: PublishTimes): boolean => now.getTime() - askedAt.getTime() > times.nowMs

/** What the timeline did not show so long ago proves nothing now; nor does what was read later than now, for the clock has stepped back. */
export const isStale = ({ readAt }: Clear, now: Date, times: PublishTimes): boolean => {
  const age = now.getTime() - readAt.getTime()
  return age < 0 || age > times.freshMs
}

/** The doubtful attempt makes way for a new one. */
export const supersede = (attempt: Attempt, now: Date): Attempt => ({ ...attempt, state: 'superseded', ended_at: now })

/** The claim of the new send, or `approval_stale` when text or account are not those that were approved. */
export const claimAgain = (item: Item, claim: { accountExternalId: string; now: Date }): Item | 'approval_stale' => {
  if (item.status !== 'publish_unconfirmed') fail('conflict', `cannot claim: the item is ${stateOf(item)}`)
  const next = bindAccount(item, claim)
  return next === 'approval_stale' ? next : { ...next, review: false }
}

/** Nothing is sent again, for this reason; the doubt goes on, and its next read is as after one that decided nothing. */
export const notAgain = (doubt: { item: Item; attempt: Attempt; now: Date; times: PublishTimes }, reason: string): Settled =>
  afterFailedRead({ ...doubt, item: { ...doubt.item, last_error: reason, updated_at: doubt.now } })

/** The network's answer to the new send. Where it provably did not take place, everything is as before, and the old attempt is open. */
export const settleAgain = (sent: Sent, { old, review }: { old: Attempt; review: boolean }, outcome: SendOutcome): Settled => {
  if (outcome.kind === 'posted' || outcome.kind === 'unknown') return settle(sent, outcome)
  const { now, times } = sent
  const item: Item = { ...sent.item, status: 'publish_unconfirmed', review, updated_at: now }
  const reopened: Attempt = { ...old, state: review ? 'review' : 'doubt', ended_at: null }
  const ended = (state: 'failed' | 'unsent', error: string | null): Attempt => ({ ...sent.attempt, state, error, ended_at: now })
  if (outcome.kind === 'unsent') return { item, attempt: ended('unsent', null), reopened, events: [], next: { kind: 'reread' } }
  const error = outcome.kind === 'disconnected' ? 'x_not_connected' : outcome.reason
  const open = notAgain({ item, attempt: reopened, now, times }, error)
  return { ...open, attempt: ended('failed', error), reopened: open.attempt }
}
