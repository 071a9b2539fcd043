/** Which drafts an account can take. */
import { expect, test } from 'bun:test'
import { MOST_WEIGHED, unfitFor } from '#domain/growth/sending/account-fit'

const account = { handle: 'alice.test', network: 'bluesky' }
const rules = {
  account,
  limits: { maxLength: 20, maxLongLength: null, measure: (text: string) => text.length },
  isHandle: (name: string) => name.includes('.'),
}
const faultsOf = (body: string, kind: 'post' | 'article' = 'post'): string[] =>
  unfitFor([{ id: 'a', kind, body }], rules).map(({ message }) => message)

test.each(['', 'Short.', 'By @alice.test.', 'me@levelsio', 'x.com/@levelsio', 'a @ b', '@'])(
  '%j can go to the account',
  (body) => {
    expect(faultsOf(body)).toEqual([])
  },
)

test.each([
  ['a'.repeat(21), 'is 21 characters long as the network counts; the maximum is 20'],
  [
    'a'.repeat(MOST_WEIGHED),
    'is more than 20 characters long as the network counts; the maximum is 20',
  ],
  ['Ask @levelsio.', 'names @levelsio, which is no handle there'],
  ['(@ümit_1)', 'names @ümit_1, which is no handle there'],
  [
    'One @two, and three @four.',
    'is 26 characters long as the network counts; the maximum is 20; names @two, which is no handle there',
  ],
])('%j cannot', (body, message) => {
  expect(faultsOf(body)).toEqual([message])
})

test('articles go only where there are long posts, however short they are', () => {
  expect(faultsOf('Short.', 'article')).toEqual([
    '@alice.test on bluesky takes no articles: a post there has at most 20 characters',
  ])
  const limits = { ...rules.limits, maxLongLength: 25_000 }
  expect(unfitFor([{ id: 'a', kind: 'article', body: 'x' }], { ...rules, limits })).toEqual([])
})

test('a text of nothing but names is read in one pass', () => {
  expect(faultsOf(`${'@a.b '.repeat(800)}@c`)[0]).toEndWith('names @c, which is no handle there')
})
