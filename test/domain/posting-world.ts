/**
 * Items, attempts, work and a network that remembers everything, driven by the domain's functions in the order in which the
 * publish and reconcile lanes call them. What people approved, and what reached the network, is recorded beside the domain.
 */
import { expect } from 'bun:test'
import { approve, type Item, markPosted, postedEvent, reject, requestPost, schedule, unschedule } from '#domain/item'
import {
  type Attempt,
  claim,
  doubt,
  giveBack,
  isMissed,
  isWaiting,
  type Origin,
  type Outcome,
  PROCESS_STOPPED,
  type ReturnReason,
  type Settled,
  settle,
  publishTimes as times,
} from '#domain/publish'
import { cleanRead, findPost, hit, type SeenPost, unread } from '#domain/reconcile'
import { fail } from '#kernel/errors'
import { fingerprintText } from '#port/network/text'
import { attemptWith, draftedItem } from './records.ts'

/** A post of the network. One whose time has not come yet was accepted after the caller had given up, and appears then. */
export interface Post {
  externalId: string
  account: string
  text: string
  createdAt: number
  /** The item whose send made it; null where a person posted by hand. */
  itemId: string | null
}

export interface Work {
  itemId: string
  kind: 'publish' | 'reconcile'
  origin: Origin
  runAt: number
  tries: number
}

/** A claimed send, before the network has answered. */
export interface Flight {
  work: Work
  attempt: Attempt
  item: Item
}

/** What a read of the timeline shows: posts younger than `lagMs` are missing, texts are cut at `cutAt` characters. */
export interface View {
  complete: boolean
  lagMs: number
  cutAt: number | null
  retryAfterMs?: number
}

export interface World {
  now: number
  paused: boolean
  accounts: Record<string, boolean>
  defaultAccount: string
  items: Map<string, Item>
  attempts: Map<string, Attempt>
  works: Map<string, Work>
  flights: Map<string, Flight>
  posts: Post[]
  events: { type: string; itemId: unknown }[]
  /** What a person approved last. */
  approvals: Map<string, { body: string; account: string | null }>
  /** Items whose text or account is another than what was approved. */
  tampered: Set<string>
  /** Items that a person marked posted. */
  marked: Set<string>
  /** Those of them that were in doubt: their posts, if there are any, belong to no attempt. */
  settledByHand: Set<string>
}

const START = Date.UTC(2026, 10, 21, 7)

export const newWorld = (bodies: string[]): World => ({
  now: START,
  paused: false,
  accounts: { one: true, two: true },
  defaultAccount: 'one',
  items: new Map(bodies.map((body, index) => [`item-${index}`, { ...draftedItem, id: `item-${index}`, body }])),
  attempts: new Map(),
  works: new Map(),
  flights: new Map(),
  posts: [],
  events: [],
  approvals: new Map(),
  tampered: new Set(),
  marked: new Set(),
  settledByHand: new Set(),
})

const clock = (world: World): Date => new Date(world.now)
export const itemOf = (world: World, id: string): Item => world.items.get(id)!
const save = (world: World, item: Item): void => {
  world.items.set(item.id, item)
}
const connectedDefault = (world: World): string | null => (world.accounts[world.defaultAccount] ? world.defaultAccount : null)
export const accountFor = (world: World, bound: string | null): string | null =>
  bound === null ? connectedDefault(world) : world.accounts[bound] ? bound : null
export const openAttempts = (world: World): Attempt[] =>
  [...world.attempts.values()].filter(({ state }) => ['open', 'doubt', 'review'].includes(state))
export const openAttemptOf = (world: World, itemId: string): Attempt | undefined =>
  openAttempts(world).find((attempt) => attempt.item_id === itemId)
const emit = (world: World, events: Settled['events']): void => {
  world.events.push(...events.map(({ type, data }) => ({ type, itemId: data.item_id })))
}

