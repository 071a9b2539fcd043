/** The states of an audit, and the learnings that come of its findings. */
import { describe, expect, test } from 'bun:test'
import { noUsage } from '#domain/growth/drafting/draft'
import { startGeneration, type TakenQuota } from '#domain/growth/drafting/generation'
import { admitLearnings, learningsFrom } from '#domain/growth/learning/audit-learnings'
import {
  type AuditBrief,
  type CountedPost,
  failedAudit,
  findingsOf,
  newAudit,
  readyAudit,
} from '#domain/growth/learning/growth-audit'
import { featuresOf } from '#domain/growth/learning/post-features'
import { at } from '#test/domain/records'

const taken: TakenQuota = { key: 'audits', period: '2026-11', amount: 1 }
const now = at(60_000)
const queued = newAudit('audit-1', { days: 30, given: null, now: at() })

const post = (
  changes: Partial<CountedPost> & { likes?: number; impressions?: number | null } = {},
): CountedPost => {
  const { likes = 30, impressions = 1_000, ...rest } = changes
  const metrics = { impressions, likes, replies: 0, reposts: 0, quotes: 0, clicks: 0 }
  return {
    item_id: 'item-1',
    text: 'Every delay starts.',
    hook: '',
    format: '',
    learnings: [],
    posted_at: at(),
    metrics,
    ...rest,
  }
}
const brief = (posts: CountedPost[], more: Partial<AuditBrief> = {}): AuditBrief => ({
  posts,
  tooYoung: 0,
  timeZone: 'UTC',
  products: [],
  learnings: new Map(),
  ...more,
})
/** Posts of a kind and others in turn; those of the kind have twice as many likes. */
const two = (kind: (index: number) => Partial<CountedPost>, times = 2): CountedPost[] =>
  Array.from({ length: 24 }, (_, index) =>
    index % 2
      ? post({ item_id: `${index}`, likes: 30 + index })
      : post({ item_id: `${index}`, likes: times * (30 + index), ...kind(index) }),
  )

test('a new audit is queued, with numbers of the workspace unless some are given', () => {
  expect(queued).toMatchObject({
    status: 'queued',
    error: null,
    days: 30,
    source: 'synced',
    given: null,
    result: null,
  })
  expect(newAudit('a', { days: 7, given: [], now }).source).toBe('given')
})

describe('every end', () => {
  const result = { ...findingsOf(brief([])), learnings: [], not_added: [] }
  test.each([
    ['queued', queued],
    ['generating', startGeneration(queued, at(1))],
  ])(
    'from %s: ready keeps its charge, failed gives it back, and neither has an event',
    (_, audit) => {
      const done = readyAudit(audit, { result, model: 'composer', usage: noUsage, now })
      expect(done).toMatchObject({
        record: { status: 'ready', result, model: 'composer' },
        events: [],
        refund: [],
      })
      for (const error of ['generation_failed: ask for fewer days', 'cancelled', 'enqueue_failed'])
        expect(failedAudit(audit, error, { taken, now })).toEqual({
          record: { ...audit, status: 'failed', error, updated_at: now },
          events: [],
          refund: [{ ...taken, amount: -1 }],
        })
    },
  )
})

describe('features of a post', () => {
  const told = (
    changes: Partial<CountedPost>,
    setting = { timeZone: 'UTC', products: ['Dockside'] },
  ) =>
    featuresOf(post({ posted_at: null, ...changes }), setting).map(
      ({ dimension, value }) => `${dimension} ${value}`,
    )

  test.each<[string, Partial<CountedPost>, string[]]>([
    ['nothing but its length', {}, ['length short']],
    ['a number', { text: '40 % of delays.' }, ['number yes', 'length short']],
    [
      'an address with digits, which is no number',
      { text: 'See https://example.com/40' },
      ['length short', 'link yes'],
    ],
    ['a question anywhere', { text: 'Why? Because.' }, ['question yes', 'length short']],
    [
      'a list, whose marks are no numbers',
      { text: 'So:\n1. One\n2. Two' },
      ['list yes', 'length short'],
    ],
    ['medium length', { text: 'x'.repeat(140) }, ['length medium']],
    ['great length', { text: 'x'.repeat(241) }, ['length long']],
    ['a product, in any case', { text: 'We use dockside.' }, ['length short', 'product Dockside']],
    ['an emoji', { text: 'Done 🎉' }, ['length short', 'emoji yes']],
    [
      'format, hook and learnings',
      { format: 'story', hook: 'then-now', learnings: ['l', 'l'] },
      ['length short', 'format story', 'hook then-now', 'learning l'],
    ],
  ])('%s', (_, changes, features) => {
    expect(told(changes)).toEqual(features)
  })

  test('use the time zone of the workspace', () => {
    const posted_at = new Date('2026-11-21T23:30:00Z')
    expect(told({ posted_at })).toEqual(['length short', 'weekday Saturday', 'hour evening'])
    expect(told({ posted_at }, { timeZone: 'Asia/Tokyo', products: [] })).toEqual([
      'length short',
      'weekday Sunday',
      'hour morning',
    ])
    expect(told({ posted_at }, { timeZone: 'America/New_York', products: [] })).toContain(
      'hour afternoon',
    )
  })
})

