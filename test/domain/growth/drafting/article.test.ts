import { describe, expect, test } from 'bun:test'
import {
  type Article,
  articleItem,
  failedArticle,
  newArticle,
  readyArticle,
} from '#domain/growth/drafting/article'
import { LONGEST_TITLE, pointsOf } from '#domain/growth/drafting/article-text'
import type { ArticleSet } from '#domain/growth/drafting/draft'
import { startGeneration, type TakenQuota } from '#domain/growth/drafting/generation'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import { approve } from '#domain/growth/drafting/item-moves'
import { errorOf } from '#test/domain/errors'
import { ACCOUNT, at, draftedItem } from '#test/domain/records'

const taken: TakenQuota = { key: 'articles', period: '2026-11', amount: 1 }
const now = at(60_000)
const usage = { input_tokens: 900, output_tokens: 400, cost_micros: 1_300 }
const queued = newArticle('article-1', {
  topic: 'late deliveries',
  length: 'short',
  outline: 'The dock',
  now: at(),
})
const inFlight = startGeneration(queued, at(1_000))
const set: ArticleSet = {
  article: {
    title: 'Late deliveries',
    text: 'The dock\n\nEvery delay starts there.',
    rationale: 'It fits.',
    stories: ['I drove a van.'],
    learnings: [],
  },
  model: 'composer',
  usage,
}
const measure = (text: string) => text.length
const item = articleItem(set, { id: 'item-1', article: queued, measure, now })

test('a new article is queued, without title and item', () => {
  expect(queued).toEqual({
    id: 'article-1',
    status: 'queued',
    error: null,
    topic: 'late deliveries',
    length: 'short',
    outline: 'The dock',
    rule_id: null,
    title: null,
    item_id: null,
    model: null,
    usage: null,
    created_at: at(),
    updated_at: at(),
  } as Article)
})

test('a ready article has one item with its title and text, and asks for approval once', () => {
  const done = readyArticle(inFlight, set, { item, now })
  expect(done.record).toEqual({
    ...inFlight,
    status: 'ready',
    title: 'Late deliveries',
    item_id: 'item-1',
    model: 'composer',
    usage,
    updated_at: now,
  })
  expect(done.refund).toEqual([])
  expect(done.events).toEqual([
    {
      type: 'growth.approval.requested',
      data: { kind: 'article', article_id: 'article-1', item_id: 'item-1' },
    },
  ])
  const body = 'Late deliveries\n\nThe dock\n\nEvery delay starts there.'
  expect(item).toMatchObject({
    kind: 'article',
    title: 'Late deliveries',
    body,
    length: body.length,
    batch_id: null,
    status: 'drafted',
  })
  expect(item).toMatchObject({ rationale: 'It fits.', stories: ['I drove a van.'] })
})

test.each([['generation_failed: add stories'], ['cancelled'], ['enqueue_failed']])(
  'failed with %s, it gives its quota back and tells nobody',
  (error) => {
    for (const article of [queued, inFlight])
      expect(failedArticle(article, error, { taken, now })).toEqual({
        record: { ...article, status: 'failed', error, updated_at: now },
        events: [],
        refund: [{ ...taken, amount: -1 }],
      })
  },
)

describe('approving', () => {
  const approved = (change: { editedBody?: string; title?: string }, of: Item = item) =>
    approve(of, { accountExternalId: ACCOUNT, measure, maxLength: 25_000, now, ...change })

  test.each([
    ['as it is', {}, 'Late deliveries', item.body],
    [
      'with a new title: it stands in the place of the old one',
      { title: 'Docks' },
      'Docks',
      'Docks\n\nThe dock\n\nEvery delay starts there.',
    ],
    [
      'with another text: its first line is the title',
      { editedBody: 'New head\n\nNew text.' },
      'New head',
      'New head\n\nNew text.',
    ],
    [
      'with a text that begins with a paragraph: no title is left',
      { editedBody: 'word '.repeat(60) },
      null,
      'word '.repeat(60),
    ],
    [
      'with both, the old title still above',
      { editedBody: 'Late deliveries\n\nNew.', title: 'Docks' },
      'Docks',
      'Docks\n\nNew.',
    ],
    [
      'with both, the new title above already',
      { editedBody: 'Docks\n\nNew.', title: 'Docks' },
      'Docks',
      'Docks\n\nNew.',
    ],
    [
      'with both, no title above',
      { editedBody: 'New.', title: ' Docks ' },
      'Docks',
      'Docks\n\nNew.',
    ],
  ])('%s', (_, change, title, body) => {
    expect(approved(change)).toMatchObject({
      status: 'approved',
      title,
      body,
      length: body.length,
      approved_hash: contentHash(body, ACCOUNT),
    })
  })

  test.each([
    ['a title of several lines', { title: 'One\ntwo' }, 'title must be one line'],
    ['an empty title', { title: '  ' }, 'title is empty'],
    [
      'a text longer than the network takes',
      { editedBody: 'x'.repeat(25_001) },
      'edited_body is 25001 characters long',
    ],
    [
      'a title that makes it longer than that',
      { editedBody: 'x'.repeat(24_999), title: 'Docks' },
      'edited_body is 25006 characters long',
    ],
  ])('refuses %s', (_, change, message) => {
    expect(errorOf(() => approved(change)).message).toContain(message)
  })

  test('a title for a post is refused', () => {
    expect(errorOf(() => approved({ title: 'Docks' }, draftedItem)).message).toContain(
      'title only applies to articles',
    )
  })

  test('a title of the greatest length is accepted', () => {
    const editedBody = `${'t'.repeat(LONGEST_TITLE)}\n\nText.`
    expect(approved({ editedBody }).title).toBe('t'.repeat(LONGEST_TITLE))
  })
})

test.each([
  [
    'lines',
    'The problem\n\n  What we changed \r\nResults',
    ['The problem', 'What we changed', 'Results'],
  ],
  ['a list', '- One\n* Two\n3. Three\n4) Four\n# Five', ['One', 'Two', 'Three', 'Four', 'Five']],
  ['one line with semicolons', 'One; Two;Three', ['One', 'Two', 'Three']],
  ['lines of which one has a semicolon', 'One; two\nThree', ['One; two', 'Three']],
  [
    'numbers that belong to the words',
    '1:1 meetings\n2026 in review',
    ['1:1 meetings', '2026 in review'],
  ],
  ['nothing', ' \n ', []],
])('an outline of %s', (_, outline, points) => {
  expect(pointsOf(outline)).toEqual(points)
})
