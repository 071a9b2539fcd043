/** Tags as people add and remove them. */
import { expect, test } from 'bun:test'
import { suggestedTags, withoutTag, withTag } from '#src/console/inbox/draft/tags'

test('a tag that differs from another by case or form alone is not added', () => {
  expect(withTag(['Docks'], 'docks ')).toEqual(['Docks'])
  expect(withTag(['caf\u00e9'], 'CAFE\u0301')).toEqual(['caf\u00e9'])
  expect(withTag(['Docks'], ' late ')).toEqual(['Docks', 'late'])
})

test('the tag itself is removed, and no other', () => {
  expect(withoutTag(['a', 'A b', 'b'], 'b')).toEqual(['a', 'A b'])
})

test('the most frequent tags are suggested first, without those that are there', () => {
  const items = [{ tags: ['rare', 'often'] }, { tags: ['often', 'Docks'] }, { tags: [] }]
  expect(suggestedTags(items, ['docks'])).toEqual(['often', 'rare'])
})
