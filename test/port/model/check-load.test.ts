import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { containsPhrase, foldText } from '#domain/growth/drafting/phrase'
import { checkDraft, standardsOf } from '#port/model/checks/draft'
import { processorTime } from '#test/support/processor-time'
import { fullBrief, fullProfile } from './largest-profile.ts'

const LONGEST = 25_000
const filled = (unit: string, length = LONGEST): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

describe('finding phrases', () => {
  const isLetter = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character) && !/\p{Script=Han}/u.test(character)

  /** Each place of the text, one after the other. */
  const standsSomewhere = (text: string, phrase: string): boolean => {
    const [hay, needle] = [[...foldText(text)], [...foldText(phrase)]]
    return hay.some((_, at) => {
      const joinsBefore = isLetter(needle[0]) && isLetter(hay[at - 1])
      const joinsAfter = isLetter(needle.at(-1)) && isLetter(hay[at + needle.length])
      return (
        needle.length > 0 &&
        needle.every((character, offset) => hay[at + offset] === character) &&
        !joinsBefore &&
        !joinsAfter
      )
    })
  }

  test('a phrase is found wherever it stands as whole words', () => {
    const text = (maxLength: number) =>
      fc
        .array(fc.constantFrom('a', 'a', 'b', 'A', ' ', '-', '秘', '😀', '𝒳', '1'), { maxLength })
        .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        text(40),
        text(6),
        (one, phrase) => containsPhrase(one, phrase) === standsSomewhere(one, phrase),
      ),
      { numRuns: 2_000 },
    )
  })
})

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
  test('is read once for all drafts that are checked against it', () => {
    const brief = fullBrief()
    expect(standardsOf(brief)).toBe(standardsOf(brief))
    expect(standardsOf(brief).avoid).toHaveLength(100)
  })

  test('posts that differ only after 2,000 characters are the same post', () => {
    const body = Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(' ')
    const brief = fullBrief({ recent: [{ body, hook: 'x' }], maxLength: LONGEST })
    expect(
      checkDraft({ body: `${body} end`, hook: 'y', stories: [] }, brief, []).map(
        ({ kind }) => kind,
      ),
    ).toContain('repeated')
  })

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
