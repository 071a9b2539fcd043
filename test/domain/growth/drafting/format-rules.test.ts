import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  brokenRuleMessage,
  checkRules,
  type FormatRules,
  faultOfRules,
  lineBreaksIn,
  noRules,
  tidyWords,
} from '#domain/growth/drafting/format-rules'
import { runs } from '#test/support/property'

const measure = (text: string) => text.length
const check = (text: string, rules: Partial<FormatRules>) =>
  checkRules(text, { ...noRules, ...rules }, measure)
const broken = (text: string, rules: Partial<FormatRules>) =>
  check(text, rules).map(({ rule }) => rule)
const most = (rule: keyof FormatRules, text: string): string | undefined =>
  check(text, { [rule]: 0 })[0]?.message

describe('a count', () => {
  test.each([
    ['#one #two', '2 hashtags, at most 0'],
    ['(#one) ＃zwei #über_3', '3 hashtags, at most 0'],
    ['no#tag, &#39; and #1 of #2026', undefined],
    ['https://a.example/x#part', undefined],
    ['#2026plans', '1 hashtag, at most 0'],
  ])('of hashtags in %s', (text, message) => expect(most('max_hashtags', text)).toBe(message!))

  test.each([
    ['👩‍🚀 and 🇩🇪 and ❤️', '3 emoji, at most 0'],
    ['1️⃣ 2⃣', '2 emoji, at most 0'],
    ['👍🏽', '1 emoji, at most 0'],
    ['© 2026, → and ✓, #1 *', undefined],
  ])('of emoji in %s', (text, message) => expect(most('max_emoji', text)).toBe(message!))

  test.each([
    ['see example.com and https://a.example/b?c=d', '2 links, at most 0'],
    ['e.g. v1.2 or me@example.com', undefined],
  ])('of links in %s', (text, message) => expect(most('max_links', text)).toBe(message!))

  test.each([
    ['a\r\n\r\nb\nc', 3],
    ['\n\na\u2028b\n\n', 1],
    ['one line', 0],
  ])('of line breaks in %j', (text, count) => expect(lineBreaksIn(text)).toBe(count))

  test('may be reached but not exceeded', () => {
    expect(broken('#a #b', { max_hashtags: 2 })).toEqual([])
    expect(check('#a #b #c #d', { max_hashtags: 2 })).toEqual([
      { rule: 'max_hashtags', message: '4 hashtags, at most 2' },
    ])
  })
})

test('lengths are counted by the given measure', () => {
  expect(checkRules('ab', { ...noRules, max_length: 3 }, (text) => 2 * text.length)).toEqual([
    { rule: 'max_length', message: "4 characters by the network's count, at most 3" },
  ])
  expect(check('ab', { min_length: 3 })).toEqual([
    { rule: 'min_length', message: "2 characters by the network's count, at least 3" },
  ])
  expect(check('abc', { min_length: 3, max_length: 3 })).toEqual([])
})

describe('a banned word', () => {
  test.each([
    ['SYNERGY!', 'synergy'],
    ['Ｓｙｎｅｒｇｙ', 'synergy'],
    ['STRASSE', 'strasse'],
    ['die ÜBERRASCHUNG', 'überraschung'],
    ['これは革命的です', '革命'],
    ['we are crushing\nit', 'crushing it'],
    ['u\u0308ber', 'über'],
  ])('%j is found for %s', (text, word) =>
    expect(broken(text, { banned_words: [word] })).toEqual(['banned_words']),
  )

  test.each([
    ['synergyless', 'synergy'],
    ['hackathon', 'hack'],
    ['überall', 'all'],
  ])('%s is no %s', (text, word) => expect(broken(text, { banned_words: [word] })).toEqual([]))

  test('is named as it was given, and so is each one found', () => {
    expect(check('Hack the synergy', { banned_words: ['Synergy', 'growth', 'hack'] })).toEqual([
      { rule: 'banned_words', message: 'it contains "Synergy"' },
      { rule: 'banned_words', message: 'it contains "hack"' },
    ])
  })

  test('is stored once, whatever its case', () =>
    expect(tidyWords(['Hack', ' hack ', 'synergy', 'HACK'])).toEqual(['Hack', 'synergy']))
})

