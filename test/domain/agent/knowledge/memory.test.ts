/** What becomes of a text that is to be remembered, over what its scope holds already. */
import { describe, expect, test } from 'bun:test'
import {
  type Memory,
  memoryHash,
  memoryLimits,
  memoryOwner,
  remember,
  type Stored,
} from '#domain/agent/knowledge/memory'
import { AppError } from '#kernel/errors'

const [before, now] = [new Date('2026-11-20T08:00:00Z'), new Date('2026-11-22T08:00:00Z')]
const stored: Memory = {
  id: 'old',
  scope: 'workspace',
  person_id: null,
  text: 'Launch posts mention the price',
  text_hash: 'h',
  untrusted: false,
  job_id: null,
  last_used_at: null,
  created_at: before,
  updated_at: before,
}
const told = {
  id: 'new',
  scope: 'workspace',
  person_id: null,
  text: '  Launch  posts mention\nthe price ',
  job_id: 'job',
} as const

const cases = [true, false].flatMap((isEqual) =>
  [true, false].flatMap((wasUntrusted) =>
    [true, false].flatMap((isUntrusted) =>
      [0, memoryLimits.all - 1, memoryLimits.all].map((count) => ({
        isEqual,
        wasUntrusted,
        isUntrusted,
        count,
      })),
    ),
  ),
)

describe.each(cases)(
  'equal: $isEqual, untrusted before: $wasUntrusted, now: $isUntrusted, of $count',
  (one) => {
    const { isEqual, wasUntrusted, isUntrusted, count } = one
    const holds: Stored = {
      equal: isEqual ? { ...stored, untrusted: wasUntrusted } : undefined,
      count,
      oldest: count > 0 ? 'oldest' : null,
    }
    const { memory, isNew, removed } = remember(holds, { ...told, untrusted: isUntrusted, now })

    test('equal text is one memory, which counts as used', () => {
      expect(isNew).toBe(!isEqual)
      expect([memory.id, memory.last_used_at]).toEqual(isEqual ? ['old', now] : ['new', null])
    })

    test('a full scope loses the one unused for longest, and only to a new one', () => {
      expect(removed).toBe(!isEqual && count === memoryLimits.all ? 'oldest' : null)
    })

    test('its mark is that of the job that stored it first, for ever', () => {
      expect(memory.untrusted).toBe(isEqual ? wasUntrusted : isUntrusted)
    })
  },
)

test('spaces make no difference, and the text is kept on one line', () => {
  expect(memoryHash(told.text)).toBe(memoryHash('Launch posts mention the price'))
  expect(memoryHash('launch posts mention the price')).not.toBe(
    memoryHash('Launch posts mention the price'),
  )
  expect(
    remember({ equal: undefined, count: 0, oldest: null }, { ...told, untrusted: false, now })
      .memory.text,
  ).toBe(stored.text)
})

test('without a scope a memory is that of the person, or of the workspace if there is none', () => {
  expect(memoryOwner(undefined, 'ada')).toEqual({ scope: 'user', person_id: 'ada' })
  expect(memoryOwner('user', 'ada')).toEqual({ scope: 'user', person_id: 'ada' })
  expect(memoryOwner('workspace', 'ada')).toEqual({ scope: 'workspace', person_id: null })
  expect(memoryOwner(undefined, null)).toEqual({ scope: 'workspace', person_id: null })
  expect(() => memoryOwner('user', null)).toThrow(
    new AppError('invalid_input', 'scope must be workspace: this key belongs to no person'),
  )
})
