/** Arguments and inputs express the same things. */
import { describe, expect, test } from 'bun:test'
import { Type as T, type TProperties } from '@sinclair/typebox'
import fc from 'fast-check'
import { argvOf, inputFromArguments } from '#cli/argv'
import { operations } from '#contract/index'
import { type NamedOp, op } from '#contract/op'
import { nullable, oneOf } from '#contract/shapes'
import { legalInputs } from '#test/support/contract/arbitrary'
import { runs } from '#test/support/property'

const operationWith = (input: TProperties): NamedOp => ({
  id: 'test.things.make',
  ...op.command('POST /api/v1/things/:id', 'Make.', {
    input: { id: T.String({ minLength: 1 }), ...input },
    output: T.Object({}),
  }),
})

/** Every kind of field that a contract could have. */
const everything = operationWith({
  text: T.Optional(T.String()),
  handle: T.Optional(T.String({ maxLength: 50 })),
  password: T.Optional(T.String({ maxLength: 50 })),
  maybe: T.Optional(nullable(T.String())),
  count: T.Optional(T.Integer({ minimum: -5, maximum: 9 })),
  share: T.Optional(T.Number()),
  loud: T.Optional(T.Boolean()),
  unsure: T.Optional(nullable(T.Boolean())),
  mood: T.Optional(nullable(oneOf(['calm', 'wild']))),
  tags: T.Optional(T.Array(T.String())),
  names: T.Optional(T.Array(T.String(), { minItems: 1 })),
  scores: T.Optional(T.Array(T.Integer())),
  switches: T.Optional(T.Array(T.Boolean())),
  steps: T.Optional(T.Array(T.Object({ name: T.String(), at: T.Optional(T.Integer()) }))),
  list_or_none: T.Optional(nullable(T.Array(T.String()))),
  free: T.Optional(T.Record(T.String(), T.Unknown())),
  anything: T.Optional(T.Unknown()),
  either: T.Optional(T.Union([T.String(), T.Integer()])),
  deep: T.Optional(
    T.Object({
      text: T.Optional(T.String()),
      more: T.Optional(T.Object({ flags: T.Optional(T.Array(T.String())) })),
    }),
  ),
  maybe_deep: T.Optional(nullable(T.Object({ on: T.Optional(T.Boolean()) }))),
  json: T.Optional(T.String()),
  no_reply: T.Optional(T.Boolean()),
  camelCase: T.Optional(T.Integer()),
})

/**
 * The more fields, the more inputs there are: one without fields has but one. What differs between
 * kinds of fields is in `everything`, which is tried far more often.
 */
const runsFor = ({ input }: NamedOp) => Math.min(30, 1 + 3 * Object.keys(input.properties).length)

test.each([...operations, everything].map((o) => [o.id, o] as const))(
  '%s: arguments can express every valid input',
  async (_, o) => {
    const property = fc.asyncProperty(legalInputs(o), async (input) => {
      expect(await inputFromArguments(o, argvOf(o, input))).toEqual(input)
    })
    await fc.assert(property, runs(o === everything ? 500 : runsFor(o)))
  },
)

const id = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'
const say = (...argv: string[]) => inputFromArguments(everything, ['x', ...argv])

