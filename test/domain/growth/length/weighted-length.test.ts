import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WEIGHTED_LIMIT, weightedLength } from '#domain/growth/length/weighted-length'

describe('characters', () => {
  test.each([
    ['nothing', '', 0],
    ['plain words', 'Hello, world', 12],
    ['line breaks', 'a\nb\n', 4],
    ['accents, composed or not', 'caf\u00e9 cafe\u0301', 9],
    ['Cyrillic, Greek, Hebrew and Arabic', 'жαאش', 4],
    ['typographic dashes and quotes', '–—‘’“”', 6],
    ['an ellipsis and a bullet, which are outside the ranges', '…•', 4],
    ['a directional mark', 'a\u200eb', 4],
    ['Chinese, Japanese and Korean', '東京タワー서울', 14],
    ['a letter outside the basic plane', '𝒳', 2],
  ])('%s', (_name, text, length) => {
    expect(weightedLength(text)).toBe(length)
  })
})

describe('emoji count two, however they are composed', () => {
  test.each([
    ['one code point', '😷', 2],
    ['a skin tone', '🙋🏽', 2],
    ['a family', '👨‍👩‍👧‍👦', 2],
    ['a flag', '🇪🇺', 2],
    ['a flag of tags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 2],
    ['a symbol with variation selector', '❤️', 2],
    ['a keycap, with variation selector and without', '1️⃣1⃣', 4],
    ['several in words', 'a 👾 b 👨🏿‍🎤 c', 11],
    ['the copyright sign is a Latin letter, and an emoji only with a variation selector', '©©️', 3],
  ])('%s', (_name, text, length) => {
    expect(weightedLength(text)).toBe(length)
  })
})

describe('links count 23', () => {
  test.each([
    ['a short one', 'http://a.co', 23],
    ['a long one', `https://example.com/${'very/'.repeat(40)}long?path=1#end`, 23],
    ['among words', 'See https://example.com/notes for more', 36],
    ['a bare domain', 'test.com', 23],
    ['a bare domain of a country, with path', 'bit.ly/abc', 23],
    ['three of them', 'Test https://test.com test https://test.com test.com test', 86],
    ['the full stop after one is not part of it', 'http://example.com/.', 24],
    ['nor are brackets around it', '(https://example.com/a)', 25],
    ['but brackets inside are', 'https://en.wikipedia.org/wiki/Primer_(film)', 23],
    ['between Chinese characters', '见https://example.com/a。好', 29],
    ['a host in another script', 'http://例え.com/x', 23],
    ['a link of X itself ends with its slug', "https://t.co/pbY2NfTZ's", 25],
  ])('%s', (_name, text, length) => {
    expect(weightedLength(text)).toBe(length)
  })

  test.each([
    ['an email address', 'john.doe@mail.com'],
    ['a mention, a hashtag, a cashtag', '@test.com #test.com $TVI.CA'],
    ['a file name', 'package.json and index.html'],
    ['a number, a time, an abbreviation', '3.14 e.g. 10.30 v1.2.3'],
    ['a missing space', 'The end.Next sentence'],
    ['a host without a domain', 'http://localhost:7070/x'],
  ])('%s is not a link', (_name, text) => {
    expect(weightedLength(text)).toBe(text.length)
  })

  test('with an unknown domain, the larger count applies', () => {
    expect(weightedLength('http://a.zzzz')).toBe(23)
    expect(weightedLength('http://host.zzzz/with/a/long/path')).toBe(33)
  })
})

describe('properties', () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 100 })

  test('joining two texts with a space adds their lengths plus one', () => {
    fc.assert(
      fc.property(
        words,
        words,
        (one, two) =>
          weightedLength(`${one} ${two}`) === weightedLength(one) + 1 + weightedLength(two),
      ),
    )
  })

  test('the composed and the decomposed form of a text have the same length', () => {
    fc.assert(
      fc.property(
        words,
        (text) => weightedLength(text.normalize('NFD')) === weightedLength(text.normalize('NFC')),
      ),
    )
  })

  test.each([
    'a.'.repeat(15_000),
    `http://x.com/${'('.repeat(25_000)}`,
    `http://x.com/${'.'.repeat(25_000)}`,
    `http://${'あ'.repeat(25_000)}.`,
    '(a.b'.repeat(7_000),
  ])('text designed to be slow (%#) is still measured', (text) => {
    expect(weightedLength(text)).toBeGreaterThan(WEIGHTED_LIMIT)
  })
})
