import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { channelNames } from '#contract/channel-names'
import {
  commonConfigError,
  conversationKey,
  dailyJobLimits,
  hasRoomFor,
  hasRoomForMember,
  isAnswerHeld,
  isForStranger,
  isSharedThread,
  isStrangersThread,
  STRANGERS_TOOLS,
  type Trusted,
  trustOf,
} from '#domain/agent/channel/trust'
import { runs } from '#test/support/property'

const slack = { id: 'c-1', channel: 'slack', sender_policy: 'members' } as const
const ada = { id: 'U01', identity: { id: 'i-1', person_id: 'p-1' } }
const stranger = { id: 'U02', identity: undefined }

test('a linked sender is the person, with the tools of the person', () => {
  const trust = {
    kind: 'member',
    on_behalf: { kind: 'channel', id: 'i-1', personId: 'p-1' },
    tools: null,
    taint: [],
    untrusted: false,
  }
  for (const sender_policy of ['members', 'anyone'] as const)
    expect(trustOf({ ...slack, sender_policy }, ada)).toEqual(trust as never)
})

test('where names of senders can be forged, the text of a linked one is that of anybody', () => {
  for (const channel of ['email', 'sms'] as const)
    expect(trustOf({ ...slack, channel }, ada)).toMatchObject({
      kind: 'member',
      tools: null,
      taint: [`channel ${channel}`],
      untrusted: true,
    })
})

test('a stranger begins a job where anyone may, in the name of the connection, tainted and with five tools', () => {
  expect(trustOf(slack, stranger)).toEqual({ kind: 'none' })
  expect(trustOf({ ...slack, sender_policy: 'anyone' }, stranger)).toEqual({
    kind: 'stranger',
    on_behalf: { kind: 'channel', id: 'c-1', personId: null },
    tools: [...STRANGERS_TOOLS],
    taint: ['channel slack'],
    untrusted: true,
  })
})

test('the answer to a stranger waits for a person, unless the connection answers by itself', () => {
  const by = { kind: 'channel', id: 'c-1', personId: null } as const
  expect(isForStranger(by)).toBe(true)
  expect([
    isAnswerHeld(by, {}),
    isAnswerHeld(by, { reply: 'hold' }),
    isAnswerHeld(by, { reply: 'auto' }),
  ]).toEqual([true, true, false])
  for (const other of [
    { ...by, personId: 'p-1' },
    { ...by, kind: 'key' as const },
  ]) {
    expect(isForStranger(other)).toBe(false)
    expect(isAnswerHeld(other, {})).toBe(false)
  }
})

test('a stranger begins 30 jobs a day, and all strangers of a connection 300 or what it says', () => {
  expect(hasRoomFor({ ofSender: dailyJobLimits.ofStranger - 1, ofConnection: 299 }, {})).toBe(true)
  expect(hasRoomFor({ ofSender: dailyJobLimits.ofStranger, ofConnection: 30 }, {})).toBe(false)
  expect(hasRoomFor({ ofSender: 0, ofConnection: 300 }, {})).toBe(false)
  expect(hasRoomFor({ ofSender: 0, ofConnection: 300 }, { dailyJobs: 301 })).toBe(true)
  expect(hasRoomFor({ ofSender: 0, ofConnection: 0 }, { dailyJobs: 0 })).toBe(false)
  for (const dailyJobs of ['1000', -1, 1.5, Number.NaN, null])
    expect(hasRoomFor({ ofSender: 0, ofConnection: 300 }, { dailyJobs })).toBe(false)
})

test('a member begins 100 jobs a day where names can be forged, and as many as wanted elsewhere', () => {
  for (const channel of channelNames) {
    expect(hasRoomForMember({ channel }, dailyJobLimits.ofMember - 1)).toBe(true)
    expect(hasRoomForMember({ channel }, dailyJobLimits.ofMember)).toBe(
      channel !== 'email' && channel !== 'sms',
    )
  }
})

