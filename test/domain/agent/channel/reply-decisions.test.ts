import { describe, expect, test } from 'bun:test'
import type { ReplyPart } from '#contract/records/agent/channel-message'
import { type ChannelReply, formParts, textHash } from '#domain/agent/channel/reply'
import {
  discardReply,
  disconnectReply,
  isInDoubt,
  nameOfPart,
  recallReply,
  releaseReply,
  settledByPerson,
} from '#domain/agent/channel/reply-decisions'
import {
  afterSend,
  beginReply,
  type PartOutcome,
  resumeReply,
} from '#domain/agent/channel/reply-sending'
import { partNamed } from '#domain/agent/channel/undelivered'
import type { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  after,
  carried,
  declined,
  ids,
  never,
  repeatable,
  replyOf,
  states,
  unclear,
  unsent,
  went,
} from './replies.ts'

const later = after(60_000)
const by = newId()
const decision = { by, now: later }
/** As a person has seen it, if not otherwise said. */
const settle = (
  reply: ChannelReply,
  said: { arrived: boolean; canSend: boolean; isGone?: boolean; seen?: Date },
): ChannelReply => settledByPerson(reply, { ...decision, seen: reply.updated_at, ...said })

const inParts = (...texts: string[]): ChannelReply => formParts(replyOf(), texts)
const beginning = (reply: ChannelReply, terms = never) => beginReply(reply, terms).reply
/** Sent so far, with these outcomes. */
const going = (reply: ChannelReply, ...outcomes: PartOutcome[]): ChannelReply =>
  outcomes.reduce((so, outcome) => afterSend(beginning(so), outcome, never).reply, reply)

describe('a person', () => {
  const held = replyOf({ why: 'A stranger asked.' })

  test('lets a held reply go, as it is or with another text', () => {
    expect(releaseReply(held, decision)).toMatchObject({
      status: 'queued',
      text: 'Hello',
      decided_by: by,
      decided_at: later,
    })
    expect(releaseReply(held, { ...decision, text: 'Better' }).text).toBe('Better')
  })

  test('discards it, and then it cannot go', () => {
    const gone = discardReply(held, decision)
    expect(gone).toMatchObject({ status: 'discarded', decided_by: by })
    expect(discardReply(gone, decision)).toBe(gone)
    expect(() => releaseReply(gone, decision)).toThrow('cannot send: the reply is discarded')
  })

  test('cannot change what goes already', () => {
    const queued = releaseReply(held, decision)
    expect(releaseReply(queued, { ...decision, text: 'Hello' })).toBe(queued)
    expect(() => releaseReply(queued, { ...decision, text: 'Other' })).toThrow(
      'cannot change the text: the reply is queued',
    )
  })

  test('has what failed sent again, and nothing else of the reply', () => {
    const failed = carried(['a', 'b', 'c', 'd'], [went, unclear, declined])
    const again = releaseReply(failed, decision)
    expect([again.status, states(again), again.tries]).toEqual([
      'queued',
      ['sent', 'unknown', 'queued', 'queued'],
      0,
    ])
    const done = [went, went].reduce(
      (reply, outcome) => afterSend(beginReply(reply, never).reply, outcome, never).reply,
      again,
    )
    expect([done.status, states(done)]).toEqual(['unknown', ['sent', 'unknown', 'sent', 'sent']])
  })

  test('cannot have sent again what may have been sent', () => {
    expect(() => releaseReply(carried(['a'], [unclear]), decision)).toThrow(
      'cannot send: some of the reply may have arrived',
    )
  })
})

describe('a person who says which text was seen', () => {
  const held = () => ({ ...replyOf({ why: 'A stranger asked.' }), text: 'At nine.' })
  const seen = textHash('At nine.')

  test('releases that text, also edited', () => {
    for (const digits of [seen, seen.slice(0, 8)])
      expect(releaseReply(held(), { ...decision, seen: digits })).toMatchObject({
        status: 'queued',
        text: 'At nine.',
      })
    expect(releaseReply(held(), { ...decision, seen, text: 'At ten.' }).text).toBe('At ten.')
  })

  test('is refused another text, with who sent it, unless it is what this person wants', () => {
    expect(() => releaseReply(held(), { ...decision, seen: textHash('At ten.') })).toThrow(
      `cannot send: the text is not the one that you saw; its contentHash is ${seen} now`,
    )
    const sent = releaseReply(held(), { ...decision, seen, text: 'At ten.' })
    for (const text of [undefined, 'At nine.'])
      try {
        releaseReply(sent, { by: newId(), now: later, seen, text })
        expect.unreachable()
      } catch (cause) {
        expect((cause as AppError).conflict).toEqual({
          reason: 'stale_text',
          by: { kind: 'person', id: by, name: null },
          at: later.toISOString(),
        })
      }
    expect(releaseReply(sent, { ...decision, seen, text: 'At ten.' })).toBe(sent)
  })
})