/** What people do. Each throws what the domain throws, and changes nothing then. */
export const people = {
  approve(world: World, id: string, editedBody: string | undefined): void {
    const account = connectedDefault(world)
    const measure = (text: string) => text.length
    const next = approve(itemOf(world, id), { editedBody, accountExternalId: account, measure, maxLength: 280, now: clock(world) })
    save(world, next)
    world.approvals.set(id, { body: next.body, account })
    world.tampered.delete(id)
  },
  reject: (world: World, id: string): void => save(world, reject(itemOf(world, id), undefined, clock(world))),
  schedule(world: World, id: string, { inMs, onMissed }: { inMs: number; onMissed: 'post' | 'skip' }): void {
    save(world, schedule(itemOf(world, id), { postAt: new Date(world.now + inMs), onMissed, now: clock(world) }))
    world.works.set(id, { itemId: id, kind: 'publish', origin: 'automatic', runAt: world.now + inMs, tries: 0 })
  },
  unschedule(world: World, id: string): void {
    save(world, unschedule(itemOf(world, id), clock(world)))
    world.works.delete(id)
  },
  post(world: World, id: string): void {
    const next = requestPost(itemOf(world, id), clock(world))
    if (accountFor(world, next.account_external_id) === null) fail('x_not_connected')
    save(world, next)
    world.works.set(id, { itemId: id, kind: 'publish', origin: 'manual', runAt: world.now, tries: 0 })
  },
  markPosted(world: World, id: string): void {
    const next = markPosted(itemOf(world, id), undefined, clock(world))
    save(world, next)
    const attempt = openAttemptOf(world, id)
    if (attempt) {
      world.attempts.set(attempt.id, { ...attempt, state: 'posted', ended_at: clock(world) })
      world.settledByHand.add(id)
    }
    world.works.delete(id)
    world.marked.add(id)
    emit(world, [postedEvent(next)])
  },
}

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
  const { item, event } = giveBack(itemOf(world, work.itemId), reason, clock(world))
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

/** The claim as the publish lane makes it, at the time the work is due. */
export const claimNext = (world: World, work: Work): void => {
  world.now = Math.max(world.now, work.runAt)
  const item = itemOf(world, work.itemId)
  expect(isWaiting(item, work.origin)).toBe(true)
  const decided = decide(world, work, item)
  if (typeof decided === 'string') {
    back(world, work, decided)
    return
  }
  const { next, account } = decided
  const id = `attempt-${world.attempts.size + 1}`
  const fresh = { id, item_id: item.id, connection_id: account, body_sha: fingerprintText(item.body), origin: work.origin }
  const attempt = attemptWith({ ...fresh, intent_at: clock(world), lease_until: new Date(world.now + times.leaseMs) })
  save(world, next)
  // What was approved for no account is bound by the claim to the default one.
  world.approvals.get(item.id)!.account ??= world.defaultAccount
  world.attempts.set(id, attempt)
  world.flights.set(item.id, { work, attempt, item: next })
}

/** Onto the wire: from here the item may be out there. `appearsInMs` null: the network never takes it. */
export const wire = (world: World, { item, attempt }: Flight, appearsInMs: number | null): string => {
  const externalId = `post-${world.posts.length + 1}`
  if (appearsInMs === null) return externalId
  world.posts.push({ externalId, account: attempt.connection_id, text: item.body, createdAt: world.now + appearsInMs, itemId: item.id })
  return externalId
}

const apply = (world: World, work: Work, { item, attempt, events, next }: Settled): void => {
  save(world, item)
  world.attempts.set(attempt.id, attempt)
  emit(world, events)
  if (next.kind === 'done') {
    world.works.delete(item.id)
    return
  }
  const [kind, tries] = next.kind === 'again' ? (['publish', next.tries] as const) : (['reconcile', 0] as const)
  world.works.set(item.id, { ...work, kind, runAt: next.at.getTime(), tries })
}

/** The outcome of a send comes home. */
export const answer = (world: World, { work, attempt }: Flight, outcome: Outcome): void => {
  world.flights.delete(work.itemId)
  const sent = { item: itemOf(world, work.itemId), attempt, tries: work.tries, now: clock(world), times }
  apply(world, work, settle(sent, outcome))
  if (outcome.kind === 'disconnected') world.accounts[attempt.connection_id] = false
}

/** The process that claimed it died, and another finds its row. */
export const orphan = (world: World, { work, attempt }: Flight): void => {
  world.flights.delete(work.itemId)
  const from = new Date(Math.max(world.now, attempt.lease_until.getTime()))
  apply(world, work, doubt({ item: itemOf(world, work.itemId), attempt, now: clock(world), times }, PROCESS_STOPPED, from))
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
  if (!view.complete || !world.accounts[attempt.connection_id]) {
    apply(world, work, unread(read, view.retryAfterMs))
    return
  }
  const open = openAttempts(world).filter((other) => other.connection_id === attempt.connection_id)
  const others = open.filter(({ id }) => id !== attempt.id).map((other) => ({ attempt: other, text: other.body_sha }))
  const taken = new Set([...world.attempts.values()].flatMap(({ external_id }) => external_id ?? []))
  const found = findPost({ attempt, text: fingerprintText(item.body) }, timeline(world, attempt, view), { others, taken })
  apply(world, work, found ? hit(read, found) : cleanRead(read))
}
