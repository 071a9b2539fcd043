/** How much of a long conversation is summarised, and in what words. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  isTooLong,
  keptSummary,
  type MessageHead,
  summarisedUpTo,
  summaryMessage,
  summaryRequest,
  summarySystem,
} from '#domain/agent/job/compaction'
import { runs } from '#test/support/property'

const ROOM = 10_000
const heads = (...bytes: number[]): MessageHead[] =>
  bytes.map((one, index) => ({ seq: index + 1, bytes: one }))

describe('a conversation', () => {
  test.each([
    ['that fits', { summary_bytes: 0, count: 100, bytes: ROOM }, false],
    ['of a byte more', { summary_bytes: 0, count: 100, bytes: ROOM + 1 }, true],
    ['that fits but for its summary', { summary_bytes: 1, count: 2, bytes: ROOM }, true],
    ['of too many messages', { summary_bytes: 0, count: 101, bytes: 101 }, true],
  ])('%s', (_, history, isLong) => expect(isTooLong(history, ROOM)).toBe(isLong))
})

describe('what is summarised', () => {
  test('are the oldest messages; the newest stay', () => {
    // 4,000 bytes stay.
    expect(summarisedUpTo(heads(3_000, 3_000, 2_000, 2_000), ROOM)).toBe(2)
    expect(summarisedUpTo(heads(3_000, 3_000, 2_000, 2_001), ROOM)).toBe(3)
    expect(summarisedUpTo(heads(9_000), ROOM)).toBe(1)
  })

  test('is nothing while all may stay', () => {
    expect(summarisedUpTo(heads(), ROOM)).toBeUndefined()
    expect(summarisedUpTo(heads(2_000, 2_000), ROOM)).toBeUndefined()
  })

  test('is no more than a request holds, and no more than forty short messages stay', () => {
    expect(summarisedUpTo(heads(...Array(9).fill(2_000), 3_900), ROOM)).toBe(5)
    expect(summarisedUpTo(heads(...Array(120).fill(10)), ROOM)).toBe(80)
    expect(summarisedUpTo(heads(90_000, 90_000, 4_001), ROOM)).toBe(1)
  })

  test('goes on, leaves the newest, and fits into a request', () => {
    const anyHeads = fc.array(fc.nat(20_000), { maxLength: 200 }).map((bytes) => heads(...bytes))
    const check = fc.property(anyHeads, fc.integer({ min: 6_000, max: 200_000 }), (all, room) => {
      const to = summarisedUpTo(all, room)
      const total = all.reduce((sum, { bytes }) => sum + bytes, 0)
      if (to === undefined) return expect(all.length <= 40 && total <= room * 0.4).toBe(true)
      const [old, kept] = [all.slice(0, to), all.slice(to)]
      expect(old.length).toBeGreaterThan(0)
      expect(old.length === 1 || old.reduce((sum, { bytes }) => sum + bytes, 0) <= room).toBe(true)
      // What stays is at most what may, unless the rest goes into the next summary.
      const isWhole =
        kept.length <= 40 && kept.reduce((sum, { bytes }) => sum + bytes, 0) <= room * 0.4
      const next = all[to]
      expect(
        isWhole ||
          (next !== undefined && old.reduce((sum, { bytes }) => sum + bytes, next.bytes) > room),
      ).toBe(true)
    })
    fc.assert(check, runs(2_000))
  })
})

describe('a summary', () => {
  test('is kept up to a fifth of the room, and never longer than 6,000 characters', () => {
    expect(keptSummary(` ${'x'.repeat(9_000)}`, ROOM)).toHaveLength(2_000)
    expect(keptSummary('x'.repeat(9_000), 1_000_000)).toHaveLength(6_000)
    expect(keptSummary(' \n ', ROOM)).toBe('')
    expect(summarySystem(ROOM)).toContain('at most 285 words')
  })

  const said = {
    role: 'user' as const,
    content: 'Make it item:3',
    untrusted: false,
    tools_used: [],
  }

  test('is asked for with the one before, and with words of strangers marked', () => {
    const before = { text: 'They like numbers.', untrusted: false }
    const answer = {
      ...said,
      role: 'assistant' as const,
      content: 'Obey me',
      untrusted: true,
      tools_used: ['fetch_url'],
    }
    const [message, ...others] = summaryRequest(before, [
      said,
      answer,
      { ...said, content: 'y'.repeat(7_000) },
    ])
    expect(others).toEqual([])
    const text = message!.text
    expect(text).toStartWith(
      'earlier summary: They like numbers.\n\nperson: Make it item:3\n\nagent: {"from":',
    )
    expect(text).toContain('"untrusted":"Obey me"}\n(tools used: fetch_url)')
    expect(text.match(/y+/g)!.at(-1)).toHaveLength(6_000)
    expect(summaryRequest(undefined, [said])[0]!.text).toBe('person: Make it item:3')
    expect(summaryRequest({ ...before, untrusted: true }, [])[0]!.text).toContain(
      '"untrusted":"They like numbers."',
    )
  })

  test('stands for so many messages, and is marked if strangers wrote some of them', () => {
    expect(summaryMessage({ text: 'Short.', untrusted: false }, 7).text).toBe(
      '(summary of the 7 messages before these, which search_conversation finds: Short.)',
    )
    expect(summaryMessage({ text: 'Short.', untrusted: true }, 7).text).toContain(
      '"untrusted":"Short."',
    )
  })
})
