import { describe, expect, test } from 'bun:test'
import type { ReplyPart } from '#domain/agent/channel/channel'
import { afterSend, begun, type ChannelReply, formed, newReply, type PartOutcome, resumed } from '#domain/agent/channel/reply'
import { discarded, disconnected, isInDoubt, nameOfPart, recalled, sent, settledByPerson } from '#domain/agent/channel/reply-decisions'
import { partNamed } from '#domain/agent/channel/undelivered'
import { newId } from '#kernel/ids'

const start = new Date('2026-11-23T09:00:00Z')
const later = new Date(start.getTime() + 60_000)
const ids = { id: newId(), connection_id: newId(), job_id: newId(), message_id: newId(), conversation_id: newId() }
const by = newId()
const decision = { by, now: later }
/** As a person has seen it, if not otherwise said. */
const settle = (reply: ChannelReply, said: { arrived: boolean; canSend: boolean; isGone?: boolean; seen?: Date }): ChannelReply =>
  settledByPerson(reply, { ...decision, seen: reply.updated_at, ...said })
const terms = { now: start, repeatableForMs: 0 }
const repeatable = { now: start, repeatableForMs: 3_600_000 }
const went: PartOutcome = { kind: 'sent', externalId: '17.5' }
const unclear: PartOutcome = { kind: 'unknown', error: 'no answer' }
const unsent: PartOutcome = { kind: 'unsent', error: '503' }
const declined: PartOutcome = { kind: 'refused', of: 'message', error: 'too long' }

const replyOf = (...texts: string[]): ChannelReply =>
  formed(newReply({ ...ids, recipient: 'Ada', reply_to: {}, text: 'Hello' }, { why: null, now: start }), texts)
const states = ({ parts }: ChannelReply): ReplyPart['state'][] => parts.map(({ state }) => state)
const beginning = (reply: ChannelReply, of = terms) => begun(reply, of).reply
/** Sent so far, with these outcomes. */
const carried = (reply: ChannelReply, ...outcomes: PartOutcome[]): ChannelReply =>
  outcomes.reduce((so, outcome) => afterSend(beginning(so), outcome, terms).reply, reply)

describe('a reply that is discarded on its way', () => {
  test('is discarded at once if nothing of it is on the wire', () => {
    expect(discarded(replyOf(), decision)).toMatchObject({ status: 'discarded', decided_by: by })
    const half = discarded(carried(replyOf('a', 'b', 'c'), went), decision)
    expect([half.status, states(half), half.error]).toEqual(['discarded', ['sent', 'failed', 'failed'], 'a person discarded the reply'])
    expect(discarded(half, decision)).toBe(half)
    expect(() => sent(half, decision)).toThrow('the reply is discarded')
  })

  test('was not sent if its lane could be recalled', () => {
    const one = discarded(recalled(beginning(replyOf('a', 'b'))), decision)
    expect([one.status, states(one)]).toEqual(['discarded', ['failed', 'failed']])
  })

  const outcomes: [PartOutcome, ChannelReply['status'], ReplyPart['state']][] = [
    [went, 'discarded', 'sent'],
    [unsent, 'discarded', 'failed'],
    [declined, 'discarded', 'failed'],
    [{ kind: 'stopped' }, 'discarded', 'failed'],
    [unclear, 'unknown', 'unknown'],
  ]
  test.each(outcomes)('takes the outcome %j of what is on the wire, and sends nothing further', (outcome, status, state) => {
    const wired = discarded(beginning(replyOf('a', 'b')), decision)
    expect([wired.status, states(wired)]).toEqual(['sending', ['sending', 'failed']])
    const { reply, runAt } = afterSend(wired, outcome, repeatable)
    expect([reply.status, states(reply), runAt]).toEqual([status, [state, 'failed'], null])
  })

  test('is sent if its only message was on the wire and arrived, and unknown if its process died', () => {
    const wired = discarded(beginning(replyOf('a')), decision)
    expect(afterSend(wired, went, terms).reply.status).toBe('sent')
    expect(resumed(wired, repeatable)).toMatchObject({ status: 'unknown' })
  })

  test('stays in doubt where an earlier try may have arrived', () => {
    const tried = afterSend(beginning(replyOf('a', 'b'), repeatable), unclear, repeatable).reply
    const gone = discarded(tried, decision)
    expect([gone.status, states(gone)]).toEqual(['unknown', ['unknown', 'failed']])
    expect(states(settle(gone, { arrived: false, canSend: true }))).toEqual(['failed', 'failed'])
    expect(settle(gone, { arrived: true, canSend: true })).toMatchObject({ status: 'discarded' })
  })

  test('cannot be discarded once it is over', () => {
    expect(() => discarded(carried(replyOf('a'), went), decision)).toThrow('cannot discard: the reply is sent')
    expect(() => discarded(carried(replyOf('a'), unclear), decision)).toThrow('cannot discard: the reply is unknown')
  })
})

