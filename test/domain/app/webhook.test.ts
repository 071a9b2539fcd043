/** When an event is retried or given up, and when an endpoint is disabled. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type AfterDelivery,
  afterDelivery,
  changedEndpoint,
  type DeliveryOutcome,
  type Endpoint,
  eventBody,
  type PendingEvent,
  subjectOf,
  wants,
  webhookTimes,
} from '#domain/app/webhook'
import { runs } from '#test/support/property'

const START = Date.parse('2026-03-01T00:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (ms: number): Date => new Date(START + ms)

const endpoint: Endpoint = {
  id: 'e',
  url: 'https://hooks.example.com/',
  events: [],
  status: 'active',
  disabled_reason: null,
  failing_since: null,
  failures: 0,
  held_until: null,
  updated_at: at(0),
}
const event: PendingEvent = {
  id: 'v',
  type: 'growth.item.posted',
  data: { item_id: 'i' },
  created_at: at(0),
  subject: 'i',
  attempts: 0,
  next_at: at(0),
}
const failed: DeliveryOutcome = { kind: 'failed', reason: 'http 500' }

interface Attempt {
  ms: number
  from?: Partial<Endpoint>
  before?: Partial<PendingEvent>
  chance?: number
}

/** What follows from an attempt that ends `ms` after the start, without jitter. */
const next = (
  outcome: DeliveryOutcome,
  { ms, from, before, chance = 0.5 }: Attempt,
): AfterDelivery =>
  afterDelivery(
    {
      endpoint: { ...endpoint, ...from },
      event: { ...event, ...before },
      now: at(ms),
      times: webhookTimes,
      chance,
    },
    outcome,
  )

/** Fails every attempt; returns their times in milliseconds after the start. */
const allTries = (chance: number): number[] => {
  const tries: number[] = []
  let now = 0
  for (let attempts = 0; ; attempts++) {
    tries.push(now)
    const { event: after } = next(failed, { ms: now, before: { attempts }, chance })
    if (after.state !== 'pending') return tries
    now = after.nextAt.getTime() - START
  }
}

describe('an event that always fails', () => {
  test('is sent at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, and then given up', () => {
    const tries = allTries(0.5)
    const waits = tries.slice(1).map((ms, index) => ms - tries[index]!)
    expect([tries[0], ...waits]).toEqual([
      0,
      5_000,
      300_000,
      1_800_000,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      10 * HOUR,
    ])
    const last = next(failed, { ms: 0, before: { attempts: 7 } }).event
    expect(last).toEqual({ state: 'dead', attempts: 8, error: 'http 500', expiresAt: at(30 * DAY) })
  })

  test('waits up to a tenth less or more, so that events that failed together are retried apart', () => {
    expect(allTries(0)[1]).toBe(4_500)
    expect(allTries(1)[1]).toBe(5_500)
    expect(allTries(0)).toHaveLength(allTries(1).length)
  })
})

describe('a receiver that asks for a pause', () => {
  test('gets it from this event and all others', () => {
    const after = next({ kind: 'failed', reason: 'http 429', retryAfterMs: 120_000 }, { ms: 0 })
    expect(after.event).toMatchObject({ state: 'pending', nextAt: at(120_000) })
    expect(after.endpoint.held_until).toEqual(at(120_000))
  })

  test('does not bring forward a later retry', () => {
    const after = next(
      { kind: 'failed', reason: 'http 503', retryAfterMs: 1_000 },
      { ms: 0, before: { attempts: 2 } },
    )
    expect(after.event).toMatchObject({ nextAt: at(1_800_000) })
  })

  test('gets a day at most', () => {
    const after = next({ kind: 'failed', reason: 'http 503', retryAfterMs: 365 * DAY }, { ms: 0 })
    expect(after.endpoint.held_until).toEqual(at(DAY))
  })
})

