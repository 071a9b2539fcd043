import { describe, expect, test } from 'bun:test'
import { addDays, dayAt, isDay, mondayOf, startOfDay } from '#kernel/calendar'

test('the day depends on the time zone', () => {
  const at = new Date('2026-11-15T23:30:00Z')
  expect([dayAt(at, 'UTC'), dayAt(at, 'Asia/Tokyo'), dayAt(at, 'America/New_York')]).toEqual([
    '2026-11-15',
    '2026-11-16',
    '2026-11-15',
  ])
})

test('days are added over the ends of months and years', () => {
  expect([addDays('2026-12-31', 1), addDays('2028-03-01', -1), addDays('2026-03-29', 7)]).toEqual([
    '2027-01-01',
    '2028-02-29',
    '2026-04-05',
  ])
})

test('a week begins on Monday', () => {
  expect(['2026-11-15', '2026-11-16', '2026-11-22'].map(mondayOf)).toEqual([
    '2026-11-09',
    '2026-11-16',
    '2026-11-16',
  ])
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

describe('a day begins', () => {
  test.each([
    ['at midnight', '2026-11-16', 'UTC', '2026-11-16T00:00:00.000Z'],
    ['at midnight of its clocks', '2026-11-16', 'Asia/Tokyo', '2026-11-15T15:00:00.000Z'],
    ['before a clock change', '2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    [
      'after the clocks have gone forward',
      '2026-03-30',
      'Europe/Berlin',
      '2026-03-29T22:00:00.000Z',
    ],
    [
      'at one where clocks skip midnight',
      '2026-09-06',
      'America/Santiago',
      '2026-09-06T04:00:00.000Z',
    ],
    ['at an offset of half an hour', '2026-11-16', 'Asia/Kolkata', '2026-11-15T18:30:00.000Z'],
    [
      'as far east as there is land',
      '2026-11-16',
      'Pacific/Kiritimati',
      '2026-11-15T10:00:00.000Z',
    ],
    [
      'with the next day where clocks skip it entirely',
      '2011-12-30',
      'Pacific/Apia',
      '2011-12-30T10:00:00.000Z',
    ],
  ])('%s', (_, day, timeZone, begins) => {
    expect(startOfDay(day, timeZone).toISOString()).toBe(begins)
  })
})
