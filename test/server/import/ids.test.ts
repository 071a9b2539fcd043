/** The ids of an import. */
import { expect, test } from 'bun:test'
import { firstIdAt, newId } from '#kernel/ids'
import { ImportIds } from '#server/import/ids'

const ids = new ImportIds()
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('each id gets a new one, always the same, in the old order', () => {
  const old = Array.from({ length: 500 }, (_, at) => firstIdAt(Date.now() - 1_000 + at))
  const made = old.map((id) => ids.of(id))
  expect(new Set([...old, ...made]).size).toBe(1_000)
  expect(made.every((id) => UUID_7.test(id))).toBe(true)
  expect(made).toEqual(made.toSorted())
  expect(old.map((id) => ids.of(id.toUpperCase()))).toEqual(made)
})

test('nobody who writes an archive chooses an id, or its time beyond now', () => {
  const wanted = newId()
  expect(new ImportIds().of(wanted)).not.toBe(ids.of(wanted))
  for (const id of [
    'ffffffff-ffff-7fff-bfff-ffffffffffff',
    '00000000-0000-0000-0000-000000000000',
  ]) {
    expect(ids.of(id)).toMatch(UUID_7)
    // Up to the millisecond: what follows is random.
    expect(ids.of(id).slice(0, 13) <= newId().slice(0, 13)).toBe(true)
  }
})

test('a reference holds only to what is there, of that kind', () => {
  const [item, batch] = [newId(), newId()]
  ids.add('item', item)
  expect(ids.ref('item', item.toUpperCase())).toBe(ids.of(item))
  expect([ids.ref('batch', item), ids.ref('item', batch), ids.ref('item', null)]).toEqual([
    null,
    null,
    null,
  ])
})

test('ids within a value get their new names, and nothing else changes', () => {
  const id = newId()
  expect(ids.within({ a: [id, 'text', 1, null, true], [id]: { b: `${id}!` } })).toEqual({
    a: [ids.of(id), 'text', 1, null, true],
    [id]: { b: `${id}!` },
  })
})

test('kept ids are the old ones', () => {
  const kept = new ImportIds()
  kept.keep(true)
  const id = newId()
  expect(kept.of(id)).toBe(id)
})
