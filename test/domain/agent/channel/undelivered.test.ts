/** What a provider says of a message after it had taken it. */
import { expect, test } from 'bun:test'
import { type ChannelReply, formParts, newReply } from '#domain/agent/channel/reply'
import { releaseReply } from '#domain/agent/channel/reply-decisions'
import { afterSend, beginReply } from '#domain/agent/channel/reply-sending'
import { isUnderWay, markUndelivered, partNamed } from '#domain/agent/channel/undelivered'
import { newId } from '#kernel/ids'

const now = new Date('2026-11-23T09:00:00Z')
const later = new Date('2026-11-23T09:05:00Z')
const never = { now, repeatableForMs: 0 }
const ids = {
  id: newId(),
  connection_id: newId(),
  job_id: null,
  message_id: null,
  conversation_id: null,
}

/** Its parts went out, as `wamid.0`, `wamid.1` and so on. */
const gone = (...texts: string[]): ChannelReply =>
  texts.reduce<ChannelReply>(
    (reply, _, at) =>
      afterSend(beginReply(reply, never).reply, { kind: 'sent', externalId: `wamid.${at}` }, never)
        .reply,
    formParts(
      newReply({ ...ids, recipient: 'Ada', reply_to: {}, text: 'Hello' }, { why: null, now }),
      texts,
    ),
  )
const failure = { part: 0, externalId: 'wamid.0', error: 'nobody is there' }
const states = ({ parts }: ChannelReply) => parts.map(({ state }) => state)

test('the part has failed, and with it the reply; a person can send that part again', () => {
  const after = markUndelivered(gone('a', 'b'), failure, later)
  expect([after.status, states(after), after.error, after.updated_at]).toEqual([
    'failed',
    ['failed', 'sent'],
    'nobody is there',
    later,
  ])
  const again = releaseReply(after, { by: newId(), now: later })
  expect([again.status, states(again)]).toEqual(['queued', ['queued', 'sent']])
  const second = afterSend(
    beginReply(again, never).reply,
    { kind: 'sent', externalId: 'wamid.9' },
    never,
  ).reply
  // Providers repeat what they have said.
  expect(markUndelivered(again, failure, later)).toBe(again)
  expect(markUndelivered(second, failure, later)).toBe(second)
  expect(markUndelivered(second, { ...failure, externalId: 'wamid.9' }, later).status).toBe(
    'failed',
  )
})

test('what may have been sent has not been', () => {
  const unclear = afterSend(
    beginReply(
      formParts(
        newReply({ ...ids, recipient: 'Ada', reply_to: {}, text: 'Hello' }, { why: null, now }),
        ['a'],
      ),
      never,
    ).reply,
    { kind: 'unknown', error: 'no answer' },
    never,
  ).reply
  expect(unclear.status).toBe('unknown')
  expect(markUndelivered(unclear, failure, later)).toMatchObject({
    status: 'failed',
    parts: [{ external_id: 'wamid.0' }],
  })
})

test('a part that still goes out keeps the reply going', () => {
  const between = beginReply(gone('a'), never).reply
  const half = {
    ...between,
    parts: [
      ...between.parts,
      { ...between.parts[0]!, state: 'queued' as const, external_id: null },
    ],
  }
  const after = markUndelivered(half, failure, later)
  expect([after.status, states(after)]).toEqual(['queued', ['failed', 'queued']])
  const done = afterSend(
    beginReply(after, never).reply,
    { kind: 'sent', externalId: 'wamid.1' },
    never,
  ).reply
  expect([done.status, done.error]).toEqual(['failed', 'nobody is there'])
})

test('what is said of another message, of no part, or twice changes nothing', () => {
  const reply = gone('a')
  for (const other of [{ externalId: 'wamid.7' }, { part: 1 }, { part: 999 }])
    expect(markUndelivered(reply, { ...failure, ...other }, later)).toBe(reply)
  const once = markUndelivered(reply, failure, later)
  expect(markUndelivered(once, failure, later)).toBe(once)
})

test('a part is under way until its provider has answered', () => {
  const reply = gone('a')
  const [part] = reply.parts
  const under = (state: 'sending' | 'queued' | 'sent', in_doubt: boolean) =>
    isUnderWay({ parts: [{ ...part!, state, in_doubt }] }, { part: 0 })
  expect([
    under('sending', false),
    under('queued', true),
    under('queued', false),
    under('sent', false),
  ]).toEqual([true, true, false, false])
  expect(isUnderWay(reply, { part: 5 })).toBe(false)
})

test('names of parts are those that providers are given', () => {
  const id = newId()
  expect(partNamed(`${id}.12`)).toEqual({ reply: id, part: 12 })
  for (const other of [
    id,
    `${id}.`,
    `${id}.1000`,
    `${id}.-1`,
    `x${id}.1`,
    `${id}.1\n`,
    'template-7',
    '',
  ])
    expect(partNamed(other)).toBeUndefined()
})
