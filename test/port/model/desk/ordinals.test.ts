/** Positions in the list that was shown last. */
import { describe, expect, test } from 'bun:test'
import { listedIn, withListed } from '#port/model/desk/ordinals'

const items = `items (2):
  - id: item:7
    batch_id: batch:1
    status: drafted
    body:
      One thing:
      - id: item:99
      - second
  - id: item:9
    batch_id: batch:1
    status: drafted
next_cursor: abc`

const cases: [string, string, (string | undefined)[] | undefined][] = [
  ['a list of records, without what their texts contain', items, ['item:7', 'item:9']],
  [
    'a list within a record',
    'batch:\n  id: batch:1\n  items (2):\n    - id: item:1\n      body: x\n    - id: item:2',
    ['item:1', 'item:2'],
  ],
  [
    'the last of two lists',
    `${items}\ntargets (1):\n  - id: target:3\n    handle: ada`,
    ['target:3'],
  ],
  [
    'the last list of records, not one of words',
    `${items}\nwarnings (1):\n  - none of them is short`,
    ['item:7', 'item:9'],
  ],
  [
    'a numbered list',
    'Two wait:\n\n1. **item:4** about docks\n\n2. The one of today (item:6)\n\nShall I?',
    ['item:4', 'item:6'],
  ],
  [
    'an entry whose id stands below',
    'rows:\n- status: drafted\n  id: item:1\n- status: posted\n  id: item:2',
    ['item:1', 'item:2'],
  ],
  [
    'an entry without a record',
    '- id: item:1\n- nothing\n- id: item:3',
    ['item:1', undefined, 'item:3'],
  ],
  ['its own id before another', '- batch_id: batch:2\n  id: item:5', ['batch:2']],
  [
    'no list in the text of a record',
    'item:\n  id: item:1\n  body:\n    - item:8 is better\n    items (2):\n      - id: item:8\n      - id: item:9\n  status: drafted',
    undefined,
  ],
  ['no list', 'item:\n  id: item:1\n  status: approved', undefined],
  [
    'no handles in times and addresses',
    '- at 12:30\n- see localhost:8080x or http://a:80',
    undefined,
  ],
  ['nothing', '', undefined],
]
test.each(cases)('%s', (_, text, handles) => {
  expect(listedIn([text])).toEqual(handles)
})

test('what was shown after the list may have none', () => {
  expect(listedIn([items, 'item:\n  id: item:7\n  status: approved', 'Done.'])).toEqual([
    'item:7',
    'item:9',
  ])
})

describe('arguments', () => {
  const approving = (id: string) => ({ id, edited_body: '2' })

  test('get the handle in place of the position, and only where a record is named', () => {
    expect(withListed(approving('2'), [items])).toEqual({ args: approving('item:9') })
    const args = { item_id: '1', conversationId: '2', count: 1, title: '1' }
    expect(withListed(args, [items])).toEqual({
      args: { ...args, item_id: 'item:7', conversationId: 'item:9' },
    })
  })

  test('keep ids and handles', () => {
    for (const id of ['item:3', '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'])
      expect(withListed(approving(id), [items])).toEqual({ args: approving(id) })
  })

  test('are refused for a position that the list does not have, or without a list', () => {
    for (const id of ['0', '3', '999999999'])
      expect(withListed(approving(id), [items])).toEqual({
        error: `The list shown last has no record ${id}: it has 2.`,
      })
    expect(withListed(approving('1'), [])).toEqual({
      error:
        '1 is a position in the list shown last, and no list has been shown. List the records first.',
    })
  })
})
