import { describe, expect, test } from 'bun:test'
import {
  type Learning,
  MOST_ACTIVE_LEARNINGS,
  newLearning,
  retire,
} from '#domain/growth/learning/learning'
import { errorOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const learning: Learning = Object.freeze({
  id: 'learning-1',
  kind: 'worked',
  note: 'Numbers first',
  untrusted: false,
  status: 'active',
  audit_id: null,
  evidence: [],
  created_at: at(),
  updated_at: at(),
})

describe('a learning', () => {
  test('begins active, with its note trimmed', () => {
    expect(
      newLearning('learning-1', {
        kind: 'worked',
        note: '  Numbers first\n',
        active: 0,
        now: at(),
      }),
    ).toEqual(learning)
  })

  test('is refused once a brief holds no more active ones', () => {
    const add = (active: number) => () =>
      newLearning('l', { kind: 'flopped', note: 'x', active, now: at() })
    expect(add(MOST_ACTIVE_LEARNINGS - 1)().status).toBe('active')
    expect(errorOf(add(MOST_ACTIVE_LEARNINGS))).toMatchObject({
      code: 'conflict',
      message: `cannot add: ${MOST_ACTIVE_LEARNINGS} learnings are active; retire one first`,
    })
  })

  test('can be retired; the second time changes nothing', () => {
    const retired = retire(learning, at(1_000))
    expect(retired).toEqual({ ...learning, status: 'retired', updated_at: at(1_000) })
    expect(retire(retired, at(2_000))).toBe(retired)
  })
})
