import { describe, expect, test } from 'bun:test'
import { experimentMetrics } from '#contract/records/growth/experiment'
import { countNames, reactionNames } from '#contract/records/growth/item'
import {
  type CountedExperiment,
  conclude,
  divide,
  experimentView,
  isReady,
  type MeasuredItem,
  MOST_RUNNING,
  metricOn,
  newExperiment,
  READY_PER_ARM,
  requireRunning,
} from '#domain/growth/learning/experiment'
import { errorOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const wish = {
  name: ' Numbers first ',
  hypothesis: 'Numbers get replies ',
  metric: 'likes' as const,
  running: 0,
  now: at(),
}
const running: CountedExperiment = Object.freeze({
  ...newExperiment('experiment-1', wish),
  tally: [],
})
const verdict = { result: ' Supported ', items: [], now: at(1_000) }
const concluded: CountedExperiment = Object.freeze(conclude(running, verdict))
const tallied = (...measured: number[]): CountedExperiment => ({
  ...running,
  tally: running.arms.map(({ name }, index) => ({
    arm: name,
    items: 20,
    posted: 15,
    measured: measured[index]!,
  })),
})

describe('a new experiment', () => {
  test('compares its hypothesis with usual drafts unless arms are named', () => {
    expect(running).toMatchObject({
      name: 'Numbers first',
      hypothesis: 'Numbers get replies',
      status: 'running',
      result: null,
      comparison: null,
      arms: [
        { name: 'control', note: null },
        { name: 'variant', note: 'Numbers get replies' },
      ],
    })
    const arms = [
      { name: ' Short ', note: ' One line ' },
      { name: 'Long', note: ' ' },
    ]
    expect(newExperiment('e', { ...wish, arms }).arms).toEqual([
      { name: 'Short', note: 'One line' },
      { name: 'Long', note: null },
    ])
  })

  test('is refused with two arms of one name, or beside the greatest number of running ones', () => {
    const alike = errorOf(() =>
      newExperiment('e', { ...wish, arms: [{ name: 'A' }, { name: ' a' }] }),
    )
    expect([alike.code, alike.details?.[0]?.path]).toEqual(['invalid_input', 'arms'])
    const full = errorOf(() => newExperiment('e', { ...wish, running: MOST_RUNNING }))
    expect([full.code, full.message]).toEqual([
      'conflict',
      `cannot add: ${MOST_RUNNING} experiments are running; conclude one first`,
    ])
    expect(newExperiment('e', { ...wish, running: MOST_RUNNING - 1 }).status).toBe('running')
  })
})

/** State × trigger, each cell: the state that follows, or 409. */
const triggers = {
  conclude: (before: CountedExperiment) => conclude(before, verdict).status,
  draft: (before: CountedExperiment) => {
    requireRunning(before, 'draft')
    return before.status
  },
}
const table = [
  ['running', 'conclude', 'concluded'],
  ['running', 'draft', 'running'],
  ['concluded', 'conclude', '409'],
  ['concluded', 'draft', '409'],
] as const

test.each(table)('%s, %s: %s', (state, trigger, next) => {
  const before = { running, concluded }[state]
  if (next !== '409') return expect(triggers[trigger](before)).toBe(next)
  const { code, message } = errorOf(() => triggers[trigger](before))
  expect([code, message]).toEqual(['conflict', `cannot ${trigger}: the experiment is concluded`])
})

const none = { impressions: 0, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 }

describe('concluding', () => {
  test('keeps the given verdict, and adds what the numbers show for the metric', () => {
    const items: MeasuredItem[] = Array.from({ length: 2 * READY_PER_ARM }, (_, index) => ({
      ...none,
      id: `item-${index}`,
      arm: index % 2 === 0 ? 'control' : 'variant',
      likes: (index % 2) * 10 + (index % 3),
    }))
    const done = conclude(running, { ...verdict, items })
    expect(done).toMatchObject({
      result: 'Supported',
      status: 'concluded',
      concluded_at: at(1_000),
    })
    expect(done.comparison!.arms.map(({ n }) => n)).toEqual([READY_PER_ARM, READY_PER_ARM])
    expect(done.comparison!.against_control[0]).toMatchObject({ arm: 'variant', reading: 'higher' })
  })

  test('computes a rate only from posts with impressions', () => {
    const items = [{ ...none, id: 'unseen', arm: 'control' }]
    expect(
      conclude({ ...running, metric: 'engagement_rate' }, { ...verdict, items }).comparison!
        .arms[0]!.n,
    ).toBe(0)
  })
})

describe('the metric', () => {
  const bluesky = { name: 'bluesky', counts: reactionNames }
  const sandbox = { name: 'sandbox', counts: countNames }

  test('is the rate or, where nobody counts impressions, reactions per post', () => {
    expect([metricOn(sandbox, undefined), metricOn(bluesky, undefined)]).toEqual([
      'engagement_rate',
      'reactions',
    ])
  })

  test.each(experimentMetrics.map((name) => [name] as const))(
    '%s is refused by name where it is not counted',
    (name) => {
      expect(metricOn(sandbox, name)).toBe(name)
      const needs = { engagement_rate: 'impressions', impressions: 'impressions', clicks: 'clicks' }
      const missing = needs[name as keyof typeof needs]
      if (missing === undefined) expect(metricOn(bluesky, name)).toBe(name)
      else
        expect(errorOf(() => metricOn(bluesky, name))).toMatchObject({
          code: 'invalid_input',
          details: [
            {
              path: 'metric',
              message: `cannot be ${name}: bluesky counts no ${missing}. Choose one of likes, replies, reposts, reactions`,
            },
          ],
        })
    },
  )

  test('is compared among posts that are counted like most, and the others are named', () => {
    const items = (count: number, likes: number, impressions: number | null): MeasuredItem[] =>
      Array.from({ length: count }, (_, index) => ({
        ...none,
        id: `${likes}-${index}`,
        arm: index % 2 === 0 ? 'control' : 'variant',
        likes,
        impressions,
      }))
    const mixed = [...items(20, 5, null), ...items(6, 900, 1_000)]
    const reacted = conclude({ ...running, metric: 'reactions' }, { ...verdict, items: mixed })
    expect(reacted.comparison!.arms).toMatchObject([
      { n: 10, mean: 5 },
      { n: 10, mean: 5 },
    ])
    expect(reacted.comparison!.note).toStartWith('6 posts are left out')
    const rated = conclude({ ...running, metric: 'engagement_rate' }, { ...verdict, items: mixed })
    expect(rated.comparison!.arms.map(({ n }) => n)).toEqual([3, 3])
    expect(rated.comparison!.note).toStartWith('20 posts are left out')
    const alike = conclude(running, { ...verdict, items: items(4, 5, 100) })
    expect(alike.comparison).not.toContainKey('note')
  })
})

test('is ready once every arm has enough measured posts, but not after the conclusion', () => {
  expect([
    isReady(running),
    isReady(tallied(READY_PER_ARM, READY_PER_ARM - 1)),
    isReady(tallied(READY_PER_ARM, READY_PER_ARM)),
  ]).toEqual([false, false, true])
  expect(isReady({ ...tallied(READY_PER_ARM, READY_PER_ARM), status: 'concluded' })).toBeFalse()
  expect(experimentView(tallied(9, 8))).toMatchObject({
    ready_to_conclude: true,
    arms: [
      { name: 'control', items: 20, posted: 15, measured: 9 },
      { name: 'variant', measured: 8 },
    ],
  })
})

describe('items', () => {
  const arms = ['control', 'one', 'two'].map((name) => ({ name, note: null }))
  const counts = (tally: Record<string, number>, total: number, seed = 'seed') => {
    const had = Object.entries(tally).map(([arm, items]) => ({
      arm,
      items,
      posted: 0,
      measured: 0,
    }))
    return Object.fromEntries(
      divide({ arms, tally: had, seed }, total).map(({ arm, count }) => [arm.name, count]),
    )
  }

  test('are divided evenly, counting existing ones', () => {
    expect(counts({}, 6)).toEqual({ control: 2, one: 2, two: 2 })
    expect(counts({ control: 4, one: 1 }, 7)).toMatchObject({ one: 3, two: 4 })
    expect(counts({ control: 9 }, 3)).not.toHaveProperty('control')
    expect(Object.values(counts({}, 20)).sort()).toEqual([6, 7, 7])
  })

  test('are assigned by the seed where there is a choice, and no arm is always first', () => {
    const firsts = Array.from(
      { length: 60 },
      (_, seed) => divide({ arms, tally: [], seed: `${seed}` }, 1)[0]!.arm.name,
    )
    expect(new Set(firsts).size).toBe(3)
    expect(counts({}, 4, 'a')).toEqual(counts({}, 4, 'a'))
  })
})
