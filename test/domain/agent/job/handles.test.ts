import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { HandleBook } from '#domain/agent/job/handles'
import { runs } from '#test/support/property'

const [A, B] = ['01234567-89ab-4cde-8f01-23456789abcd', 'ffffffff-0000-4000-8000-00000000000f']

test('records are named after the field that shows them', () => {
  const book = new HandleBook({})
  expect(
    book.shorten({ items: [{ id: A, batch_id: B }], replies: [{ id: B }], text: A.slice(0, 8) }),
  ).toEqual({
    items: [{ id: 'item:1', batch_id: 'batch:1' }],
    replies: [{ id: 'batch:1' }],
    text: A.slice(0, 8),
  })
  expect(book.added).toEqual({ 'item:1': A, 'batch:1': B })
})

test('a handle is never given to another record', () => {
  const book = new HandleBook({ 'item:7': A })
  expect(book.shorten({ items: [{ id: B }, { id: A.toUpperCase() }] })).toEqual({
    items: [{ id: 'item:8' }, { id: 'item:7' }],
  })
})

test('handles stand for the records that they name, at any depth', () => {
  const book = new HandleBook({ 'item:1': A })
  expect(
    book.resolve({ id: 'item:1', posts: [{ item_id: 'item:1' }], ids: ['item:1'] }, ''),
  ).toEqual({
    id: A,
    posts: [{ item_id: A }],
    ids: [A],
  })
})

test('a handle or an id that the conversation has not shown names nothing', () => {
  const book = new HandleBook({ 'item:1': A })
  for (const id of ['item:2', 'batch:1', B, B.toUpperCase()])
    expect(() => book.resolve({ id }, '')).toThrow('no such record in this conversation')
  expect(book.resolve({ id: B }, `post ${B.toUpperCase()} now`)).toEqual({ id: B })
  expect(book.resolve({ id: A }, '')).toEqual({ id: A })
})

test('whatever was shown can be named again, and nothing else', () => {
  const ids = fc.array(fc.uuid(), { minLength: 1, maxLength: 8 })
  const check = fc.property(
    ids,
    fc.constantFrom('items', 'batches', 'replies', 'record_ids'),
    fc.uuid(),
    (shown, field, other) => {
      const book = new HandleBook({})
      const text = book.shorten({ [field]: shown })
      expect(JSON.stringify(text)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
      expect(new HandleBook(book.added).resolve(text, '')).toEqual({
        [field]: shown.map((id) => id.toLowerCase()),
      })
      fc.pre(!shown.includes(other))
      expect(() => book.resolve({ id: other }, '')).toThrow()
    },
  )
  fc.assert(check, runs(300))
})
