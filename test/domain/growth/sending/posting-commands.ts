/** What may happen to the world in any order, each with the states that may follow from it. */
import { expect } from 'bun:test'
import fc from 'fast-check'
import type { SendOutcome } from '#domain/growth/sending/publish'
import { HOUR, MINUTE, type StateName, stateName } from '#test/domain/records'
import { answer, claimNext, nextWork, orphan, readNext } from './posting-lanes.ts'
import { CLEAR, send } from './posting-rules.ts'
import { machine, person, type Step } from './posting-steps.ts'
import { type Flight, itemOf, people, type View, type World } from './posting-world.ts'

const STEM = 'Eleven of fourteen delays started at the dock'
const texts = [
  `${STEM}, and nobody had counted them until we drove the vans ourselves.`,
  `${STEM}, so we rebuilt the timetable around the dock and not the road.`,
  'Ship it. https://example.com/notes',
]
/** Two of one text, and one that begins like them. */
export const bodies = [texts[0]!, texts[1]!, texts[0]!, texts[2]!]
export const ids = bodies.map((_, index) => `item-${index}`)

/** Cut here, a text can be told from the others, or not. */
const [TELLING, AMBIGUOUS] = [60, 44]

/** How late a scheduled post may still go out, in milliseconds. */
const latest = (policy: 'post' | 'skip', tries: number): number => {
  if (tries > 0) return HOUR + MINUTE
  return policy === 'skip' ? MINUTE : HOUR - 1
}

const claimDue = machine({
  name: 'claim',
  possible: (world) => nextWork(world, 'publish') !== undefined,
  happen(world) {
    const work = nextWork(world, 'publish')!
    const id = work.itemId
    const before = itemOf(world, id)
    expect(world.paused && work.origin === 'automatic').toBe(false)
    claimNext(world, work)
    const from = stateName(before)
    if (work.again) return { [id]: ['publishing', from, 'in review'] }
    if (!world.flights.has(id)) return { [id]: world.tampered.has(id) ? ['drafted', 'approved'] : ['approved'] }
    expect(world.tampered.has(id)).toBe(false)
    if (work.origin === 'automatic')
      expect(world.now - before.post_at!.getTime()).toBeLessThanOrEqual(latest(before.on_missed!, work.tries))
    return { [id]: ['publishing'] }
  },
})

/** What really happened to the request: taken at once, later, never; and how it looks from here. */
const truths = {
  posted: { appearsInMs: 0, outcome: (externalId: string): SendOutcome => ({ kind: 'posted', externalId, url: null }) },
  refused: { appearsInMs: null, outcome: (): SendOutcome => ({ kind: 'refused', reason: 'refused' }) },
  'rate limited': {
    appearsInMs: null,
    outcome: (): SendOutcome => ({ kind: 'not_applied', reason: 'rate_limited', detail: '', retryAfterMs: 20_000 }),
  },
  unreachable: { appearsInMs: null, outcome: (): SendOutcome => ({ kind: 'not_applied', reason: 'unreachable', detail: '' }) },
  disconnected: { appearsInMs: null, outcome: (): SendOutcome => ({ kind: 'disconnected', reason: 'revoked' }) },
  'answer lost, posted': { appearsInMs: 0, outcome: (): SendOutcome => ({ kind: 'unknown', reason: 'timeout' }) },
  'answer lost, posted late': { appearsInMs: 15_000, outcome: (): SendOutcome => ({ kind: 'unknown', reason: 'timeout' }) },
  'answer lost, posted very late': { appearsInMs: 2 * HOUR, outcome: (): SendOutcome => ({ kind: 'unknown', reason: 'timeout' }) },
  'request lost': { appearsInMs: null, outcome: (): SendOutcome => ({ kind: 'unknown', reason: 'reset' }) },
  'process died, posted': { appearsInMs: 0, outcome: undefined },
  'process died, posted late': { appearsInMs: 19_000, outcome: undefined },
  'process died, request lost': { appearsInMs: null, outcome: undefined },
}
type Truth = keyof typeof truths

