/** What the publish and reconcile lanes do, by the domain's functions, in their order. */
import { expect } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import { type Again, claimAgain, isStale, isTooLate, notAgain, settleAgain, supersede } from '#domain/growth/sending/post-again'
import {
  type Attempt,
  backToApproved,
  claim,
  isMissed,
  isWaiting,
  orphaned,
  type ReturnReason,
  type SendOutcome,
  type Settled,
  settle,
  publishTimes as times,
} from '#domain/growth/sending/publish'
import { afterFailedRead, cleanRead, findPost, hit, mayShow, type SeenPost } from '#domain/growth/sending/reconcile'
import { fingerprintText } from '#port/network/text'
import { attemptWith } from '#test/domain/records'
import {
  accountFor,
  clock,
  connectedDefault,
  emit,
  type Flight,
  itemOf,
  openAttemptOf,
  openAttempts,
  save,
  type View,
  type Work,
  type World,
} from './posting-world.ts'

/** The work that the machine takes next: held ones and those of a busy account left out, whenever it is due. */
export const nextWork = (world: World, kind: Work['kind']): Work | undefined => {
  const busy = new Set([...world.flights.values()].map(({ attempt }) => attempt.connection_id))
  const slotOf = ({ itemId }: Work): string | null => itemOf(world, itemId).account_external_id ?? connectedDefault(world)
  return [...world.works.values()]
    .filter((work) => work.kind === kind && !world.flights.has(work.itemId) && (!world.paused || work.origin === 'manual'))
    .filter((work) => kind === 'reconcile' || !busy.has(slotOf(work) ?? ''))
    .sort((one, other) => one.runAt - other.runAt)[0]
}

const back = (world: World, work: Work, reason: ReturnReason): void => {
  const { item, event } = backToApproved(itemOf(world, work.itemId), reason, clock(world))
  save(world, item)
  world.works.delete(work.itemId)
  emit(world, [event])
}

/** Why the publish lane gives an item back, or what it claims, checked in its order. */
const decide = (world: World, { origin, tries }: Work, item: Item): ReturnReason | { next: Item; account: string } => {
  const now = clock(world)
  if (origin === 'automatic' && isMissed(item, { now, tries, times, policy: item.on_missed ?? 'post' })) return 'missed'
  const account = accountFor(world, item.account_external_id)
  if (account === null) return 'x_not_connected'
  const next = claim(item, { accountExternalId: account, origin, now })
  if (next === 'approval_stale') return next
  const text = fingerprintText(item.body)
  const isOpen = openAttempts(world).some((other) => other.connection_id === account && other.body_sha === text)
  return isOpen ? 'same_text_unconfirmed' : { next, account }
}

/** Nothing is sent again; the doubt goes on. */
const refuse = (world: World, work: Work, reason: string): void => {
  const doubt = { item: itemOf(world, work.itemId), attempt: openAttemptOf(world, work.itemId)!, now: clock(world), times }
  apply(world, work, notAgain(doubt, reason))
}

/** Why the claim of a new send is refused on a person's word, or what is claimed, checked in the publish lane's order. */
const decideAgain = (world: World, item: Item, again: Again): string | { next: Item; account: string } => {
  const now = clock(world)
  if (isTooLate(again, now, times)) return 'missed'
  const account = accountFor(world, item.account_external_id)
  if (account === null) return 'x_not_connected'
  const next = claimAgain(item, { accountExternalId: account, now })
  return next === 'approval_stale' ? next : { next, account }
}

const claimOnceMore = (world: World, work: Work, again: Again): void => {
  const [item, old] = [itemOf(world, work.itemId), openAttemptOf(world, work.itemId)!]
  const decided = decideAgain(world, item, again)
  if (typeof decided === 'string') refuse(world, work, decided)
  else if (isStale(again.clear!, clock(world), times))
    world.works.set(item.id, { ...work, kind: 'reconcile', again: { askedAt: again.askedAt } })
  else {
    world.attempts.set(old.id, supersede(old, clock(world)))
    takeOff(world, work, decided)
  }
}

const takeOff = (world: World, work: Work, { next: item, account }: { next: Item; account: string }): void => {
  const id = `attempt-${world.attempts.size + 1}`
  const sent = { body_sha: fingerprintText(item.body), sent_text: item.body }
  const fresh = { id, record_id: item.id, connection_id: account, ...sent, origin: work.origin }
  const attempt = attemptWith({ ...fresh, intent_at: clock(world), lease_until: new Date(world.now + times.leaseMs) })
  save(world, item)
  world.attempts.set(id, attempt)
  world.flights.set(item.id, { work, attempt, item })
}

/** The claim as the publish lane makes it, at the time the work is due. */
export const claimNext = (world: World, work: Work): void => {
  world.now = Math.max(world.now, work.runAt)
  if (work.again) {
    claimOnceMore(world, work, work.again)
    return
  }
  const item = itemOf(world, work.itemId)
  expect(isWaiting(item, work.origin)).toBe(true)
  const decided = decide(world, work, item)
  if (typeof decided === 'string') {
    back(world, work, decided)
    return
  }
  takeOff(world, work, decided)
  // What was approved for no account is bound by the claim to the default one.
  world.approvals.get(item.id)!.account ??= world.defaultAccount
}