test('the error for a broken rule names its channel and numbers', () => {
  const [rule] = check('#a #b #c #d', { max_hashtags: 2 })
  expect(brokenRuleMessage(rule!, 'posts')).toBe(
    'breaks the rule max_hashtags of channel posts: 4 hashtags, at most 2',
  )
})

describe('rules', () => {
  test.each([
    [{ max_length: 281 }, 'max_length', 'is 281; the network allows at most 280'],
    [{ min_length: 281 }, 'min_length', 'is 281; the network allows at most 280'],
    [
      { min_length: 101, max_length: 100 },
      'min_length',
      'is 101 and max_length is 100: no text can satisfy both',
    ],
  ])('%j contradict', (rules, rule, message) =>
    expect(faultOfRules({ ...noRules, ...rules }, 280)).toEqual({
      rule: rule as keyof FormatRules,
      message,
    }),
  )

  test.each([[{}], [{ min_length: 280, max_length: 280 }], [{ max_emoji: 0, max_links: 0 }]])(
    '%j are consistent',
    (rules) => expect(faultOfRules({ ...noRules, ...rules }, 280)).toBeUndefined(),
  )
})

const anyRules = fc.record({
  min_length: fc.option(fc.integer({ min: 1, max: 40 })),
  max_length: fc.option(fc.integer({ min: 1, max: 80 })),
  max_emoji: fc.option(fc.nat(3)),
  max_hashtags: fc.option(fc.nat(3)),
  max_links: fc.option(fc.nat(3)),
  max_line_breaks: fc.option(fc.nat(3)),
  banned_words: fc.array(fc.constantFrom('kiln', 'café', '猫', 'on call'), { maxLength: 4 }),
})
const piece = fc.constantFrom(
  '#tag',
  '🙂',
  'https://a.example/b',
  '\n',
  'kiln',
  'CAFÉ',
  '猫',
  'On  Call',
  'word',
  'kilns',
  '#1',
)
const anyText = fc
  .array(fc.oneof(piece, fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 20 })
  .map((parts) => parts.join(' '))

describe('any rules over any text', () => {
  test('report nothing if there are no rules', () => {
    fc.assert(
      fc.property(anyText, (text) => checkRules(text, noRules, measure).length === 0),
      runs(200),
    )
  })

  test('break alone exactly when they break together, and no looser rule breaks', () => {
    const property = fc.property(anyText, anyRules, (text, rules) => {
      const together = checkRules(text, rules, measure)
      const alone = (Object.keys(rules) as (keyof FormatRules)[]).flatMap((rule) =>
        check(text, { [rule]: rules[rule] }),
      )
      expect(alone).toEqual(together)
      const loosened = { ...rules, banned_words: [], max_length: null, min_length: null }
      const looser = Object.fromEntries(
        Object.entries(loosened).map(([rule, value]) => [
          rule,
          typeof value === 'number' ? value + 100 : value,
        ]),
      )
      expect(checkRules(text, looser as unknown as FormatRules, measure)).toEqual([])
    })
    fc.assert(property, runs(200))
  })

  test('find a banned word anywhere between words, but not inside one', () => {
    const property = fc.property(
      anyText,
      fc.constantFrom('kiln', 'on call', 'naïve'),
      (text, word) => {
        expect(broken(`${text} ${word.toUpperCase()} ${text}`, { banned_words: [word] })).toEqual([
          'banned_words',
        ])
        expect(broken(`x${word}x`, { banned_words: [word] })).toEqual([])
      },
    )
    fc.assert(property, runs(100))
  })
})
