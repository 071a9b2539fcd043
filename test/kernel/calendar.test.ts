/** The calendar in every time zone, compared with the clocks of `Intl`. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { addDays, dayAt, hourAt, isDay, mondayOf, startOfDay, weekdayAt } from '#kernel/calendar'
import { runs } from '#test/support/property'

const MINUTE_MS = 60_000
const STEP_MS = 15 * MINUTE_MS
/** No zone differs more from UTC, including the days that some skipped. */
const FURTHEST_MS = 40 * 60 * MINUTE_MS

/**
 * Offsets in quarter hours, changes at midnight or by half an hour, a skipped day, a Ramadan
 * without summer time.
 */
const ODD_ZONES = [
  'America/Havana',
  'America/Santiago',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
]

const zone = fc.oneof(
  fc.constantFrom(...ODD_ZONES),
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
)

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const day = fc
  .integer({ min: Date.UTC(1990, 0, 1) / 86_400_000, max: Date.UTC(2037, 11, 31) / 86_400_000 })
  .map((n) => utcDay(n * 86_400_000))

const clocksOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  })

/** `2026-11-16, 23:30:00` */
const dayShown = (format: Intl.DateTimeFormat, ms: number): string => format.format(ms).slice(0, 10)

/** The first quarter of an hour at which clocks show the day or a later one. */
const firstShown = (wanted: string, format: Intl.DateTimeFormat): number => {
  let at = Date.parse(`${wanted}T00:00:00Z`) - FURTHEST_MS
  while (dayShown(format, at) < wanted) at += STEP_MS
  return at
}

/** Days around which a zone's offset changes, found by comparing noons. */
const changesOf = (timeZone: string, year: number): string[] => {
  const hour = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short', hourCycle: 'h23' })
  const noons = Array.from({ length: 367 }, (_, index) => Date.UTC(year, 0, index, 12))
  return noons
    .filter((noon, index) => index > 0 && hour.format(noon) !== hour.format(noons[index - 1]!))
    .map(utcDay)
}

const expectStart = (wanted: string, timeZone: string) => {
  const start = startOfDay(wanted, timeZone)
  expect(`${wanted} in ${timeZone}: ${start.toISOString()}`).toBe(
    `${wanted} in ${timeZone}: ${new Date(firstShown(wanted, clocksOf(timeZone))).toISOString()}`,
  )
  expect(dayAt(start, timeZone) >= wanted).toBe(true)
  expect(dayAt(new Date(start.getTime() - 1), timeZone) < wanted).toBe(true)
}

test('a day begins when clocks first show it, in any zone', () => {
  fc.assert(fc.property(day, zone, expectStart), runs(500))
})

test('and so do the days around each clock change', () => {
  for (const timeZone of [...ODD_ZONES, 'Europe/Berlin', 'America/New_York']) {
    for (const year of [1993, 2006, 2011, 2026]) {
      for (const change of changesOf(timeZone, year))
        for (const days of [-1, 0, 1, 2]) expectStart(addDays(change, days), timeZone)
    }
  }
})

test('day, hour and weekday are those that clocks show', () => {
  const moment = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2037, 11, 31) })
  const property = fc.property(moment, zone, (ms, timeZone) => {
    const shown = clocksOf(timeZone).format(ms)
    const weekday = new Date(`${shown.slice(0, 10)}T00:00:00Z`).getUTCDay()
    const at = new Date(ms)
    expect([dayAt(at, timeZone), hourAt(at, timeZone), weekdayAt(at, timeZone) % 7]).toEqual([
      shown.slice(0, 10),
      Number(shown.slice(12, 14)),
      weekday,
    ])
  })
  fc.assert(property, runs(2_000))
})

test('adding days is correct over the ends of months and years', () => {
  const property = fc.property(day, fc.integer({ min: -800, max: 800 }), (from, days) => {
    const to = addDays(from, days)
    expect(isDay(to)).toBe(true)
    expect(to).toBe(utcDay(Date.parse(from) + days * 86_400_000))
    const monday = mondayOf(from)
    expect(new Date(monday).getUTCDay()).toBe(1)
    expect((Date.parse(from) - Date.parse(monday)) / 86_400_000).toBeWithin(0, 7)
  })
  fc.assert(property, runs(2_000))
})

test('a day that clocks skip entirely begins with the next one', () => {
  expect(startOfDay('2011-12-30', 'Pacific/Apia').toISOString()).toBe('2011-12-30T10:00:00.000Z')
})

test.each([
  ['2026-02-28', true],
  ['2026-02-30', false],
  ['2026-13-01', false],
  ['2026-2-1', false],
  ['today', false],
])('%p is a day: %p', (day, expected) => {
  expect(isDay(day)).toBe(expected)
})
