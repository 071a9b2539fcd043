/** What holds of the world at every moment, and what must have become of every item in the end. */
import { expect } from 'bun:test'
import { fingerprintText } from '#port/network/text'
import { type StateName, stateName } from '#test/domain/records'
import { answer, claimNext, nextWork, readNext, wire } from './posting-lanes.ts'
import { type Flight, itemOf, openAttemptOf, openAttempts, people, type World } from './posting-world.ts'

const postOf = (world: World, externalId: string | null) => world.posts.find((post) => post.externalId === externalId)
const eventsOf = (world: World, type: string, id: string): number =>
  world.events.filter((event) => event.type === type && event.itemId === id).length

/** What the machine still has to do about an item, if anything. */
const pending = (world: World, id: string): string => {
  if (world.flights.has(id)) return 'a send'
  const work = world.works.get(id)
  return work ? `${work.kind} ${work.origin}` : 'nothing'
}

/** A state that only the machine can lead out of has work that will. */
const waitsForMachine = (world: World, id: string, state: StateName): void => {
  if (state === 'publishing') expect(['a send', 'publish manual']).toContain(pending(world, id))
  else if (state === 'scheduled') expect(pending(world, id)).toBe('publish automatic')
  else if (state === 'publish_unconfirmed') expect(pending(world, id)).toMatch(/^(reconcile |publish manual)/)
  else if (state !== 'in review') expect(pending(world, id)).toBe('nothing')
}

/** Clocks of the network and ours may differ by this much. */
const SKEW_MS = 5_000

const isOnNetwork = (world: World, id: string): void => {
  const item = itemOf(world, id)
  const post = postOf(world, item.external_id)!
  const attempt = [...world.attempts.values()].find(({ external_id }) => external_id === post.externalId)!
  expect(attempt.record_id).toBe(id)
  // Posted again, it may be settled by the post of an attempt before that.
  const intents = [...world.attempts.values()].filter(({ record_id }) => record_id === id).map(({ intent_at }) => intent_at.getTime())
  expect(post.createdAt).toBeGreaterThanOrEqual(Math.min(...intents) - SKEW_MS)
  expect(post.createdAt).toBeLessThanOrEqual(world.now)
  expect([post.account, fingerprintText(post.text)]).toEqual([item.account_external_id!, fingerprintText(item.body)])
}

export const verify = (model: ReadonlyMap<string, StateName>, world: World): void => {
  for (const [id, state] of model) {
    expect([id, stateName(itemOf(world, id))]).toEqual([id, state])
    waitsForMachine(world, id, state)
    if (state === 'posted' && !world.marked.has(id)) isOnNetwork(world, id)
    expect(eventsOf(world, 'growth.item.posted', id)).toBe(state === 'posted' ? 1 : 0)
    const reviews = eventsOf(world, 'growth.approval.requested', id)
    // Each doubt is put before a person once; posting again may begin another.
    expect(reviews).toBeGreaterThanOrEqual(state === 'in review' ? 1 : 0)
    expect(reviews).toBeLessThanOrEqual(1 + (world.agains.get(id) ?? 0))
    const doubtful = state === 'publish_unconfirmed' || state === 'in review'
    expect(openAttempts(world).filter((attempt) => attempt.record_id === id).length).toBe(doubtful || world.flights.has(id) ? 1 : 0)
  }
  const owned = [...world.items.values()].flatMap(({ external_id }) => external_id ?? [])
  expect(new Set(owned).size).toBe(owned.length)
}

/** Nothing goes onto the wire that is out there already, unless a person had it posted again and it did not show, or that nobody approved. */
export const send = (world: World, flight: Flight, appearsInMs: number | null): string => {
  const { id, body } = flight.item
  if (!flight.work.again?.clear) expect(world.posts.filter((post) => post.itemId === id)).toEqual([])
  expect({ body, account: flight.attempt.connection_id }).toEqual(world.approvals.get(id) as { body: string; account: string })
  return wire(world, flight, appearsInMs)
}

/** A network that shows everything. */
export const CLEAR = { complete: true, lagMs: 0, cutAt: null }
const MOST_STEPS = 500

/** The machine alone, on a network that works, until it has nothing left to do. */
const runOut = (world: World): void => {
  Object.assign(world, { paused: false, accounts: { one: true, two: true } })
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const [flight] = world.flights.values()
    const publish = nextWork(world, 'publish')
    const reconcile = nextWork(world, 'reconcile')
    if (flight) answer(world, flight, { kind: 'posted', externalId: send(world, flight, 0), url: null })
    else if (publish) claimNext(world, publish)
    else if (reconcile) readNext(world, reconcile, CLEAR)
    else return
  }
  throw new Error('the machine does not come to an end')
}

/** What a person can do about each state that the machine leaves an item in. */
const wayOut: Partial<Record<StateName, 'reject' | 'markPosted'>> = {
  drafted: 'reject',
  approved: 'markPosted',
  publish_failed: 'reject',
  'in review': 'markPosted',
}

/** Left alone, the machine ends; what reached the network is known to be posted; and a person can settle the rest. */
export const endsWell = (world: World): void => {
  const watched = [...world.works.values()].filter(({ kind }) => kind === 'reconcile').map(({ itemId }) => itemId)
  runOut(world)
  for (const id of watched) {
    const taken = new Set([...world.attempts.values()].map(({ external_id }) => external_id))
    const own = world.posts.filter((post) => post.itemId === id && !taken.has(post.externalId))
    if (stateName(itemOf(world, id)) === 'in review') expect(own).toEqual([])
  }
  for (const id of world.items.keys()) {
    const left = wayOut[stateName(itemOf(world, id))]
    if (left) people[left](world, id)
    expect(['posted', 'rejected']).toContain(stateName(itemOf(world, id)))
    expect(openAttemptOf(world, id)).toBeUndefined()
  }
}
