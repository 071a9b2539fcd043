import { describe, expect, test } from 'bun:test'
import { nextTime, patternFault } from '#kernel/cron'

const at = (text: string): Date => new Date(text)
const next = (pattern: string, zone: string, after: string): string | undefined =>
  nextTime(pattern, zone, at(after))?.toISOString()

describe('the next time of a pattern', () => {
  test('follows the clocks of its time zone through daylight saving', () => {
    expect(next('0 9 * * 1', 'Europe/Berlin', '2026-03-23T12:00:00Z')).toBe(
      '2026-03-30T07:00:00.000Z',
    )
    expect(next('0 9 * * 1', 'Europe/Berlin', '2026-03-16T12:00:00Z')).toBe(
      '2026-03-23T08:00:00.000Z',
    )
  })

  test('is after the given moment, never at it', () => {
    expect(next('30 7 * * *', 'UTC', '2026-11-21T07:30:00Z')).toBe('2026-11-22T07:30:00.000Z')
  })

  test('comes once on a day whose clocks skip its hour, and once where they repeat it', () => {
    const times = (from: string, count: number): string[] => {
      const found: string[] = []
      for (let after = from; found.length < count; after = found.at(-1)!)
        found.push(next('30 2 * * *', 'Europe/Berlin', after)!)
      return found.map((time) => time.slice(0, 10))
    }
    expect(times('2026-03-28T12:00:00Z', 2)).toEqual(['2026-03-29', '2026-03-30'])
    expect(times('2026-10-24T12:00:00Z', 2)).toEqual(['2026-10-25', '2026-10-26'])
  })

  test('does not exist if no day of the calendar fits', () => {
    expect(next('0 0 31 2 *', 'UTC', '2026-01-01T00:00:00Z')).toBeUndefined()
  })
})

const fault = (pattern: string) => patternFault(pattern, 'UTC', at('2026-01-01T00:00:00Z'))

test('a text that is not a pattern of five fields has a fault, a valid pattern has none', () => {
  for (const wrong of ['', '* * * *', '* * * * * *', '60 * * * *', 'monday', '@daily x'])
    expect([wrong, fault(wrong)]).toEqual([wrong, expect.stringMatching(/^is not a cron pattern/)])
  for (const right of ['0 9 * * 1', '*/15 8-18 * * MON-FRI']) expect(fault(right)).toBeUndefined()
  expect(fault('monday')).toBe('is not a cron pattern of five fields: it has 1')
  expect(fault('@daily')).toBeUndefined()
  expect(fault('*/14 * * * *')).toContain('every 15 minutes')
  expect(fault('0 0 31 2 *')).toBe('never fires')
})
