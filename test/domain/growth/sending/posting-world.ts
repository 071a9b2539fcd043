import { approve, type Item, markPosted, postedEvent, reject, requestPost, schedule, unschedule } from '#domain/growth/drafting/item'
import { type Again, readableFrom, requestAgain } from '#domain/growth/sending/post-again'
import { type Attempt, type Origin, type Settled, publishTimes as times } from '#domain/growth/sending/publish'
import { fail } from '#kernel/errors'
import { draftedItem } from '#test/domain/records'

/** A post of the network. One whose time has not come yet was accepted after the caller had given up, and appears then. */
interface Post {
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
  /** A person's word that the item be posted again. */
  again?: Again
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
  /** How often a person wanted an item posted again, by item. */
  agains: Map<string, number>
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
  agains: new Map(),
})

export const clock = (world: World): Date => new Date(world.now)
export const itemOf = (world: World, id: string): Item => world.items.get(id)!
export const save = (world: World, item: Item): void => {
  world.items.set(item.id, item)
}
export const connectedDefault = (world: World): string | null => (world.accounts[world.defaultAccount] ? world.defaultAccount : null)
export const accountFor = (world: World, bound: string | null): string | null =>
  bound === null ? connectedDefault(world) : world.accounts[bound] ? bound : null
export const openAttempts = (world: World): Attempt[] =>
  [...world.attempts.values()].filter(({ state }) => ['open', 'doubt', 'review'].includes(state))
export const openAttemptOf = (world: World, itemId: string): Attempt | undefined =>
  openAttempts(world).find((attempt) => attempt.record_id === itemId)
export const emit = (world: World, events: Settled['events']): void => {
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
  postAgain(world: World, id: string): void {
    const next = requestAgain(itemOf(world, id), { by: 'session', now: clock(world) })
    if (accountFor(world, next.account_external_id) === null) fail('x_not_connected')
    save(world, next)
    world.agains.set(id, (world.agains.get(id) ?? 0) + 1)
    if (world.works.get(id)?.again) return
    const runAt = Math.max(world.now, readableFrom(openAttemptOf(world, id)!, times).getTime())
    world.works.set(id, { itemId: id, kind: 'reconcile', origin: 'manual', runAt, tries: 0, again: { askedAt: clock(world) } })
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
