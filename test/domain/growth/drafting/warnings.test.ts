import { expect, test } from 'bun:test'
import { noCadence } from '#domain/growth/drafting/cadence'
import { type WarningFacts, warningsOf } from '#domain/growth/drafting/warnings'

const nothing: WarningFacts = {
  body: 'Every delay starts at the dock.',
  avoid: [],
  repeats: null,
  prices: null,
  slot: null,
}
const codes = (facts: Partial<WarningFacts>): string[] =>
  warningsOf({ ...nothing, ...facts }).map(({ code }) => code)
const messages = (facts: Partial<WarningFacts>): string[] =>
  warningsOf({ ...nothing, ...facts }).map(({ message }) => message)

const mondays = { ...noCadence, days: ['mon' as const], times: ['09:00'] }
const slot = {
  at: new Date('2026-11-23T08:00:00Z'),
  cadence: mondays,
  channel: 'posts',
  zone: 'Europe/Berlin',
}

test('a text of which nothing is to be said has no warnings', () => {
  expect(
    codes({ avoid: ['game changer'], prices: { post: 15_000, postWithLink: 200_000 }, slot }),
  ).toEqual([])
})

test('each phrase to avoid is named, as a whole word and in any case', () => {
  expect(
    messages({ body: 'A Game Changer, in synergy', avoid: ['game changer', 'syn', 'synergy'] }),
  ).toEqual([
    'contains "game changer", which the profile avoids',
    'contains "synergy", which the profile avoids',
  ])
})

test.each([
  ['posted', '2026-11-20T10:00:00Z', 'posted on 2026-11-20'],
  ['approved', '2026-11-30T10:00:00Z', 'scheduled for 2026-11-30'],
  ['approved', null, 'approved'],
  ['publish_unconfirmed', null, 'publish_unconfirmed'],
])('a text that repeats one that is %s (%s) says so', (status, at, words) => {
  const [found] = warningsOf({ ...nothing, repeats: { id: 'item-2', status, at } })
  expect(found).toEqual({
    code: 'repeats_item',
    message: `says nearly the same as item item-2, which is ${words}`,
    item_id: 'item-2',
  })
})

test('a link is a warning only where it costs more', () => {
  const body = 'Read it at example.com'
  expect(codes({ body })).toEqual([])
  expect(codes({ body, prices: { post: 1, postWithLink: 1 } })).toEqual([])
  expect(messages({ body, prices: { post: 15_000, postWithLink: 200_000 } })).toEqual([
    'contains a link: the post costs $0.200, without one $0.015',
  ])
})

test.each([
  ['in the minute of a slot', '2026-11-23T08:00:59Z', []],
  ['an hour later', '2026-11-23T09:00:00Z', ['outside_cadence']],
  ['on another day', '2026-11-24T08:00:00Z', ['outside_cadence']],
])('a time %s', (_, at, expected) => {
  expect(codes({ slot: { ...slot, at: new Date(at) } })).toEqual(expected)
})

test('the zone of the cadence goes before that of the profile, and without slots no time is wrong', () => {
  expect(
    codes({ slot: { ...slot, cadence: { ...mondays, time_zone: 'America/New_York' } } }),
  ).toEqual(['outside_cadence'])
  expect(
    codes({ slot: { ...slot, cadence: noCadence, at: new Date('2026-11-24T08:00:00Z') } }),
  ).toEqual([])
})
