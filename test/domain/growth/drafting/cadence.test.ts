import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { weekdays } from '#contract/records/growth/growth-channel'
import {
  type Cadence,
  type Calendar,
  FURTHEST_SLOT_DAYS,
  freeSlots,
  gapsInCadence,
  hasSlots,
  nextSlot,
  noCadence,
  tidyCadence,
} from '#domain/growth/drafting/cadence'
import { runs } from '#test/support/property'

const every: Cadence = { ...noCadence, days: [...weekdays], times: ['09:00'], time_zone: 'UTC' }
const from = (now: string, more: Partial<Calendar> = {}): Calendar => ({
  zone: 'UTC',
  taken: [],
  counted: [],
  now: new Date(now),
  ...more,
})
const iso = (slots: Date[]) => slots.map((slot) => slot.toISOString().replace(':00.000Z', 'Z'))
const slots = (cadence: Partial<Cadence>, calendar: Calendar, days: number) =>
  iso(gapsInCadence({ ...every, ...cadence }, calendar, days))

describe('slots', () => {
  test('come on the days and at the times of the cadence, after now', () => {
    const cadence = { days: ['mon', 'wed'], times: ['09:00', '17:30'] } as const
    // A Monday.
    expect(
      slots(
        { ...cadence, days: [...cadence.days], times: [...cadence.times] },
        from('2026-06-01T09:00:00Z'),
        7,
      ),
    ).toEqual(['2026-06-01T17:30Z', '2026-06-03T09:00Z', '2026-06-03T17:30Z', '2026-06-08T09:00Z'])
  })

  test("are in the cadence's time zone, by default the profile's", () => {
    const calendar = from('2026-06-01T00:00:00Z', { zone: 'Asia/Tokyo' })
    expect(slots({ time_zone: null }, calendar, 1)).toEqual(['2026-06-02T00:00Z'])
    expect(slots({ time_zone: 'America/New_York' }, calendar, 1)).toEqual(['2026-06-01T13:00Z'])
  })

  test('are skipped if something goes out in the same minute', () => {
    const taken = [new Date('2026-06-01T09:00:59.999Z'), new Date('2026-06-02T08:59:59Z')]
    expect(slots({}, from('2026-06-01T00:00:00Z', { taken }), 3)).toEqual([
      '2026-06-02T09:00Z',
      '2026-06-03T09:00Z',
    ])
  })

  test('are no more a local day than posts_per_day allows', () => {
    const cadence = {
      times: ['00:30', '12:00', '23:30'],
      time_zone: 'America/New_York',
      posts_per_day: 2,
    }
    // 23:45 on 1 June in New York.
    const counted = [new Date('2026-06-02T03:45:00Z')]
    expect(slots(cadence, from('2026-06-01T04:00:00Z', { counted }), 2)).toEqual([
      '2026-06-01T04:30Z',
      '2026-06-02T04:30Z',
      '2026-06-02T16:00Z',
    ])
    expect(
      slots({ ...cadence, posts_per_day: 1 }, from('2026-06-01T04:00:00Z', { counted }), 2),
    ).toEqual(['2026-06-02T04:30Z'])
  })

  test('need days and times', () => {
    expect([
      hasSlots({ ...every, days: [] }),
      hasSlots({ ...every, times: [] }),
      hasSlots(every),
    ]).toEqual([false, false, true])
    expect(nextSlot({ ...every, days: [] }, from('2026-06-01T00:00:00Z'))).toBeUndefined()
  })

  test('are searched for 60 days ahead', () => {
    const days = Array.from({ length: 61 }, (_, day) => new Date(Date.UTC(2026, 5, 1 + day, 9)))
    const calendar = (taken: Date[]) => from('2026-06-01T00:00:00Z', { taken })
    expect(nextSlot(every, calendar(days.slice(0, 59)))).toEqual(days[59]!)
    expect(nextSlot(every, calendar(days.slice(0, 60)))).toBeUndefined()
    expect(gapsInCadence(every, calendar([]), 1_000)).toHaveLength(FURTHEST_SLOT_DAYS)
  })
})