describe('a reply that is discarded on its way', () => {
  test('is discarded at once if nothing of it is on the wire', () => {
    expect(discardReply(inParts(), decision)).toMatchObject({ status: 'discarded', decided_by: by })
    const half = discardReply(going(inParts('a', 'b', 'c'), went), decision)
    expect([half.status, states(half), half.error]).toEqual([
      'discarded',
      ['sent', 'failed', 'failed'],
      'a person discarded the reply',
    ])
    expect(discardReply(half, decision)).toBe(half)
    expect(() => releaseReply(half, decision)).toThrow('the reply is discarded')
  })

  test('was not sent if its lane could be recalled', () => {
    const one = discardReply(recallReply(beginning(inParts('a', 'b'))), decision)
    expect([one.status, states(one)]).toEqual(['discarded', ['failed', 'failed']])
  })

  const outcomes: [PartOutcome, ChannelReply['status'], ReplyPart['state']][] = [
    [went, 'discarded', 'sent'],
    [unsent, 'discarded', 'failed'],
    [declined, 'discarded', 'failed'],
    [{ kind: 'stopped' }, 'discarded', 'failed'],
    [unclear, 'unknown', 'unknown'],
  ]
  test.each(outcomes)(
    'takes the outcome %j of what is on the wire, and sends nothing further',
    (outcome, status, state) => {
      const wired = discardReply(beginning(inParts('a', 'b')), decision)
      expect([wired.status, states(wired)]).toEqual(['sending', ['sending', 'failed']])
      const { reply, runAt } = afterSend(wired, outcome, repeatable)
      expect([reply.status, states(reply), runAt]).toEqual([status, [state, 'failed'], null])
    },
  )

  test('is sent if its only message was on the wire and arrived, and unknown if its process died', () => {
    const wired = discardReply(beginning(inParts('a')), decision)
    expect(afterSend(wired, went, never).reply.status).toBe('sent')
    expect(resumeReply(wired, repeatable)).toMatchObject({ status: 'unknown' })
  })

  test('stays in doubt where an earlier try may have arrived', () => {
    const tried = afterSend(beginning(inParts('a', 'b'), repeatable), unclear, repeatable).reply
    const gone = discardReply(tried, decision)
    expect([gone.status, states(gone)]).toEqual(['unknown', ['unknown', 'failed']])
    expect(states(settle(gone, { arrived: false, canSend: true }))).toEqual(['failed', 'failed'])
    expect(settle(gone, { arrived: true, canSend: true })).toMatchObject({ status: 'discarded' })
  })

  test('cannot be discarded once it is over', () => {
    expect(() => discardReply(going(inParts('a'), went), decision)).toThrow(
      'cannot discard: the reply is sent',
    )
    expect(() => discardReply(going(inParts('a'), unclear), decision)).toThrow(
      'cannot discard: the reply is unknown',
    )
  })
})

test('a reply whose channel is disconnected says so, and is sent no further', () => {
  const wired = disconnectReply(beginning(inParts('a', 'b')), later)
  const { reply, runAt } = afterSend(wired, went, never)
  expect([reply.status, states(reply), reply.error, runAt]).toEqual([
    'discarded',
    ['sent', 'failed'],
    'its channel was disconnected',
    null,
  ])
  const over = going(inParts('a'), went)
  expect(disconnectReply(over, later)).toBe(over)
})

describe('a person who knows what became of a reply in doubt', () => {
  const doubtful = () => going(inParts('a', 'b', 'c', 'd'), went, unclear, declined)

  test('says that it arrived: it goes on with what follows', () => {
    const after = settle(doubtful(), { arrived: true, canSend: true })
    expect([after.status, states(after)]).toEqual(['queued', ['sent', 'sent', 'queued', 'queued']])
    const last = settle(going(inParts('a'), unclear), { arrived: true, canSend: true })
    expect(last).toMatchObject({ status: 'sent', error: null, decided_by: by, decided_at: later })
  })

  test('says that it did not: it goes on from there under a new name, and what was sent is not repeated', () => {
    const after = settle(doubtful(), { arrived: false, canSend: true })
    expect([after.status, states(after), after.tries]).toEqual([
      'queued',
      ['sent', 'queued', 'queued', 'queued'],
      0,
    ])
    expect([0, 1].map((part) => nameOfPart(after, part))).toEqual([`${ids.id}.0`, `${ids.id}.1.1`])
    expect(partNamed(nameOfPart(after, 1))).toEqual({ reply: ids.id, part: 1 })
    const again = settle(going(after, unclear, went, went), { arrived: false, canSend: true })
    expect([states(again), nameOfPart(again, 1)]).toEqual([
      ['sent', 'queued', 'sent', 'sent'],
      `${ids.id}.1.2`,
    ])
  })

  test('sends nothing where the channel is gone', () => {
    const after = settle(doubtful(), { arrived: false, canSend: false })
    expect([after.status, states(after)[1], after.parts[1]!.error]).toEqual([
      'discarded',
      'failed',
      'its channel was disconnected',
    ])
    expect(isInDoubt(after)).toBe(false)
  })

  test('sends nothing of a conversation that was deleted', () => {
    const after = settle(doubtful(), { arrived: false, canSend: true, isGone: true })
    expect([after.status, states(after)[1], after.parts[1]!.error]).toEqual([
      'discarded',
      'failed',
      'its conversation was deleted',
    ])
  })

  test('is refused where nothing is in doubt, or it has changed since they looked', () => {
    for (const reply of [
      inParts('a'),
      beginning(inParts('a')),
      going(inParts('a'), went),
      going(inParts('a'), declined),
    ])
      expect(() => settle(reply, { arrived: true, canSend: true })).toThrow(
        'no part of it is in doubt',
      )
    const seen = after(-1)
    expect(() => settle(doubtful(), { arrived: false, canSend: true, seen })).toThrow(
      'has changed since you looked',
    )
  })
})