describe('an option', () => {
  const cases: [string, string[], Record<string, unknown>][] = [
    [
      'takes a value that begins with a dash',
      ['--text', '--json', '--handle', '-'],
      { text: '--json', handle: '-' },
    ],
    [
      'takes line breaks and other scripts',
      ['--text', 'a\n\nb 漢 👩‍🚀'],
      { text: 'a\n\nb 漢 👩‍🚀' },
    ],
    ['takes an empty text', ['--text', '', '--handle='], { text: '', handle: '' }],
    [
      'takes text that begins with @, which otherwise means a file',
      ['--text', '@@ada, thanks'],
      { text: '@ada, thanks' },
    ],
    [
      'takes a secret that begins with @ in the same way',
      ['--password', '@@da'],
      { password: '@da' },
    ],
    ['takes a handle as it is', ['--handle', '@ada'], { handle: '@ada' }],
    ['is repeated for a list', ['--tags', 'a', '--tags', '-b'], { tags: ['a', '-b'] }],
    ['can make a list empty', ['--no-tags'], { tags: [] }],
    [
      'can be null',
      ['--no-maybe', '--no-mood', '--no-list-or-none'],
      { maybe: null, mood: null, list_or_none: null },
    ],
    [
      'can be true or false',
      ['--loud', '--no-unsure', '--input-no-reply'],
      { loud: true, unsure: false, no_reply: true },
    ],
    [
      'overrides earlier ones',
      ['--loud', '--no-loud', '--no-tags', '--tags', 'a'],
      { loud: false, tags: ['a'] },
    ],
    [
      'sets a field within an object',
      ['--deep.more.flags', 'x', '--deep.text', 'y'],
      { deep: { text: 'y', more: { flags: ['x'] } } },
    ],
    [
      'overrides --data, field by field',
      ['--data', '{"count":1,"deep":{"text":"a","more":{}}}', '--deep.text', 'b'],
      { count: 1, deep: { text: 'b', more: {} } },
    ],
    [
      'has a prefix if its name is taken',
      ['--input-json', 'x', '--camel-case', '3'],
      { json: 'x', camelCase: 3 },
    ],
  ]
  test.each(cases)('%s', async (_, argv, input) => {
    expect(await say(...argv)).toEqual({ id: 'x', ...input })
  })

  const wrong: [string, string[], string][] = [
    [
      'a fraction for a whole number',
      ['--count', '1.5'],
      '--count must be a whole number from -5 to 9, not 1.5',
    ],
    [
      'a number out of bounds',
      ['--count', '10'],
      '--count must be a whole number from -5 to 9, not 10',
    ],
    ['a word for a number', ['--count', 'x'], '--count must be a whole number from -5 to 9, not x'],
    ['an empty number', ['--share', ''], '--share must be a number, not empty'],
    ['an unknown word', ['--mood', 'mild'], '--mood must be one of calm, wild, not mild'],
    ['text that is not JSON', ['--free', '{'], '--free is not valid JSON: {'],
    ['data that is a list', ['--data', '[]'], '--data must be a JSON object'],
    [
      'an argument in the data',
      ['--data', '{"id":"y"}'],
      '--data cannot include id: pass it as the argument <id>',
    ],
    [
      'two options from one standard input',
      ['--text', '-', '--maybe', '-'],
      'only one option can read standard input',
    ],
    [
      'a file that does not exist',
      ['--text', '@nowhere.txt'],
      '--text: cannot read nowhere.txt: no such file',
    ],
  ]
  test.each(wrong)('refuses %s', async (_, argv, message) => {
    const read = (source: string) =>
      source === '-' ? Promise.resolve('read') : Promise.reject(new Error('no such file'))
    await expect(inputFromArguments(everything, ['x', ...argv], read)).rejects.toThrow(message)
  })
})

test('a list that must have entries has no option to empty it', async () => {
  await expect(say('--no-names')).rejects.toThrow("unknown option '--no-names'")
})

test('texts, JSON and complete inputs can come from files and from standard input', async () => {
  const files: Record<string, string> = {
    '-': '{"text":"of the data"}',
    'a.txt': 'one\ntwo',
    'b.json': '{"a":[1]}',
  }
  const read = (source: string) => Promise.resolve(files[source]!)
  expect(
    await inputFromArguments(
      everything,
      ['x', '--data', '-', '--maybe', '@a.txt', '--free', '@b.json', '--tags', '@a.txt'],
      read,
    ),
  ).toEqual({
    id: 'x',
    text: 'of the data',
    maybe: 'one\ntwo',
    free: { a: [1] },
    tags: ['one\ntwo'],
  })
})

test('JSON for a list can be one entry or several', async () => {
  const input = await inputFromArguments(everything, [
    'x',
    '--steps',
    '[{"name":"a"},{"name":"b"}]',
    '--steps',
    '{"name":"c"}',
  ])
  expect(input).toEqual({ id: 'x', steps: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] })
})

test('an argument can begin with a dash after --, and cannot be empty', async () => {
  expect(await inputFromArguments(everything, ['--loud', '--', '-x'])).toEqual({
    id: '-x',
    loud: true,
  })
  await expect(inputFromArguments(everything, [''])).rejects.toThrow('<id> is empty')
})

test('a missing field is reported by the name of its option', async () => {
  const schedule = operations.find((o) => o.id === 'growth.items.schedule')!
  await expect(inputFromArguments(schedule, [id])).rejects.toThrow('--post-at is missing')
  expect(
    await inputFromArguments(schedule, [id, '--data', '{"post_at":"2027-01-01T00:00:00Z"}']),
  ).toEqual({
    id,
    post_at: '2027-01-01T00:00:00Z',
  })
})