/** The states that may follow, by who asked for the send; in doubt for all that proves nothing. */
const follows: Partial<Record<Truth | 'unsent', Record<'manual' | 'automatic', StateName[]>>> = {
  posted: { manual: ['posted'], automatic: ['posted'] },
  refused: { manual: ['publish_failed'], automatic: ['publish_failed'] },
  'rate limited': { manual: ['approved'], automatic: ['scheduled', 'publish_failed'] },
  unreachable: { manual: ['approved'], automatic: ['scheduled', 'publish_failed'] },
  disconnected: { manual: ['approved'], automatic: ['approved'] },
  unsent: { manual: ['publishing'], automatic: ['scheduled'] },
}
const doubtful: StateName[] = ['publish_unconfirmed']

/** A send on a person's word that did not take place leaves the doubt that there was. */
const followsOf = ({ work }: Flight, truth: Truth | 'unsent'): StateName[] => {
  if (work.again && truth !== 'posted') return ['publish_unconfirmed', 'in review']
  return follows[truth]?.[work.origin] ?? doubtful
}

const isInFlight = (world: World): boolean => world.flights.size > 0
const firstFlight = (world: World): Flight => [...world.flights.values()][0]!

const answered = (truth: Truth): Step =>
  machine({
    name: truth,
    possible: isInFlight,
    happen(world) {
      const [flight, { appearsInMs, outcome }] = [firstFlight(world), truths[truth]]
      const externalId = send(world, flight, appearsInMs)
      world.now += 1_000
      if (outcome) answer(world, flight, outcome(externalId))
      else orphan(world, flight)
      return { [flight.item.id]: followsOf(flight, truth) }
    },
  })

const stopped = machine({
  name: 'process died before the send',
  possible: isInFlight,
  happen(world) {
    const flight = firstFlight(world)
    orphan(world, flight)
    return { [flight.item.id]: doubtful }
  },
})

const recall = (world: World, chosen: (flight: Flight) => boolean, outcome: SendOutcome): Record<string, StateName[]> => {
  const flights = [...world.flights.values()].filter(chosen)
  for (const flight of flights) answer(world, flight, outcome)
  const truth = outcome.kind as 'unsent' | 'disconnected'
  return Object.fromEntries(flights.map((flight) => [flight.item.id, followsOf(flight, truth)]))
}

const fenced = machine({ name: 'unsent', possible: isInFlight, happen: (world) => recall(world, () => true, { kind: 'unsent' }) })

const pauseAll = machine({
  name: 'pause-all',
  happen(world) {
    world.paused = true
    return recall(world, ({ work }) => work.origin === 'automatic', { kind: 'unsent' })
  },
})

const resumeAll = machine({
  name: 'resume-all',
  happen(world) {
    world.paused = false
    return {}
  },
})

const disconnect = (account: string): Step =>
  machine({
    name: `disconnect(${account})`,
    happen(world) {
      const next = recall(world, ({ attempt }) => attempt.connection_id === account, { kind: 'disconnected', reason: 'disconnected' })
      world.accounts[account] = false
      return next
    },
  })

const connect = (account: string, makeDefault: 'default' | 'other'): Step =>
  machine({
    name: `connect(${account}, ${makeDefault})`,
    happen(world) {
      world.accounts[account] = true
      if (makeDefault === 'default') world.defaultAccount = account
      return {}
    },
  })

const read = (view: View): Step =>
  machine({
    name: `read(${JSON.stringify(view)})`,
    possible: (world) => nextWork(world, 'reconcile') !== undefined,
    happen(world) {
      const work = nextWork(world, 'reconcile')!
      expect(world.paused && work.origin === 'automatic').toBe(false)
      const inReview = itemOf(world, work.itemId).review
      // The post of an item settled by hand is no open attempt's: cut too short, it could be taken for that of another.
      readNext(world, work, view.cutAt === AMBIGUOUS && world.settledByHand.size > 0 ? { ...view, cutAt: TELLING } : view)
      return { [work.itemId]: ['posted', 'in review', ...(inReview ? [] : doubtful)] }
    },
  })

