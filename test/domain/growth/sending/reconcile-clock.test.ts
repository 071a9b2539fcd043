import { describe, expect, test } from 'bun:test'
import { findPost, readSince } from '#domain/growth/sending/reconcile'
import { at, attemptWith, HOUR } from '#test/domain/records'

const postAt = (createdAt: Date) => ({
  externalId: 'post-1',
  text: 'Ship it.',
  original: 'Ship it.',
  truncated: false,
  createdAt,
  url: null,
})

describe('when the clock has stepped back between the claim and the doubt', () => {
  const attempt = attemptWith({ intent_at: at(HOUR), doubt_at: at(10_000) })

  test('a post that the network received since is found', () => {
    const post = postAt(at(1_000))
    expect(readSince(attempt).getTime()).toBeLessThanOrEqual(at().getTime())
    expect(
      findPost({ attempt, text: 'Ship it.' }, [post], { others: [], taken: new Set() }),
    ).toEqual(post)
  })

  test('an older one with the same text is still not taken for it', () => {
    const post = postAt(at(-60_000))
    expect(
      findPost({ attempt, text: 'Ship it.' }, [post], { others: [], taken: new Set() }),
    ).toBeUndefined()
  })
})
