/** Whatever an adapter makes of a post, the workspace takes it within bounds, or not at all. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { inbound } from '#contract/operator/inbound'
import { arrivedOf, fetchedOf } from '#decisions/agent/channel-bounds'
import { newId } from '#kernel/ids'
import { validate } from '#ops/engine/validate'
import type { InboundMessage } from '#port/channel/channel'
import { runs } from '#test/support/property'

const HUGE = 'x'.repeat(2_000_000)
const LONG = 'x'.repeat(2_000)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.constantFrom('', ' ', '\0', '\ud800', LONG),
)
const deep = (levels: number): Record<string, unknown> =>
  levels === 0 ? {} : { a: deep(levels - 1) }
const json = fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.constantFrom(deep(19), deep(500), {}))
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })

const attachment = fc.record({
  name: text,
  mimeType: text,
  byteSize: orNull(fc.double()),
  ref: orNull(json),
})
const message: fc.Arbitrary<InboundMessage> = fc.record({
  eventIds: fc.array(text, { maxLength: 20 }),
  sender: fc.record({ id: text, name: orNull(text) }),
  thread: text,
  isShared: fc.boolean(),
  subject: orNull(text),
  text: orNull(fc.oneof(text, fc.constant(HUGE))),
  attachments: fc.oneof(
    fc.array(attachment, { maxLength: 5 }),
    attachment.map((one) => Array(200).fill(one)),
  ),
  replyTo: json,
  directTo: orNull(json),
  toFetch: orNull(json),
})

test('what is left of a message is what the workspace takes', () => {
  let taken = 0
  const property = fc.property(message, (read) => {
    const arrived = arrivedOf(read)
    if (!arrived) return
    taken++
    validate(inbound.channel.input, { id: newId(), message: arrived })
  })
  fc.assert(property, runs(100))
  expect(taken).toBeGreaterThan(0)
})

const usual: InboundMessage = {
  eventIds: ['evt_1'],
  sender: { id: 'ada', name: 'Ada' },
  thread: 'T1',
  isShared: false,
  subject: null,
  text: 'Hello',
  attachments: [],
  replyTo: { to: 'ada' },
  directTo: null,
  toFetch: null,
}

test('an ordinary message is taken as it is', () => {
  expect(arrivedOf(usual)).toEqual(usual)
})

test('of ids that are too long, equal ones stay equal and others apart', () => {
  const idsOf = (...eventIds: string[]) => arrivedOf({ ...usual, eventIds })!.eventIds
  const [one, other] = ['a'.repeat(1_000), `${'a'.repeat(999)}b`]
  expect(idsOf(one)).toEqual(idsOf(one))
  expect(idsOf(one)).not.toEqual(idsOf(other))
  expect(arrivedOf({ ...usual, thread: one })!.thread).not.toBe(
    arrivedOf({ ...usual, thread: other })!.thread,
  )
})

test.each([
  ['no id', { eventIds: [] }],
  ['empty ids', { eventIds: [''] }],
  ['no sender', { sender: { id: '\0', name: null } }],
  [
    'a sender whose name would have to be cut, which could make two people one',
    { sender: { id: 'x'.repeat(321), name: null } },
  ],
  ['no thread', { thread: '' }],
  ['an address that is nested too deep', { replyTo: deep(30) }],
])('a message with %s is not taken', (_, changes) => {
  expect(arrivedOf({ ...usual, ...changes })).toBeUndefined()
})

test('what is fetched is bounded in the same way', () => {
  const {
    text: said,
    attachments,
    isAutomatic,
    ...changes
  } = fetchedOf({
    text: `${HUGE}\0`,
    attachments: Array(60).fill({
      name: 'a\0',
      mimeType: 'text/plain',
      byteSize: 1.5,
      ref: { a: '\ud800' },
    }),
    thread: '',
    replyTo: deep(30),
  })
  expect([said.length, attachments.length, isAutomatic, changes]).toEqual([
    1_048_576,
    50,
    false,
    {},
  ])
  expect(attachments[0]).toEqual({
    name: 'a',
    mimeType: 'text/plain',
    byteSize: null,
    ref: { a: '\ufffd' },
  })
})