/** Somebody writes into the database, past every command. */
const tamper = (id: string, what: { body: string } | { account_external_id: string }): Step =>
  machine({
    name: `tamper(${id}, ${JSON.stringify(what)})`,
    possible: (world) => !world.flights.has(id) && ['approved', 'publishing', 'publish_failed'].includes(itemOf(world, id).status),
    happen(world) {
      const before = itemOf(world, id)
      world.items.set(id, { ...before, ...what })
      if (Object.entries(what).some(([field, value]) => before[field as 'body'] !== value)) world.tampered.add(id)
      return {}
    },
  })

const postByHand = (account: string): Step =>
  machine({
    name: `post by hand(${account})`,
    happen(world) {
      const post = { account, text: texts[2]!, createdAt: world.now, itemId: null }
      world.posts.push({ ...post, externalId: `post-${world.posts.length + 1}` })
      return {}
    },
  })

const wait = (ms: number): Step =>
  machine({
    name: `wait(${ms})`,
    happen(world) {
      world.now += ms
      return {}
    },
  })

const id = fc.constantFrom(...ids)
const account = fc.constantFrom('one', 'two')
const views: fc.Arbitrary<View> = fc.record({
  complete: fc.constantFrom(true, true, true, false),
  lagMs: fc.constantFrom(0, 0, 2_000, 40_000, 5 * MINUTE),
  cutAt: fc.constantFrom(null, null, TELLING, AMBIGUOUS),
  retryAfterMs: fc.constantFrom(0, 15 * MINUTE, 48 * HOUR),
})

const editedBody = fc.option(fc.constantFrom(...texts, 'Short.'), { nil: undefined })
const truth = fc.constantFrom(...(Object.keys(truths) as Truth[]))
const approved = (of: string, edited?: string): Step => person('approve', of, (world) => people.approve(world, of, edited))
const postedNow = (of: string): Step => person('post', of, (world) => people.post(world, of))

const postedAgain = (of: string): Step => person('post again', of, (world) => people.postAgain(world, of))

const inOneGo = (steps: Step[]): Step => ({
  check: () => true,
  run(model, world) {
    for (const step of steps) step.run(model, world)
  },
  toString: () => steps.join(', '),
})

/** A doubtful send, and another one on a person's word. */
const wholeWayAgain = (of: string, how: Truth): Step =>
  inOneGo([approved(of), postedNow(of), claimDue, answered('request lost'), postedAgain(of), read(CLEAR), claimDue, answered(how)])

/** The common way in one go, so that stories get far enough for items to get in each other's way. */
const wholeWay = (of: string, how: Truth): Step => inOneGo([approved(of), postedNow(of), claimDue, answered(how)])

const schedule = fc
  .tuple(id, fc.constantFrom(-30_000, 0, 10 * MINUTE, 26 * HOUR), fc.constantFrom('post' as const, 'skip' as const))
  .map(([of, inMs, onMissed]) => person('schedule', of, (world) => people.schedule(world, of, { inMs, onMissed })))
const approve = fc.tuple(id, editedBody).map(([of, edited]) => approved(of, edited))
const post = id.map(postedNow)
const claims = fc.constant(claimDue)
const answers = truth.map(answered)
const ways = fc.tuple(id, truth).map(([of, how]) => wholeWay(of, how))
const reads = views.map(read)

/** Every command; those that carry items forward are there more than once. */
export const arbitraries: fc.Arbitrary<Step>[] = [
  ...[approve, approve, schedule, schedule, post, post, claims, claims, claims, answers, answers, answers, ways, ways, reads, reads],
  id.map((of) => person('reject', of, (world) => people.reject(world, of))),
  id.map((of) => person('unschedule', of, (world) => people.unschedule(world, of))),
  id.map(postedAgain),
  fc.tuple(id, truth).map(([of, how]) => wholeWayAgain(of, how)),
  id.map((of) => person('mark posted', of, (world) => people.markPosted(world, of))),
  fc.constantFrom(stopped, fenced, pauseAll, resumeAll, resumeAll),
  account.map(disconnect),
  fc.tuple(account, fc.constantFrom('default' as const, 'other' as const)).map(([of, role]) => connect(of, role)),
  fc.tuple(id, fc.constantFrom({ body: 'Nobody approved this.' }, { account_external_id: 'two' })).map(([of, what]) => tamper(of, what)),
  account.map(postByHand),
  fc.constantFrom(1_000, MINUTE, HOUR, 25 * HOUR).map(wait),
]
