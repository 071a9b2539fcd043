/** Schemas of foreign tools as models take them. */
import { describe, expect, test } from 'bun:test'
import { parametersOf } from '#domain/agent/mcp/foreign-schema'

const of = (property: unknown, more: Record<string, unknown> = {}) =>
  parametersOf({ type: 'object', properties: { a: property }, ...more })
const partOf = (property: unknown, more: Record<string, unknown> = {}) => {
  const mapped = of(property, more)
  if ('unusable' in mapped) throw new Error(mapped.unusable)
  return (mapped.parameters.properties as Record<string, unknown>).a
}

describe('a schema', () => {
  test('keeps what all models take', () => {
    const kept = {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'A text.', minLength: 1 },
        kind: { type: ['string', 'null'], enum: ['a', null], default: 'a' },
        list: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 5 },
        deep: {
          type: 'object',
          properties: { x: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
          required: ['x'],
        },
      },
      required: ['text'],
      additionalProperties: false,
    }
    expect(parametersOf(kept)).toEqual({ parameters: kept })
  })

  test('without properties takes none', () => {
    expect(parametersOf({})).toEqual({ parameters: { type: 'object', properties: {} } })
  })

  test('loses what some model refuses', () => {
    expect(
      parametersOf({
        $schema: 'x',
        type: 'object',
        oneOf: [{ required: ['a'] }],
        if: {},
        not: {},
        properties: [],
      }),
    ).toEqual({
      parameters: { type: 'object', properties: {} },
    })
    expect(
      partOf({
        type: 'string',
        pattern: '(a+)+$',
        'x-mine': 1,
        enum: [],
        default: {},
        minimum: '3',
        format: 'a b',
      }),
    ).toEqual({
      type: 'string',
    })
    expect(partOf({ type: 'file' })).toEqual({})
    expect(partOf(true)).toEqual({})
    expect(partOf({ type: 'array' })).toEqual({ type: 'array', items: {} })
    expect(partOf({ type: 'array', items: [{ type: 'string' }] })).toEqual({
      type: 'array',
      items: {},
    })
    expect(partOf({ const: 'x' })).toEqual({ enum: ['x'] })
  })

  test('says in words what form a text has', () => {
    expect(partOf({ type: 'string', format: 'email', description: 'Of the reader.' })).toEqual({
      type: 'string',
      description: 'Of the reader. (email)',
    })
    expect(partOf({ type: 'string', format: 'date-time' })).toEqual({
      type: 'string',
      description: '(date-time)',
    })
  })

  test('shows no words that people do not see', () => {
    expect(
      partOf({ type: 'string', description: 'A\u202e text.\u{e0041}', enum: ['a', 'b\u200b'] }),
    ).toEqual({
      type: 'string',
      description: 'A text.',
    })
  })

  test('has its references written out', () => {
    const $defs = { one: { type: 'string', description: 'One.' }, 'a/b': { $ref: '#/$defs/one' } }
    expect(partOf({ $ref: '#/$defs/one', description: 'Mine.' }, { $defs })).toEqual({
      type: 'string',
      description: 'Mine.',
    })
    expect(partOf({ $ref: '#/$defs/a~1b' }, { $defs })).toEqual({
      type: 'string',
      description: 'One.',
    })
    expect(
      parametersOf({
        $ref: '#/$defs/all',
        $defs: { all: { type: 'object', properties: { a: { type: 'null' } } } },
      }),
    ).toEqual({
      parameters: { type: 'object', properties: { a: { type: 'null' } } },
    })
  })

  test('that holds itself goes no further', () => {
    const $defs = { tree: { type: 'object', properties: { next: { $ref: '#/$defs/tree' } } } }
    expect(partOf({ $ref: '#/$defs/tree' }, { $defs })).toEqual({
      type: 'object',
      properties: { next: {} },
    })
  })

  test('may name a property as objects name their own', () => {
    const mapped = parametersOf(
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"null"}}}',
      ),
    )
    expect(JSON.stringify(mapped)).toContain('"__proto__":{"type":"string"}')
    expect(({} as { type?: unknown }).type).toBeUndefined()
  })

  const bomb = Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [
      `d${n}`,
      {
        type: 'object',
        properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } },
      },
    ]),
  )
  const deep = Array.from({ length: 12 }).reduce<unknown>(
    (inside) => ({ type: 'array', items: inside }),
    {},
  )
  test.each([
    ['no object', null, 'it has no schema'],
    ['a list', [], 'it has no schema'],
    ['other arguments', { type: 'array' }, 'its arguments are no object'],
    ['several types', { type: ['object', 'null'] }, 'its arguments are no object'],
    [
      'a required name that no model takes',
      { type: 'object', required: ['a b'] },
      'it requires an argument whose name no model takes',
    ],
    [
      'a reference elsewhere',
      { properties: { a: { $ref: 'https://example.com/s.json' } } },
      'its schema refers to another document',
    ],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/$defs/none' } } },
      'its schema refers to a part that it does not have',
    ],
    [
      'a reference to what all objects have',
      { properties: { a: { $ref: '#/constructor' } } },
      'its schema refers to a part that it does not have',
    ],
    ['a reference to itself', { $ref: '#' }, 'its schema refers to nothing'],
    [
      'doubling references',
      { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...bomb, d9: {} } },
      /more than (500 parts|10 levels)/,
    ],
    ['many levels', { properties: { a: deep } }, 'its schema has more than 10 levels'],
    [
      'many parts',
      { properties: Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`p${n}`, {}])) },
      'its schema has more than 500 parts',
    ],
    [
      'many words',
      {
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`p${n}`, { description: 'x'.repeat(1_000) }]),
        ),
      },
      'its schema has more than 16000 characters',
    ],
  ])('with %s cannot be used', (_, schema, reason) => {
    const mapped = parametersOf(schema)
    expect('unusable' in mapped ? mapped.unusable : '').toMatch(reason)
  })

  test('loses an optional argument whose name no model takes', () => {
    expect(parametersOf({ properties: { 'a b': {}, c: {} } })).toEqual({
      parameters: { type: 'object', properties: { c: {} } },
    })
  })
})