test('a reply whose channel is disconnected says so, and is sent no further', () => {
  const wired = disconnected(beginning(replyOf('a', 'b')), later)
  const { reply, runAt } = afterSend(wired, went, terms)
  expect([reply.status, states(reply), reply.error, runAt]).toEqual(['discarded', ['sent', 'failed'], 'its channel was disconnected', null])
  const over = carried(replyOf('a'), went)
  expect(disconnected(over, later)).toBe(over)
})

describe('a person who knows what became of a reply in doubt', () => {
  const doubtful = () => carried(replyOf('a', 'b', 'c', 'd'), went, unclear, declined)

  test('says that it arrived: it goes on with what follows', () => {
    const after = settle(doubtful(), { arrived: true, canSend: true })
    expect([after.status, states(after)]).toEqual(['queued', ['sent', 'sent', 'queued', 'queued']])
    const last = settle(carried(replyOf('a'), unclear), { arrived: true, canSend: true })
    expect(last).toMatchObject({ status: 'sent', error: null, decided_by: by, decided_at: later })
  })

  test('says that it did not: it goes on from there under a new name, and what was sent is not repeated', () => {
    const after = settle(doubtful(), { arrived: false, canSend: true })
    expect([after.status, states(after), after.tries]).toEqual(['queued', ['sent', 'queued', 'queued', 'queued'], 0])
    expect([0, 1].map((part) => nameOfPart(after, part))).toEqual([`${ids.id}.0`, `${ids.id}.1.1`])
    expect(partNamed(nameOfPart(after, 1))).toEqual({ reply: ids.id, part: 1 })
    const again = settle(carried(after, unclear, went, went), { arrived: false, canSend: true })
    expect([states(again), nameOfPart(again, 1)]).toEqual([['sent', 'queued', 'sent', 'sent'], `${ids.id}.1.2`])
  })

  test('sends nothing where the channel is gone', () => {
    const after = settle(doubtful(), { arrived: false, canSend: false })
    expect([after.status, states(after)[1], after.parts[1]!.error]).toEqual(['discarded', 'failed', 'its channel was disconnected'])
    expect(isInDoubt(after)).toBe(false)
  })

  test('sends nothing of a conversation that was deleted', () => {
    const after = settle(doubtful(), { arrived: false, canSend: true, isGone: true })
    expect([after.status, states(after)[1], after.parts[1]!.error]).toEqual(['discarded', 'failed', 'its conversation was deleted'])
  })

  test('is refused where nothing is in doubt, or it has changed since they looked', () => {
    for (const reply of [replyOf('a'), beginning(replyOf('a')), carried(replyOf('a'), went), carried(replyOf('a'), declined)])
      expect(() => settle(reply, { arrived: true, canSend: true })).toThrow('no part of it is in doubt')
    const seen = new Date(start.getTime() - 1)
    expect(() => settle(doubtful(), { arrived: false, canSend: true, seen })).toThrow('has changed since you looked')
  })
})
