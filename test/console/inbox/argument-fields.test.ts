/** Forms made of the JSON Schema of a tool's arguments. */
import { expect, test } from 'bun:test'
import {
  argumentFields,
  argumentLabel,
  argumentsIn,
  argumentsOfJson,
  typedArgument,
} from '#src/console/inbox/call/argument-fields'

const schema = {
  type: 'object',
  required: ['id', 'kind'],
  properties: {
    id: { type: 'string', maxLength: 36, description: 'Of the item.' },
    kind: { type: 'string', enum: ['worked', 'failed'] },
    note: { type: 'string', maxLength: 2_000 },
    count: { type: ['integer', 'null'] },
    share: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string' } },
    pinned: { type: 'boolean' },
    filter: { type: 'object' },
  },
}
const given = { id: 'a', kind: 'worked', tags: ['x', 'y'], filter: { a: [1] }, beyond: 7 }
const fields = argumentFields(schema, given)

test('each argument gets the field that fits its schema, and one that the schema lacks stays', () => {
  expect(fields.map(({ name, kind, isNeeded }) => [name, kind, isNeeded])).toEqual([
    ['id', 'text', true],
    ['kind', 'choice', true],
    ['note', 'long text', false],
    ['count', 'whole number', false],
    ['share', 'number', false],
    ['tags', 'lines', false],
    ['pinned', 'choice', false],
    ['filter', 'json', false],
    ['beyond', 'json', false],
  ])
  expect(
    fields.map((field) => typedArgument(field, (given as Record<string, unknown>)[field.name])),
  ).toEqual(['a', 'worked', '', '', '', 'x\ny', '', '{\n  "a": [\n    1\n  ]\n}', '7'])
})

test('a value that its field cannot hold is edited as what it is', () => {
  const strange = { note: ['not', 'text'], tags: ['two\nlines'], kind: 'neither', id: 'a\nb' }
  expect(
    argumentFields(schema, strange).flatMap(({ name, kind }) =>
      name in strange ? [[name, kind]] : [],
    ),
  ).toEqual([
    ['id', 'long text'],
    ['kind', 'long text'],
    ['note', 'json'],
    ['tags', 'json'],
  ])
})

test('what was not touched stays byte for byte, and what is emptied is left out', () => {
  const all = { ...given, note: 'a\r\nb' }
  expect(argumentsIn(argumentFields(schema, all), {}, all)).toEqual({ arguments: all, flaws: {} })
  const typed = { note: 'New', count: '3', tags: 'x\n\nz', pinned: 'false', filter: '' }
  expect(argumentsIn(fields, typed, given)).toEqual({
    arguments: {
      id: 'a',
      kind: 'worked',
      note: 'New',
      count: 3,
      tags: ['x', 'z'],
      pinned: false,
      beyond: 7,
    },
    flaws: {},
  })
})

test('what cannot be meant is named by its field', () => {
  const typed = { id: '', count: '1.5', share: 'much', filter: '{' }
  expect(argumentsIn(fields, typed, given).flaws).toEqual({
    id: 'is needed',
    count: 'must be a whole number',
    share: 'must be a number',
    filter: 'must be JSON',
  })
  for (const text of ['[]', 'null', '{', '1'])
    expect(Object.keys(argumentsOfJson(text).flaws)).toEqual([''])
  expect(argumentsOfJson('{"a": 1}')).toEqual({ arguments: { a: 1 }, flaws: {} })
})

test('a schema that is none gives fields of JSON', () => {
  for (const parameters of [{}, { properties: null }, { properties: { a: 3 }, required: 'a' }])
    expect(
      argumentFields(parameters, { a: { b: 1 } }).map(({ name, kind }) => [name, kind]),
    ).toEqual([['a', 'json']])
})

test.each([
  ['post_at', 'Post at'],
  ['editedBody', 'Edited body'],
  ['', ''],
])('%p is labelled %p', (name, label) => {
  expect(argumentLabel(name)).toBe(label)
})
