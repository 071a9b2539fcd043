import { describe, expect, test } from 'bun:test'
import { Type as T, type TSchema } from '@sinclair/typebox'
import fc from 'fast-check'
import { NOT_BLANK, nullable, ONE_LINE, oneOf, Time } from '#contract/shapes'
import { AppError } from '#kernel/errors'
import { validate } from '#ops/engine/validate'

const closed = { additionalProperties: false }
const schema = T.Object(
  {
    name: T.String({ minLength: 1, maxLength: 10 }),
    kind: T.Optional(oneOf(['reply', 'quote'])),
    at: T.Optional(Time),
    limits: T.Optional(
      T.Object(
        {
          daily: T.Optional(T.Integer({ minimum: 1 })),
          tags: T.Optional(T.Array(T.String(), { maxItems: 3 })),
        },
        closed,
      ),
    ),
    metadata: T.Optional(T.Record(T.String(), T.Unknown())),
  },
  closed,
)

/** The error that `validate` throws, or undefined when it accepts. */
const refusal = (input: unknown, of: TSchema = schema): AppError | undefined => {
  try {
    validate(of, input)
    return undefined
  } catch (cause) {
    expect(cause).toBeInstanceOf(AppError)
    return cause as AppError
  }
}

const detailsOf = (input: unknown) =>
  refusal(input)?.details?.map(({ path, message }) => `${path} ${message}`)

test('valid input passes', () => {
  const inputs = [
    { name: 'a' },
    { name: '🌱', kind: 'quote', at: '2026-02-28T10:00:00+01:00', limits: { daily: 1, tags: [] } },
    { name: 'a', metadata: { any: ['thing', { at: null }], 'key with / and ~': 1, 'a.b': 2 } },
  ]
  for (const input of inputs) expect(refusal(input)).toBeUndefined()
})

test.each([
  [{}, 'name is required'],
  [{ name: 'a', kind: 'like' }, 'kind must be one of reply, quote'],
  [{ name: 'a', limits: { daily: 0 } }, 'limits.daily must be at least 1'],
  [{ name: 'a', limits: { tags: ['x', 7] } }, 'limits.tags.1 must be text'],
  [
    { name: 'a', limits: { dayly: 1 } },
    'limits.dayly is not a known field; did you mean daily? The fields are daily, tags',
  ],
  [
    { name: 'a', metadate: {} },
    'metadate is not a known field; did you mean metadata? The fields are name, kind, at, limits, metadata',
  ],
  [
    { name: 'a', 'limits/daily': 1 },
    'limits/daily is not a known field. The fields are name, kind, at, limits, metadata',
  ],
  [
    { name: 'a', quite_another_thing: 1 },
    'quite_another_thing is not a known field. The fields are name, kind, at, limits, metadata',
  ],
  [{ name: 'a', x: 1 }, 'x is not a known field. The fields are name, kind, at, limits, metadata'],
])('%j: %s', (input, message) => {
  expect(detailsOf(input)).toEqual([message])
  expect(refusal(input)).toMatchObject({ code: 'invalid_input', message })
})

test.each([
  [T.String({ pattern: NOT_BLANK }), ' ', 'it must not be blank'],
  [T.String({ pattern: ONE_LINE }), 'a\nb', 'it must be one line, and not blank'],
  [T.String({ pattern: '^\\d{4}$', examples: ['2026'] }), 'x', 'it must look like 2026'],
  [
    nullable(T.String({ format: 'time-zone' })),
    'Mars/Base',
    'it must be an IANA time zone, such as Europe/Berlin, or null',
  ],
  [nullable(T.Integer()), 'x', 'it must be a whole number, or null'],
])('a rule that is unreadable to people is put into words: %#', (of, it, message) => {
  expect(refusal({ it }, T.Object({ it: of }))?.message).toBe(message)
})

test.each([[null], [undefined], [7], ['text'], [[]]])('%p is not an input', (input) => {
  expect(refusal(input)).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('the body'),
  })
})

