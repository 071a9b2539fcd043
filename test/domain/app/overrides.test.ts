import { describe, expect, test } from 'bun:test'
import type { PlanOverrides, PlanState } from '#contract/limits'
import { overrideNames, withOverrides } from '#domain/app/overrides'
import { hasFeature, requireFeature } from '#domain/app/plan'
import { errorOf } from '../errors.ts'

describe('overrides as an operator writes them', () => {
  const changes: [string[], PlanOverrides, PlanOverrides][] = [
    [['posts=100'], {}, { posts: 100 }],
    [['posts=0', 'post_now=1'], { posts: 7, articles: 2 }, { posts: 0, articles: 2, post_now: 1 }],
    [['reads_payg=500000', 'reads_free=9'], {}, { reads_payg: 500_000, reads_free: 9 }],
    [['feature:rules=on', 'feature:audits=off'], {}, { features: { rules: true, audits: false } }],
    [
      ['feature:rules=off'],
      { features: { rules: true, audits: false } },
      { features: { rules: false, audits: false } },
    ],
    [
      ['posts=default', 'feature:rules=default'],
      { posts: 1, audits: 2, features: { rules: true } },
      { audits: 2 },
    ],
    [['posts=1', 'posts=2'], {}, { posts: 2 }],
    [
      ['requests=5', 'commands=1', 'credential_requests=2'],
      {},
      { requests: 5, commands: 1, credential_requests: 2 },
    ],
    [['posts=1000000000'], {}, { posts: 1_000_000_000 }],
    [[], { posts: 1 }, { posts: 1 }],
  ]

  test.each(changes)('%p', (entries, before, after) => {
    expect(withOverrides(before, entries)).toEqual(after)
  })

  test('every limit and feature can be overridden', () => {
    for (const name of overrideNames) {
      const value = name.startsWith('feature:') ? 'on' : '1'
      expect(Object.keys(withOverrides({}, [`${name}=${value}`]))).toHaveLength(1)
    }
  })

  test.each([
    ['postz=1', 'did you mean posts?'],
    ['create-batch=1', 'did you mean create_batch?'],
    ['rules=on', 'did you mean feature:rules?'],
    ['feature:rule=on', 'did you mean feature:rules?'],
    ['zzzzzzzzzzzz=1', 'there are posts, articles'],
    ['=1', 'no such limit'],
    ['posts', 'takes a whole number'],
    ['posts=', 'takes a whole number'],
    ['posts=-1', 'takes a whole number'],
    ['posts=1.5', 'takes a whole number'],
    ['posts=1e3', 'takes a whole number'],
    ['posts=1000000001', 'from 0 to 1000000000'],
    ['posts=on', 'takes a whole number'],
    ['requests=0', 'from 1 to 1000000000'],
    ['credential_commands=0', 'from 1 to 1000000000'],
    ['feature:rules=1', 'takes on, off or default'],
    ['__proto__=1', 'no such limit'],
  ])('%s is refused: %s', (entry, message) => {
    const error = errorOf(() => withOverrides({}, [entry]))
    expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining(message)])
  })
})

test('an override adds a feature to a plan or removes it, and leaves the others', () => {
  const state = (features: PlanOverrides['features']): PlanState => ({
    plan: 'free',
    billing: 'ok',
    overrides: features ? { features } : {},
  })
  expect([
    hasFeature(state(undefined), 'rules'),
    hasFeature(state({ rules: true }), 'rules'),
  ]).toEqual([false, true])
  expect([
    hasFeature(state({ rules: true }), 'articles'),
    hasFeature(state({ articles: false }), 'articles'),
  ]).toEqual([true, false])
  expect(errorOf(() => requireFeature(state({ articles: false }), 'articles')).message).toBe(
    'plan_feature_disabled:articles',
  )
})
