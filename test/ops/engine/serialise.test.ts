import { expect, test } from 'bun:test'
import { Type as T } from '@sinclair/typebox'
import { Time } from '#contract/shapes'
import { serialise } from '#ops/engine/serialise'

const at = new Date('2026-11-20T10:00:00.123Z')
const nullable = (schema: ReturnType<typeof T.Object>) => T.Union([schema, T.Null()])

test('a reply is the JSON that its dates, wherever they are, would give', () => {
  const inner = T.Object({ at: Time, note: T.String() })
  const output = T.Object({
    at: Time,
    ended: T.Union([Time, T.Null()]),
    maybe: T.Optional(Time),
    list: T.Array(inner),
    one: nullable(inner),
    either: T.Union([T.Object({ since: Time }), T.Object({ until: Time })]),
    free: T.Unknown(),
    text: T.String(),
  })
  const reply = {
    at,
    ended: null,
    list: [
      { at, note: 'a' },
      { at: at.toISOString(), note: 'b' },
    ],
    one: { at, note: 'c' },
    either: { until: at },
    free: { deep: [at] },
    text: 'plain',
  }
  const before = structuredClone(reply)
  expect(serialise({ id: 'test', output }, reply)).toBe(JSON.stringify(reply))
  expect(reply).toEqual(before)
  expect(serialise({ id: 'test', output }, { ...reply, one: null, maybe: at })).toBe(
    JSON.stringify({ ...reply, one: null, maybe: at }),
  )
})

test('a reply that does not match its contract is refused by name', () => {
  const output = T.Object({ at: Time })
  expect(() => serialise({ id: 'test.one', output }, { at: 'yesterday' })).toThrow(
    'the reply of test.one does not match its contract: /at',
  )
})