describe('a learning', () => {
  const steers = () => true
  const notes = (
    posts: CountedPost[],
    more: Partial<AuditBrief> = {},
    understood: (note: string) => boolean = steers,
  ) => {
    const one = brief(posts, more)
    return learningsFrom(findingsOf(one), one.learnings, understood).map(
      ({ kind, note }) => `${kind}: ${note}`,
    )
  }

  test.each<[string, Partial<CountedPost>, string]>([
    ['numbers', { text: '40 % of delays.' }, 'Posts with numbers'],
    ['questions', { text: 'Why?' }, 'Question posts'],
    ['lists', { text: 'So:\n- One\n- Two' }, 'List posts'],
    ['length', { text: 'x'.repeat(300) }, 'Long posts'],
    ['formats', { format: 'story-with-proof' }, 'Story with proof posts'],
    ['hooks', { hook: 'then-now' }, 'Posts that open with then now'],
    ['products', { text: 'We use Dockside.' }, 'Posts about Dockside'],
  ])('comes from %s, up and down', (_, changes, label) => {
    const products = ['Dockside']
    expect(
      notes(
        two(() => changes),
        { products },
      ),
    ).toEqual([`worked: ${label} get more engagement`])
    expect(
      notes(
        two(() => changes, 0.5),
        { products },
      ),
    ).toEqual([`flopped: ${label} get less engagement`])
  })

  test.each<[string, Partial<CountedPost>]>([
    ['the day of the week', { posted_at: at(3 * 86_400_000) }],
    ['a link', { text: 'See https://example.com' }],
    ['an emoji', { text: 'Every delay starts 🎉' }],
    ['another learning', { learnings: ['learning-1'] }],
  ])('does not come from %s, which is a finding all the same', (_, changes) => {
    const posts = two(() => changes)
    expect(notes(posts)).toEqual([])
    expect(findingsOf(brief(posts)).worked).toHaveLength(1)
  })

  test('does not come from a finding that drafting would not understand', () => {
    expect(
      notes(
        two(() => ({ hook: 'own-phrase' })),
        {},
        () => false,
      ),
    ).toEqual([])
  })

  test('is added unless it is active already or there is no room', () => {
    const found = ['A', 'B', 'C'].map((note) => ({ kind: 'worked' as const, note, evidence: [] }))
    const active = [
      { kind: 'worked' as const, note: ' a ' },
      { kind: 'flopped' as const, note: 'B' },
    ]
    expect(admitLearnings(found, { active, most: 3 })).toEqual({
      added: [found[1]!],
      refused: [
        { kind: 'worked', note: 'A', reason: 'active_already' },
        { kind: 'worked', note: 'C', reason: 'too_many_active' },
      ],
    })
  })
})

describe('posts whose network counts no impressions', () => {
  const uncounted = (posts: CountedPost[]): CountedPost[] =>
    posts.map((one) => ({ ...one, metrics: { ...one.metrics, impressions: null, clicks: null } }))

  test('are compared by reactions per post, and the wording and the learning say so', () => {
    const one = brief(uncounted(two(() => ({ text: 'Why?' }), 0.5)))
    const findings = findingsOf(one)
    expect(findings.flopped.map(({ wording }) => wording)).toEqual([
      expect.stringMatching(
        /^Question posts had 20\.5, other posts 42\.0 reactions per post, since the network counts no impressions \(12 and 12 posts\): with 95% confidence/,
      ),
    ])
    expect(findings.sample).toMatchObject({
      impressions: null,
      reactions: 750,
      note: 'Compared by reactions per post, since the network counts no impressions.',
    })
    expect(findings.best[0]).toMatchObject({
      impressions: null,
      engagement_rate: null,
      reactions: 53,
    })
    expect(learningsFrom(findings, one.learnings, () => true)).toMatchObject([
      { kind: 'flopped', note: 'Question posts get fewer reactions' },
    ])
  })

  test('are not summed or ranked with the others', () => {
    const counted = Array.from({ length: 5 }, (_, index) => post({ item_id: `c${index}` }))
    const apart = uncounted([post({ item_id: 'a', likes: 9_000 })])
    const { sample, best, worst } = findingsOf(brief([...apart, ...counted]))
    expect(sample).toMatchObject({ items: 6, impressions: 5_000, reactions: 150 })
    expect(sample.note).toStartWith('1 of 6 posts are compared by reactions per post')
    expect([...best, ...worst].map(({ item_id }) => item_id)).not.toContain('a')
    const most = findingsOf(brief([...counted.slice(0, 1), ...apart, ...apart]))
    expect(most.sample).toMatchObject({ items: 3, impressions: null, reactions: 18_000 })
    expect(most.best.map(({ item_id }) => item_id)).toEqual(['a'])
  })

  test('leave no note where there are none', () => {
    expect(findingsOf(brief([post()])).sample).not.toContainKey('note')
  })
})

describe('best and worst', () => {
  const ranks = (count: number) => {
    const { best, worst } = findingsOf(
      brief(
        Array.from({ length: count }, (_, index) => post({ item_id: `${index}`, likes: index })),
      ),
    )
    return [best, worst].map((all) => all.map(({ item_id }) => item_id))
  }

  test.each<[number, string[], string[]]>([
    [0, [], []],
    [1, ['0'], []],
    [2, ['1'], ['0']],
    [5, ['4', '3'], ['0', '1']],
    [9, ['8', '7', '6'], ['0', '1', '2']],
  ])('of %p posts do not overlap', (count, best, worst) => {
    expect(ranks(count)).toEqual([best, worst])
  })

  test('leave out posts without impressions', () => {
    expect(findingsOf(brief([post({ impressions: 0, likes: 0 })]))).toMatchObject({
      best: [],
      worst: [],
      sample: { items: 1 },
    })
  })
})