test.each([
  [{}, undefined],
  [{ reply: 'auto', dailyJobs: 0, approvals: 'all', anything: 1 }, undefined],
  [{ reply: 'hold', dailyJobs: 10_000, approvals: 'asker' }, undefined],
  [{ reply: true }, 'config.reply must be auto or hold'],
  [{ reply: null }, 'config.reply must be auto or hold'],
  [{ approvals: 'everybody' }, 'config.approvals must be all or asker'],
  [{ dailyJobs: -1 }, 'config.dailyJobs must be a whole number from 0 to 10000'],
  [{ dailyJobs: '5' }, 'config.dailyJobs must be a whole number from 0 to 10000'],
  [{ dailyJobs: 10_001 }, 'config.dailyJobs must be a whole number from 0 to 10000'],
])('the configuration %#', (config, error) =>
  expect(commonConfigError(config)).toBe(error as never),
)

interface Message {
  connection: Parameters<typeof trustOf>[0]
  sender: Parameters<typeof trustOf>[1]
  thread: string
  isShared: boolean
}

/** Few and similar names, so that some meet. */
const name = fc.oneof(
  fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'b', '|', '~', ':', '"', ',') }),
  fc.constantFrom(
    'ada@x.example',
    '~ada@x.example',
    'ada@x.example|t',
    'stranger:',
    'shared:',
    'member:',
  ),
)

const message: fc.Arbitrary<Message> = fc.record({
  connection: fc.record({
    id: fc.constant('c-1'),
    channel: fc.constantFrom(...channelNames),
    sender_policy: fc.constantFrom('members', 'anyone'),
  }),
  sender: fc.record({
    id: name,
    identity: fc.option(
      fc.record({ id: fc.constantFrom('i-1', 'i-2'), person_id: fc.constantFrom('p-1', 'p-2') }),
      { nil: undefined },
    ),
  }),
  thread: name,
  isShared: fc.boolean(),
})

const begun = ({
  connection,
  sender,
  thread,
  isShared,
}: Message): { trust: Trusted; key: string } | undefined => {
  const trust = trustOf(connection, sender)
  return trust.kind === 'none'
    ? undefined
    : { trust, key: conversationKey({ trust, sender: sender.id, thread, isShared }) }
}

const isRestricted = ({ tools }: Trusted): boolean =>
  tools?.every((tool) => STRANGERS_TOOLS.includes(tool)) ?? false

/**
 * Private data: the tools or the conversation of a member. Foreign text: of a stranger, or of
 * whoever forges a name.
 */
test('no message begins a job with private data, text of people outside, and an answer to them that nobody has seen', () => {
  fc.assert(
    fc.property(message, fc.constantFrom({}, { reply: 'auto' }), (one, config) => {
      const { trust, key } = begun(one) ?? {}
      if (!trust || !key) return
      const isMember = trust.on_behalf.personId !== null
      expect(isRestricted(trust)).toBe(!isMember)
      expect(isStrangersThread(key)).toBe(!isMember)
      expect(trust.untrusted).toBe(trust.taint.length > 0)
      if (!isMember) expect(trust.untrusted).toBe(true)
      // Held unless the workspace lets it go, and then it holds nothing but what anybody is shown.
      if (!isMember) expect(isAnswerHeld(trust.on_behalf, config)).toBe(!('reply' in config))
    }),
    runs(2_000),
  )
})

test('two messages meet in a conversation only if one person may read both', () => {
  fc.assert(
    fc.property(message, message, (a, b) => {
      const [first, second] = [begun(a), begun(b)]
      if (first?.key === undefined || first.key !== second?.key) return
      expect(first.trust.kind).toBe(second.trust.kind)
      expect(a.thread).toBe(b.thread)
      if (isSharedThread(first.key)) return expect([a.isShared, b.isShared]).toEqual([true, true])
      expect(a.sender.id).toBe(b.sender.id)
      expect(first.trust.on_behalf.personId).toBe(second.trust.on_behalf.personId)
    }),
    runs(5_000),
  )
})

test('a message with the longest names has a short key', () => {
  const long = {
    connection: { ...slack, sender_policy: 'anyone' as const },
    thread: '\u0001'.repeat(300),
    isShared: false,
  }
  expect(begun({ ...long, sender: { ...stranger, id: '𝒜'.repeat(320) } })!.key.length).toBeLessThan(
    100,
  )
})