describe('when the clocks change', () => {
  test.each([
    [
      'leave an hour out',
      'America/New_York',
      '02:30',
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:30Z', '2026-03-09T06:30Z'],
    ],
    [
      'repeat an hour',
      'America/New_York',
      '01:30',
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    [
      'leave half an hour out',
      'Australia/Lord_Howe',
      '02:15',
      '2026-10-03T12:00:00Z',
      ['2026-10-03T15:45Z', '2026-10-04T15:15Z'],
    ],
    [
      'leave midnight out',
      'America/Sao_Paulo',
      '00:00',
      '2018-11-03T12:00:00Z',
      ['2018-11-04T03:00Z', '2018-11-05T02:00Z'],
    ],
    [
      'leave a day out',
      'Pacific/Apia',
      '12:00',
      '2011-12-29T12:00:00Z',
      ['2011-12-29T22:00Z', '2011-12-30T22:00Z'],
    ],
  ])('and %s, a time comes once a day', (_, time_zone, time, now, expected) => {
    expect(slots({ time_zone, times: [time] }, from(now), 2)).toEqual(expected)
  })

  test('two times that fall on one moment are one slot', () => {
    const cadence = { time_zone: 'America/New_York', times: ['02:30', '03:30'] }
    expect(slots(cadence, from('2026-03-08T00:00:00Z'), 1)).toEqual(['2026-03-08T07:30Z'])
  })
})

test('a cadence is stored in order, with each day and time once', () => {
  expect(
    tidyCadence({ ...noCadence, days: ['fri', 'mon', 'fri'], times: ['17:00', '09:00', '17:00'] }),
  ).toEqual({
    ...noCadence,
    days: ['mon', 'fri'],
    times: ['09:00', '17:00'],
  })
})

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'America/St_Johns',
]
const anyTime = fc
  .integer({ min: 0, max: 1_439 })
  .map(
    (minute) =>
      `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`,
  )
const anyCadence = fc.record({
  days: fc.subarray([...weekdays], { minLength: 1 }),
  times: fc.uniqueArray(
    fc.oneof(anyTime, fc.constantFrom('00:00', '01:30', '02:00', '02:30', '03:00', '23:59')),
    {
      minLength: 1,
      maxLength: 4,
    },
  ),
  time_zone: fc.constantFrom(...zones),
  posts_per_day: fc.option(fc.integer({ min: 1, max: 3 })),
})
const anyNow = fc.date({
  min: new Date('2024-01-01'),
  max: new Date('2027-12-31'),
  noInvalidDate: true,
})

/** The local time of a moment, computed differently from the code under test. */
const shownIn = (zone: string, moment: Date) => {
  const [weekday, date, time] = [
    { weekday: 'short' },
    { dateStyle: 'short' },
    { timeStyle: 'short', hourCycle: 'h23' },
  ].map((options) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...(options as object) }).format(moment),
  )
  return { weekday: weekday!.toLowerCase(), date: date!, time: time! }
}

describe('any cadence in any zone', () => {
  test('has slots after now, in order, at most as many a day as allowed, and each in a minute of its own that is free', () => {
    const property = fc.property(
      anyCadence,
      anyNow,
      fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 20 }),
      (cadence, now, minutes) => {
        const free = gapsInCadence(cadence, from(now.toISOString()), 30)
        const taken = [
          ...minutes.map((minute) => new Date(now.getTime() + minute * 60_000)),
          ...free.filter((_, index) => index % 3 === 0),
        ]
        const left = gapsInCadence(cadence, from(now.toISOString(), { taken, counted: taken }), 30)
        const minuteOf = (moment: Date) => Math.floor(moment.getTime() / 60_000)
        for (const slot of left) expect(slot.getTime()).toBeGreaterThan(now.getTime())
        expect(left).toEqual(left.toSorted((a, b) => a.getTime() - b.getTime()))
        expect(
          new Set(
            [
              ...left,
              ...taken.filter((one) => left.some((slot) => minuteOf(slot) === minuteOf(one))),
            ].map(minuteOf),
          ).size,
        ).toBe(left.length)
        expect(
          left.filter((slot) => taken.some((one) => minuteOf(one) === minuteOf(slot))),
        ).toEqual([])
        const perDay = Map.groupBy(left, (slot) => shownIn(cadence.time_zone, slot).date)
        for (const [, day] of perDay)
          expect(day.length).toBeLessThanOrEqual(cadence.posts_per_day ?? cadence.times.length)
      },
    )
    fc.assert(property, runs(60))
  })

  test('has each time once on each of its days, except those that the clocks skip', () => {
    const property = fc.property(anyCadence, anyNow, (cadence, now) => {
      const free = [...freeSlots({ ...cadence, posts_per_day: null }, from(now.toISOString()), 30)]
      const seen = free.map((slot) => shownIn(cadence.time_zone, slot))
      for (const { weekday } of seen) expect(cadence.days).toContain(weekday as never)
      const keys = seen.map(({ date, time }) => `${date} ${time}`)
      expect(new Set(keys).size).toBe(keys.length)
      // A skipped time becomes a later one: on at most one day in a month, for at most all of its
      // times.
      const off = seen.filter(({ time }) => !cadence.times.includes(time))
      expect(off.length).toBeLessThanOrEqual(cadence.times.length)
      const whole = Map.groupBy(seen, ({ date }) => date)
      const short = [...whole].filter(([, day]) => day.length < cadence.times.length)
      expect(short.length).toBeLessThanOrEqual(3)
    })
    fc.assert(property, runs(60))
  })
})
