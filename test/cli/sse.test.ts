/** Server-sent events, however the bytes are cut. */
import { expect, test } from 'bun:test'
import { eventReader } from '#cli/agent/sse'

const encoder = new TextEncoder()
const text = `: hello\nretry: 2000\n\nid: 1\nevent: job.status\ndata: {"status":"running"}\n\ndata:漢字 a\ndata: b\n\nevent: empty\n\nid\r\nevent:\r\ndata: 👩‍🚀:x\r\n\r\nid: 9\ndata: never ends`
const events = [
  { id: '1', event: 'job.status', data: '{"status":"running"}' },
  { id: undefined, event: 'message', data: '漢字 a\nb' },
  { id: '', event: 'message', data: '👩‍🚀:x' },
]

test('events are read, comments and unfinished events are not', () => {
  expect(eventReader()(encoder.encode(text))).toEqual(events)
})

test('bytes can be cut anywhere', () => {
  const bytes = encoder.encode(text)
  for (let size = 1; size < bytes.length; size++) {
    const read = eventReader()
    const found = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      read(bytes.subarray(at * size, (at + 1) * size)),
    ).flat()
    expect(found).toEqual(events)
  }
})

test('an event without an end is refused', () => {
  const read = eventReader()
  const part = encoder.encode('x'.repeat(2 ** 20))
  expect(() => Array.from({ length: 6 }, () => read(part))).toThrow('too long')
  const lines = eventReader()
  const many = encoder.encode('data: x\n'.repeat(2 ** 15))
  expect(() => Array.from({ length: 6 }, () => lines(many))).toThrow('too long')
})
