import { describe, expect, test } from 'bun:test'
import { itemStatuses } from '#contract/records/growth/item'
import type { ItemStatus } from '#domain/growth/drafting/item'
import { itemView } from '#domain/growth/drafting/item-view'
import {
  failedRedraft,
  isUnmoved,
  newRedraft,
  readyRedraft,
  redraftedItem,
} from '#domain/growth/drafting/redraft'
import { replacedBy } from '#domain/growth/drafting/revision'
import { at, draftedItem } from '#test/domain/records'

const taken = { key: 'posts', period: '2026-11', amount: 1 }
const asked = { item: draftedItem, open: false, hint: 'shorter', now: at() }
const redraft = newRedraft('redraft-1', asked)
const draft = {
  body: 'Docks.',
  format: 'point',
  hook: 'claim',
  rationale: 'Shorter.',
  stories: ['s'],
  learnings: ['l'],
}

test('is asked for one version of the text', () => {
  expect(redraft).toMatchObject({
    status: 'queued',
    item_id: draftedItem.id,
    revision: draftedItem.revision,
    hint: 'shorter',
  })
})

test.each(itemStatuses.filter((status) => status !== 'drafted'))(
  'an item that is %s is not written again',
  (status: ItemStatus) => {
    expect(() => newRedraft('redraft-1', { ...asked, item: { ...draftedItem, status } })).toThrow(
      'cannot redraft',
    )
    expect(isUnmoved(redraft, { ...draftedItem, status })).toBeFalse()
  },
)

test('an item is written again once at a time', () => {
  expect(() => newRedraft('redraft-2', { ...asked, open: true })).toThrow('already')
})

test('an item that was edited or deleted has moved', () => {
  expect(isUnmoved(redraft, draftedItem)).toBeTrue()
  expect(isUnmoved(redraft, { ...draftedItem, revision: 2 })).toBeFalse()
  expect(isUnmoved(redraft, undefined)).toBeFalse()
})

test('the new text is a version of its own, by no person, and what the drafter says of it replaces what it said', () => {
  const before = {
    ...draftedItem,
    last_error: 'generation_failed: x',
    redraft: { status: 'generating', revision: 1 } as const,
  }
  const next = redraftedItem(before, { ...draft, title: null }, { length: 6, now: at(1) })
  expect(next).toMatchObject({
    ...draft,
    status: 'drafted',
    revision: 2,
    written_by: null,
    written_at: at(1),
    length: 6,
    last_error: null,
  })
  expect(next.original_body).toBe(draftedItem.body)
  expect(replacedBy(before, next)).toMatchObject({ number: 1, body: draftedItem.body })
  expect([itemView(before).redraft, itemView(next).redraft]).toEqual(['generating', null])
})

describe('the end', () => {
  test('ready asks for an approval, and costs what it took', () => {
    const done = readyRedraft(redraft, { model: 'composer', usage: null, now: at(1) })
    expect(done).toMatchObject({ record: { status: 'ready', model: 'composer' }, refund: [] })
    expect(done.events).toEqual([
      { type: 'growth.approval.requested', data: { kind: 'item', item_id: draftedItem.id } },
    ])
  })

  test('failed says why, and returns the quota', () => {
    const done = failedRedraft(redraft, 'cancelled', { taken, now: at(1) })
    expect(done).toMatchObject({
      record: { status: 'failed', error: 'cancelled' },
      events: [],
      refund: [{ ...taken, amount: -1 }],
    })
  })
})
