/** Free slots, and what stands around them. */
import { expect, test } from 'bun:test'
import { SLOTS_OFFERED, type SlotEntry, slotsOffered } from '#src/console/inbox/draft/slots'

const at = (day: number, hour = 8): string => new Date(Date.UTC(2026, 10, day, hour)).toISOString()
const free = (day: number, channel = 'posts'): SlotEntry => ({
  at: at(day),
  channel,
  slot: at(day),
  item: null,
})
const taken = (day: number, excerpt: string): SlotEntry => ({
  ...free(day),
  item: { id: excerpt, status: 'approved', title: null, excerpt, tags: [], url: null },
})

test('they are those of the channel that are still to come, with the posts before and after', () => {
  const entries = [
    free(1),
    taken(2, 'two'),
    free(3),
    free(4, 'articles'),
    taken(5, 'five'),
    free(6),
  ]
  const slots = slotsOffered(entries, { channel: 'posts', now: at(1, 9) })
  expect(slots).toEqual([
    {
      at: at(3),
      before: { at: at(2), excerpt: 'two' },
      after: { at: at(5), excerpt: 'five' },
    },
    { at: at(6), before: { at: at(5), excerpt: 'five' }, after: undefined },
  ])
})

test('six are offered', () => {
  const month = Array.from({ length: 28 }, (_, day) => free(day + 1))
  expect(slotsOffered(month, { channel: 'posts', now: at(1) })).toHaveLength(SLOTS_OFFERED)
})

test('a time for which another draft is just being approved is not offered', () => {
  const asked = new Set([at(1), undefined])
  const slots = slotsOffered([free(1), free(2)], { channel: 'posts', now: at(0), asked })
  expect(slots.map((slot) => slot.at)).toEqual([at(2)])
})
