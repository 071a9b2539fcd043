/** Which post of a timeline an attempt made. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findPost, readSince, type SeenPost } from '#domain/growth/sending/reconcile'
import { fingerprintText } from '#port/network/text'
import { at, attemptWith, DAY } from '#test/domain/records'

const SENTENCE =
  'Eleven of fourteen delays started at the loading dock, and nobody had counted them.'
const FORTY = SENTENCE.slice(0, 40)

const seen = (text: string, changes: Partial<SeenPost> = {}): SeenPost => ({
  externalId: 'post-1',
  text,
  original: text,
  truncated: false,
  createdAt: at(1_000),
  url: null,
  ...changes,
})
const open = (text: string, id = 'attempt-1') => ({
  attempt: attemptWith({ id, intent_at: at() }),
  text,
})

const find = (
  own: string,
  posts: SeenPost[],
  { others = [], taken = [] }: { others?: string[]; taken?: string[] } = {},
) =>
  findPost(open(own), posts, {
    others: others.map((text, index) => open(text, `other-${index}`)),
    taken: new Set(taken),
  })?.externalId

describe('the whole text', () => {
  test('is found, however short, among others', () => {
    expect(find('Ship it.', [seen('Ship it!', { externalId: 'other' }), seen('Ship it.')])).toBe(
      'post-1',
    )
  })

  test.each([
    ['another text', 'Ship it today.'],
    ['its beginning', 'Ship'],
    ['a text that goes on', 'Ship it. And more.'],
    ['another case', 'ship it.'],
    ['nothing', ''],
  ])('is not %s', (_, text) => {
    expect(find('Ship it.', [seen(text)])).toBeUndefined()
  })

  test('is compared as normalised: links, composition and white space do not count', () => {
    const sentText = 'Cafe\u0301 opens at dawn.\n\nhttps://example.com/a/long/path'
    const shown = 'Caf\u00e9 opens  at dawn. https://t.co/aB3dE'
    expect(find(fingerprintText(sentText), [seen(fingerprintText(shown))])).toBe('post-1')
  })

  test('of links alone leaves nothing to compare and is never found', () => {
    const own = fingerprintText('https://example.com/a https://example.org')
    expect(find(own, [seen(own), seen('', { truncated: true })])).toBeUndefined()
  })

  test('several times: the oldest is the one the attempt made', () => {
    const posts = [
      seen('Ship it.', { externalId: 'late', createdAt: at(9_000) }),
      seen('Ship it.', { externalId: 'early', createdAt: at(2_000) }),
    ]
    expect(find('Ship it.', posts)).toBe('early')
    expect(find('Ship it.', posts.toReversed())).toBe('early')
  })

  test('is left to an item with the same text that a person settled: the older post is that one', () => {
    const posts = [seen('Ship it.', { externalId: 'early', createdAt: at(2_000) })]
    expect(find('Ship it.', posts, { others: ['Ship it.'] })).toBeUndefined()
    expect(
      find('Ship it.', [...posts, seen('Ship it.', { externalId: 'late', createdAt: at(9_000) })], {
        others: ['Ship it.'],
      }),
    ).toBe('late')
  })

  test('cut short by the network is no whole text, even where it equals one', () => {
    expect(find('Ship it.', [seen('Ship it.', { truncated: true })])).toBeUndefined()
    expect(
      find(SENTENCE, [seen(SENTENCE, { truncated: true })], {
        others: [`${SENTENCE} Then we did.`],
      }),
    ).toBeUndefined()
  })
})

describe('when and whose', () => {
  test('a timeline is read from five seconds before the intent, for clocks differ', () => {
    expect(readSince(attemptWith({ intent_at: at() }))).toEqual(at(-5_000))
  })

  test.each([
    ['just within the skew', -5_000, 'post-1'],
    ['before it', -5_001, undefined],
    ['the day before', -DAY, undefined],
  ])('a post made %s', (_, ms, found) => {
    expect(find('Ship it.', [seen('Ship it.', { createdAt: at(ms) })])).toBe(found)
    expect(find(SENTENCE, [seen(`${FORTY}…`, { createdAt: at(ms) })])).toBe(found)
  })

  test('a post that another item owns is left out, and the next one is found', () => {
    const posts = [
      seen('Ship it.'),
      seen('Ship it.', { externalId: 'post-2', createdAt: at(2_000) }),
    ]
    expect(find('Ship it.', posts, { taken: ['post-1'] })).toBe('post-2')
    expect(find('Ship it.', posts, { taken: ['post-1', 'post-2'] })).toBeUndefined()
    expect(find(SENTENCE, [seen(`${FORTY}…`)], { taken: ['post-1'] })).toBeUndefined()
  })
})

describe('the beginning of a text', () => {
  test.each([
    ['ends in an ellipsis', `${FORTY}…`, false, 'post-1'],
    ['ends in three dots', `${FORTY}...`, false, 'post-1'],
    ['has a space before the ellipsis', `${FORTY} …`, false, 'post-1'],
    ['is said to be truncated', FORTY, true, 'post-1'],
    ['is said to be truncated and ends in an ellipsis', `${FORTY}…`, true, 'post-1'],
    ['ends like a whole text', FORTY, false, undefined],
    ['is a character too short', `${SENTENCE.slice(0, 39)}…`, true, undefined],
    ['is the beginning of something else', `${FORTY}X…`, true, undefined],
    ['is a middle part', `${SENTENCE.slice(1, 60)}…`, true, undefined],
  ])('that %s', (_, text, truncated, found) => {
    expect(find(SENTENCE, [seen(text, { truncated })])).toBe(found)
  })

  test('is measured in characters: an emoji is one', () => {
    const emoji = '🚀'.repeat(39)
    expect(find(`${emoji}🎉 and more`, [seen(`${emoji}…`)])).toBeUndefined()
    expect(find(`${emoji}🎉 and more`, [seen(`${emoji}🎉…`)])).toBe('post-1')
  })

  test('that fits two open attempts decides nothing for either', () => {
    const [one, other] = [`${FORTY} one`, `${FORTY} other`]
    const posts = [seen(`${FORTY} o…`)]
    expect(find(one, posts, { others: [other] })).toBeUndefined()
    expect(find(other, posts, { others: [one] })).toBeUndefined()
  })

  test('that tells two open attempts apart is found', () => {
    expect(find(`${FORTY} one`, [seen(`${FORTY} on…`)], { others: [`${FORTY} other`] })).toBe(
      'post-1',
    )
  })

  test('gives way to the whole text', () => {
    const posts = [
      seen(`${FORTY}…`, { externalId: 'cut' }),
      seen(SENTENCE, { externalId: 'whole', createdAt: at(3_000) }),
    ]
    expect(find(SENTENCE, posts)).toBe('whole')
  })

  test('several times: the oldest', () => {
    const posts = [
      seen(`${FORTY}…`, { externalId: 'late', createdAt: at(9_000) }),
      seen(`${FORTY}…`, { externalId: 'early' }),
    ]
    expect(find(SENTENCE, posts)).toBe('early')
  })

  test('property: a cut text is taken exactly when it is long enough, a beginning of its own text, and of no other open one', () => {
    const alphabet = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 })
    const stem = 'x'.repeat(38)
    fc.assert(
      fc.property(alphabet, alphabet, alphabet, (own, other, shown) => {
        const fits =
          `${stem}${shown}`.length >= 40 && own.startsWith(shown) && !other.startsWith(shown)
        const found = find(`${stem}${own}`, [seen(`${stem}${shown}`, { truncated: true })], {
          others: [`${stem}${other}`],
        })
        expect(found).toBe(fits ? 'post-1' : undefined)
      }),
    )
  })
})