describe('an endpoint', () => {
  const failing = { failing_since: at(0), failures: 40 }

  test('that failed for five days is disabled, and says since when', () => {
    expect(next(failed, { ms: 5 * DAY - 1, from: failing }).endpoint.status).toBe('active')
    expect(next(failed, { ms: 5 * DAY, from: failing }).endpoint).toMatchObject({
      status: 'disabled',
      disabled_reason: 'every delivery failed since 2026-03-01T00:00:00.000Z',
    })
  })

  test('that accepts an event starts anew', () => {
    const { endpoint: well } = next(
      { kind: 'accepted' },
      { ms: 4 * DAY, from: { ...failing, held_until: at(0) } },
    )
    expect(well).toMatchObject({
      status: 'active',
      failing_since: null,
      failures: 0,
      held_until: null,
    })
    expect(next(failed, { ms: 6 * DAY, from: well }).endpoint).toMatchObject({
      status: 'active',
      failing_since: at(6 * DAY),
      failures: 1,
    })
  })

  test('is not disabled for single failures days apart', () => {
    const first = next(failed, { ms: 0 }).endpoint
    const second = next(failed, { ms: 6 * DAY, from: first }).endpoint
    expect(second).toMatchObject({ status: 'active', failing_since: at(6 * DAY), failures: 1 })
  })

  test('that answers 410 is disabled at once, and the event given up', () => {
    const after = next({ kind: 'gone' }, { ms: 0 })
    expect(after.endpoint).toMatchObject({
      status: 'disabled',
      disabled_reason: 'the receiver returned 410 Gone',
    })
    expect(after.event).toMatchObject({ state: 'dead', error: 'http 410' })
  })

  test('is not judged by an attempt that the server broke off, which does not count', () => {
    expect(
      next({ kind: 'stopped' }, { ms: 9 * DAY, from: failing, before: { attempts: 3 } }),
    ).toEqual({
      endpoint: { ...endpoint, ...failing },
      event: { state: 'pending', attempts: 3, error: null, nextAt: at(9 * DAY) },
    })
  })
})

describe('an endpoint that is updated', () => {
  const wish = { id: 'n', url: endpoint.url, events: ['growth.item.posted'], now: at(DAY) }
  const failing = { ...endpoint, failing_since: at(0), failures: 9, held_until: at(2 * DAY) }

  test('in its kinds of events keeps its history', () => {
    expect(changedEndpoint(failing, wish)).toEqual({
      ...failing,
      events: wish.events,
      updated_at: wish.now,
    })
  })

  test('in its address, or after it was disabled, starts anew under another id', () => {
    const elsewhere = { ...wish, url: 'https://hooks.example.org/' }
    expect(changedEndpoint(failing, elsewhere)).toEqual({
      ...endpoint,
      id: 'n',
      url: elsewhere.url,
      events: wish.events,
      updated_at: wish.now,
    })
    const disabled = {
      ...failing,
      status: 'disabled',
      disabled_reason: 'the receiver returned 410 Gone',
    } as const
    expect(changedEndpoint(disabled, wish)).toEqual({
      ...endpoint,
      id: 'n',
      events: wish.events,
      updated_at: wish.now,
    })
  })
})

test('an event is sent eight times at most, never before it is due, and ends', () => {
  const outcome = fc.oneof(
    fc.constant<DeliveryOutcome>({ kind: 'accepted' }),
    fc.record({
      kind: fc.constant('failed' as const),
      reason: fc.string(),
      retryAfterMs: fc.option(fc.nat(), { nil: undefined }),
    }),
  )
  const property = (outcomes: DeliveryOutcome[], chance: number) => {
    let from: Endpoint = endpoint
    let now = 0
    for (const [attempts, one] of outcomes.entries()) {
      const after = next(one, { ms: now, from, before: { attempts }, chance })
      from = after.endpoint
      expect(after.event.attempts).toBe(attempts + 1)
      if (after.event.state !== 'pending') return expect(attempts).toBeLessThan(8)
      const waits = after.event.nextAt.getTime() - START - now
      expect(waits).toBeGreaterThanOrEqual(webhookTimes.scheduleMs[attempts + 1]! * 0.9)
      expect(waits).toBeLessThanOrEqual(Math.max(webhookTimes.scheduleMs[attempts + 1]! * 1.1, DAY))
      now += waits
    }
    expect(outcomes.length).toBeLessThan(8)
  }
  fc.assert(
    fc.property(
      fc.array(outcome, { maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      property,
    ),
    runs(300),
  )
})

test('an empty allow-list wants every kind, any other only those it names', () => {
  expect(wants([], 'growth.item.posted')).toBe(true)
  expect(wants(['growth.item.posted'], 'growth.item.posted')).toBe(true)
  expect(wants(['growth.item.posted'], 'growth.batch.settled')).toBe(false)
})

test('the subject of an event is its item, else its batch, else nothing', () => {
  expect(subjectOf({ item_id: 'i', batch_id: 'b' })).toBe('i')
  expect(subjectOf({ item_id: null, batch_id: 'b' })).toBe('b')
  expect(subjectOf({})).toBeNull()
})

test('the body is that of the API document', () => {
  expect(eventBody(event, 'w')).toBe(
    '{"id":"v","type":"growth.item.posted","created_at":"2026-03-01T00:00:00.000Z","workspace_id":"w","data":{"item_id":"i"}}',
  )
})
