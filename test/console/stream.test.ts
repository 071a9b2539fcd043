/** The stream of hints, as text comes in. */
import { expect, test } from 'bun:test'
import { createEventReader } from '#src/console/live/stream'

const TEXT =
  ': hello\n\nevent: resync\ndata: {}\n\nevent: hint\ndata: {"what":"ä"}\n\n: still here\n\nid: 1\n\nevent: cut'

test('events are the same however the text is cut, and comments are none', () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const read = createEventReader()
    const found = []
    for (let at = 0; at < TEXT.length; at += size) found.push(...read(TEXT.slice(at, at + size)))
    expect(found).toEqual([
      { event: 'resync', data: '{}' },
      { event: 'hint', data: '{"what":"ä"}' },
    ])
  }
})
