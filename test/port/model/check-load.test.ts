import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { containsPhrase, foldText } from '#domain/growth/drafting/phrase'
import { checkDraft, standardsOf } from '#port/model/checks/draft'
import { fullBrief } from './largest-profile.ts'

const LONGEST = 25_000

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
})