/** Onto the wire: from here the item may be out there. `appearsInMs` null: the network never takes it. */
export const wire = (world: World, { item, attempt }: Flight, appearsInMs: number | null): string => {
  const externalId = `post-${world.posts.length + 1}`
  if (appearsInMs === null) return externalId
  world.posts.push({ externalId, account: attempt.connection_id, text: item.body, createdAt: world.now + appearsInMs, itemId: item.id })
  return externalId
}

const apply = (world: World, { again, ...work }: Work, { item, attempt, reopened, events, next }: Settled): void => {
  save(world, item)
  world.attempts.set(attempt.id, attempt)
  if (reopened) world.attempts.set(reopened.id, reopened)
  emit(world, events)
  if (next.kind === 'reread') {
    world.works.set(item.id, { ...work, kind: 'reconcile', runAt: world.now, again: { askedAt: again!.askedAt } })
    return
  }
  if (next.kind === 'done') {
    world.works.delete(item.id)
    return
  }
  const [kind, tries] = next.kind === 'again' ? (['publish', next.tries] as const) : (['reconcile', 0] as const)
  const { origin } = reopened ?? attempt
  world.works.set(item.id, { ...work, kind, origin, runAt: next.at.getTime(), tries })
}

/** The outcome of a send comes home. */
export const answer = (world: World, { work, attempt }: Flight, outcome: SendOutcome): void => {
  world.flights.delete(work.itemId)
  const sent = { item: itemOf(world, work.itemId), attempt, tries: work.tries, now: clock(world), times }
  const clear = work.again?.clear
  const old = clear && { old: world.attempts.get(clear.attemptId)!, review: clear.review }
  apply(world, work, old ? settleAgain(sent, old, outcome) : settle(sent, outcome))
  if (outcome.kind === 'disconnected') world.accounts[attempt.connection_id] = false
}

/** The process that claimed it died, and another finds its row. */
export const orphan = (world: World, { work, attempt }: Flight): void => {
  world.flights.delete(work.itemId)
  const from = new Date(Math.max(world.now, attempt.lease_until.getTime()))
  apply(world, work, orphaned({ item: itemOf(world, work.itemId), attempt, now: clock(world), times }, from))
}

const timeline = (world: World, attempt: Attempt, { lagMs, cutAt }: View): SeenPost[] =>
  world.posts
    .filter(({ account, createdAt }) => account === attempt.connection_id && createdAt <= world.now - lagMs)
    .map(({ externalId, text, createdAt }) => {
      const truncated = cutAt !== null && text.length > cutAt
      const shown = truncated ? `${text.slice(0, cutAt)}…` : text
      return { externalId, text: fingerprintText(shown), truncated, createdAt: new Date(createdAt), url: null }
    })

/** A read of the timeline as the reconcile lane makes it, at the time the work is due. */
export const readNext = (world: World, work: Work, view: View): void => {
  world.now = Math.max(world.now, work.runAt)
  const [item, attempt] = [itemOf(world, work.itemId), openAttemptOf(world, work.itemId)!]
  const read = { item, attempt, now: clock(world), times }
  const since = { ...attempt, intent_at: doubtfulSince(world, item.id) }
  if (!view.complete || !world.accounts[attempt.connection_id]) {
    apply(world, work, afterFailedRead(read, view.retryAfterMs))
    return
  }
  const open = openAttempts(world).filter((other) => other.connection_id === attempt.connection_id)
  const others = open.filter(({ record_id }) => record_id !== item.id).map((other) => ({ attempt: other, text: other.body_sha }))
  const taken = new Set([...world.attempts.values()].flatMap(({ external_id }) => external_id ?? []))
  const [own, posts] = [{ attempt: since, text: fingerprintText(attempt.sent_text!) }, timeline(world, attempt, view)]
  const found = findPost(own, posts, { others, taken })
  if (found || !work.again) apply(world, work, found ? hit(read, found) : cleanRead(read))
  else if (mayShow(own, posts, taken)) apply(world, work, cleanRead(read))
  else if (isTooLate(work.again, clock(world), times)) refuse(world, work, 'missed')
  else handOver(world, work, view)
}

/** The timeline does not show it: none of the item's own posts that it could have shown is there. */
const handOver = (world: World, work: Work, { lagMs }: View): void => {
  const [item, attempt] = [itemOf(world, work.itemId), openAttemptOf(world, work.itemId)!]
  expect(world.posts.filter((post) => post.itemId === item.id && post.createdAt <= world.now - lagMs)).toEqual([])
  const clear = { readAt: clock(world), attemptId: attempt.id, review: item.review }
  world.works.set(item.id, { ...work, kind: 'publish', runAt: world.now, again: { askedAt: work.again!.askedAt, clear } })
}

/** When the first of an item's attempts began whose fate is not known. */
const doubtfulSince = (world: World, itemId: string): Date => {
  const own = [...world.attempts.values()].filter((one) => one.record_id === itemId && !['posted', 'failed', 'unsent'].includes(one.state))
  return new Date(Math.min(...own.map(({ intent_at }) => intent_at.getTime())))
}