test.each([
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00',
  'now',
])('%s is not a time', (at) => {
  expect(refusal({ name: 'a', at })?.details?.map(({ path }) => path)).toEqual(['at'])
})

test('every wrong field is named once, twenty at most', () => {
  expect(
    detailsOf({ name: 7, kind: 1, limits: { daily: 'x', other: 1 } })
      ?.map((text) => text.split(' ')[0])
      .sort(),
  ).toEqual(['kind', 'limits.daily', 'limits.other', 'name'])
  const many = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`unknown_${index}`, 1]),
  )
  expect(detailsOf({ name: 'a', ...many })).toHaveLength(20)
})

test('a misspelt field is answered with the right one', () => {
  const fields = ['kind', 'limits', 'metadata'] as const
  fc.assert(
    fc.property(
      fc.constantFrom(...fields),
      fc.nat(),
      fc.constantFrom('', 'q', 'Z'),
      (field, at, slip) => {
        const place = at % field.length
        const wrong = field.slice(0, place) + slip + field.slice(place + 1)
        expect(detailsOf({ name: 'a', [wrong]: 1 })).toEqual([
          `${wrong} is not a known field; did you mean ${field}? The fields are name, kind, at, limits, metadata`,
        ])
      },
    ),
  )
})

describe('text that cannot be stored is refused everywhere', () => {
  const bad = fc.oneof(
    fc.constantFrom('\0', 'a\0', '\ud800', '\udc00', 'a\ud800b', '\udc00\ud800', '😀\ud83d'),
    fc.string({ unit: 'grapheme' }).map((text) => `${text}\0${text}`),
  )

  test('as a value, with the name of its field', () => {
    fc.assert(
      fc.property(bad, (text) => {
        const kind = text.includes('\0')
          ? 'contains a NUL character'
          : 'contains an unpaired surrogate'
        expect(detailsOf({ name: text })).toEqual([`name ${kind}`])
        expect(detailsOf({ name: 'a', metadata: { list: [1, { deep: text }] } })).toEqual([
          `metadata.list.1.deep ${kind}`,
        ])
      }),
    )
  })

  test('as a key', () => {
    fc.assert(
      fc.property(bad, (text) =>
        expect(refusal({ name: 'a', metadata: { [text]: 1 } })?.code).toBe('invalid_input'),
      ),
    )
  })

  test('while all other text passes', () => {
    const good = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'))
    fc.assert(
      fc.property(good, good, (key, value) =>
        expect(refusal({ name: 'a', metadata: { [key]: value } })).toBeUndefined(),
      ),
    )
  })
})

describe('abusive input is refused like any other', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

  test('nesting of any depth', () => {
    expect(refusal({ name: 'a', metadata: { deep: nested(99) } })).toBeUndefined()
    for (const depth of [101, 1_000, 200_000])
      expect(refusal({ name: 'a', metadata: { deep: nested(depth) } })).toMatchObject({
        message: expect.stringMatching(/ is nested deeper than 100 levels$/),
      })
  })

  test('a name of any length, which is not echoed whole', () => {
    for (const input of [
      { name: 'a', ['x'.repeat(500_000)]: 1 },
      { name: 'a', metadata: { ['x'.repeat(500_000)]: '\0' } },
    ]) {
      const error = refusal(input)
      expect(error?.code).toBe('invalid_input')
      expect(JSON.stringify([error?.message, error?.details]).length).toBeLessThan(1_000)
    }
  })
})

test('property names that every object has are fields like any other', () => {
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
    const input = JSON.parse(`{"name":"a","${name}":{"x":1}}`)
    expect(detailsOf(input)?.[0]).toStartWith(`${name} is not a known field`)
  }
})

test('input is never changed', () => {
  const input = Object.freeze({
    name: 'a',
    limits: Object.freeze({ daily: 1, tags: Object.freeze(['x']) as unknown as string[] }),
  })
  expect(refusal(input)).toBeUndefined()
  expect(input).toEqual({ name: 'a', limits: { daily: 1, tags: ['x'] } })
})
