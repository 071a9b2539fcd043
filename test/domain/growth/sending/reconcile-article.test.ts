import { expect, test } from 'bun:test'
import { findPost, type SeenPost } from '#domain/growth/sending/reconcile'
import { fingerprintText } from '#port/network/text'
import { at, attemptWith } from '#test/domain/records'

const ARTICLE = fingerprintText(
  `Late deliveries\n\n${'Eleven of fourteen delays started at the loading dock, and nobody had counted them.\n\n'.repeat(280)}`,
)

const open = (text: string, id = 'attempt-1') => ({
  attempt: attemptWith({ id, intent_at: at() }),
  text,
})
const seen = (text: string, truncated = false): SeenPost => ({
  externalId: text.slice(-20),
  text,
  original: text,
  truncated,
  createdAt: at(1_000),
  url: null,
})
const find = (posts: SeenPost[], others: string[] = []) =>
  findPost(open(ARTICLE), posts, {
    others: others.map((text) => open(text, 'other')),
    taken: new Set(),
  })

test('an article is found by its whole text among those that begin so', () => {
  const whole = seen(ARTICLE)
  expect(ARTICLE.length).toBeGreaterThan(20_000)
  expect(find([seen(`${ARTICLE} More.`), seen(ARTICLE.slice(0, -10)), whole])).toBe(whole)
})

test('an article is found by the beginning that a network shows of it, unless another open one begins so', () => {
  const shown = seen(`${ARTICLE.slice(0, 276)}…`, true)
  expect(find([shown])).toBe(shown)
  expect(find([shown], [`${ARTICLE} More.`])).toBeUndefined()
})
