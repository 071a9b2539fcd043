import { describe, expect, test } from 'bun:test'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { checkDraft } from '#port/model/checks/draft'
import { processorTime } from '#test/support/processor-time'
import { fullBrief, fullProfile } from './largest-profile.ts'

const LONGEST = 25_000
const filled = (unit: string, length = LONGEST): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

const briefOf = (body: string, avoid: (entry: number) => string): DraftBrief =>
  fullBrief({
    profile: fullProfile(() => filled(body, 2_000), {
      avoid: (entry) => avoid(entry).slice(0, 2_000),
    }),
    recent: Array.from({ length: 100 }, (_, index) => ({
      body: `${filled(body, LONGEST - 10)} ${index}`,
      hook: 'x',
    })),
    maxLength: LONGEST * 2,
  })

describe('the largest brief', () => {
  const cost = (body: string, brief: DraftBrief): number =>
    processorTime((run) => {
      checkDraft({ body: `${body} ${run}`, hook: 'y', stories: [] }, brief, [])
    })

  /**
   * Plain words take constant time per character. Within a multiple of that, so does the hard text.
   */
  const SLACK = 60
  const words = filled('the kiln cracked and we lost 3 mugs. ')
  const plain = cost(
    words,
    briefOf(words, (entry) => filled(`zq${entry} wv `, 2_000)),
  )

  test.each([
    ['a', (entry: number) => `${'a'.repeat(1_000 + entry)}b`],
    ['a', (entry: number) => 'a'.repeat(1 + entry)],
    ['a ', (entry: number) => `${'a '.repeat(500 + entry)}b`],
    ['我们', (entry: number) => `${'我们'.repeat(500 + entry)}我`],
    ['\u0301\u0323', (entry: number) => '\u0301\u0323'.repeat(500 + entry)],
  ])('a body of %j and phrases like it cost about as much as plain words', (unit, avoid) => {
    const body = filled(unit)
    expect(cost(body, briefOf(body, avoid))).toBeLessThan(plain * SLACK)
  })
})
