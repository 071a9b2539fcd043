/** The times that drafts decided together are named. */
import { expect, test } from 'bun:test'
import { namedTimes } from '#src/console/inbox/named-times'

type Slots = Parameters<typeof namedTimes>[1]

const slot = (at: string, channel = 'posts', isHeld = false): Slots[number] => ({
  at,
  channel,
  slot: at,
  item: isHeld
    ? { id: 'held', status: 'approved', title: null, excerpt: '', tags: [], url: null }
    : null,
})

const calendar: Slots = [
  slot('2026-11-23T08:30Z'),
  slot('2026-11-24T08:30Z'),
  slot('2026-11-24T10:00Z', 'articles'),
  slot('2026-11-24T16:00Z', 'posts', true),
  slot('2026-11-26T08:30Z'),
  slot('2026-11-27T08:30Z'),
]

const draft = (id: string, kind: 'draft' | 'article' = 'draft') => ({
  id,
  kind,
  title: id,
  account: null,
  content_hash: null,
})

test('each draft has a free slot of its own channel, to come and not asked for, the soonest first', () => {
  const when = { now: '2026-11-23T12:00Z', asked: new Set(['2026-11-26T08:30Z']) }
  const drafts = [draft('b'), draft('article', 'article'), draft('a'), draft('c')]
  expect([...namedTimes(drafts, calendar, when)]).toEqual([
    ['b', '2026-11-24T08:30Z'],
    ['article', '2026-11-24T10:00Z'],
    ['a', '2026-11-27T08:30Z'],
  ])
})
