import { expect, test } from 'bun:test'
import { textOf } from '#edge/mcp/text'

test('a record is told field by field, without what is empty', () => {
  const item = {
    id: 'a',
    body: 'two\nlines',
    url: null,
    stories: [],
    usage: { cost: 0 },
    dna: { use: [], more: { none: '' } },
    updated_at: 'x',
  }
  expect(textOf({ item })).toBe('item:\n  id: a\n  body:\n    two\n    lines\n  usage:\n    cost: 0')
})

test('a list is told with its length, and one line per short entry', () => {
  const items = [{ id: 'a', tags: ['x', 'y'], review: false }, { id: 'b' }]
  expect(textOf({ items, next_cursor: 'c' })).toBe(
    'items (2):\n  - id: a\n    tags (2):\n      - x\n      - y\n    review: false\n  - id: b\nnext_cursor: c',
  )
})

test('that a list is empty is said', () => {
  expect(textOf({ items: [], next_cursor: null })).toBe('items: none')
})

test('a text is whole in a record of its own, and cut in a list, where that is said', () => {
  const body = 'x'.repeat(20_000)
  expect(textOf({ item: { body } })).toContain(body)
  const told = textOf({ items: [{ body }] })
  expect(told.length).toBeLessThan(2_000)
  expect(told).toContain('(20000 characters in all)')
})

test('a list without end is cut, and how to read less is said', () => {
  const told = textOf({ items: Array.from({ length: 100 }, (_, id) => ({ id, body: 'y'.repeat(1_400) })) })
  expect(told.length).toBeLessThan(61_000)
  expect(told).toEndWith('This is cut: ask for fewer with a smaller limit.')
})
