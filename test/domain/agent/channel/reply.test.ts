/** A reply's parts: each goes by one request, in order, and never twice. */
import { describe, expect, test } from 'bun:test'
import { replyLimits } from '#domain/agent/channel/forms/parts'
import { formParts, newReply } from '#domain/agent/channel/reply'
import {
  afterSend,
  beginReply,
  type PartOutcome,
  resumeReply,
  retryLimits,
  withdrawn,
} from '#domain/agent/channel/reply-sending'
import {
  after,
  carried,
  declined,
  HOUR,
  ids,
  never,
  opened,
  repeatable,
  replyOf,
  start,
  states,
  unclear,
  unsent,
  went,
} from './replies.ts'

test('each part goes by one request, in order', () => {
  const first = beginReply(formParts(replyOf(), ['a', 'b']), never)
  expect([first.part, first.reply.status, states(first.reply)]).toEqual([
    0,
    'sending',
    ['sending', 'queued'],
  ])
  const between = afterSend(first.reply, went, never)
  expect([between.reply.status, between.runAt]).toEqual(['queued', start])
  const second = beginReply(between.reply, never)
  expect(second.part).toBe(1)
  const { reply, runAt } = afterSend(
    second.reply,
    { kind: 'sent', externalId: null },
    { ...never, now: after(5) },
  )
  expect([reply.status, runAt, reply.sent_at, reply.error]).toEqual(['sent', null, start, null])
  expect(reply.parts.map(({ external_id }) => external_id)).toEqual(['17.5', null])
})

test('a part that may have been sent is never sent again, and those after it go on', () => {
  const reply = carried(['a', 'b'], [unclear, went])
  expect([reply.status, states(reply), reply.error]).toEqual([
    'unknown',
    ['unknown', 'sent'],
    'no answer',
  ])
  expect(beginReply(reply, never).part).toBeNull()
})

test('a part whose process died may have been sent', () => {
  const dead = resumeReply(opened(['a', 'b']), { ...never, now: after(1) })
  expect(states(dead)).toEqual(['unknown', 'queued'])
  expect(beginReply(dead, never).part).toBe(1)
})

test('a message that the provider declines is not tried again, and those after it are left out', () => {
  const reply = carried(['a', 'b', 'c'], [went, declined])
  expect([reply.status, states(reply), reply.error]).toEqual([
    'failed',
    ['sent', 'failed', 'failed'],
    'too long',
  ])
})

test('a refusal of the connection leaves the part to be sent once the connection works', () => {
  const refused = afterSend(
    opened(['a']),
    { kind: 'refused', error: 'token revoked', of: 'connection' },
    never,
  )
  expect([refused.reply.status, states(refused.reply), refused.reply.error]).toEqual([
    'queued',
    ['queued'],
    'token revoked',
  ])
  expect([refused.runAt, refused.reply.tries]).toEqual([after(2_000), 1])
})

test('an orderly stop changes nothing', () => {
  const before = formParts(replyOf(), ['a'])
  const { reply, runAt } = afterSend(beginReply(before, never).reply, { kind: 'stopped' }, never)
  expect([reply, runAt]).toEqual([before, start])
})

describe('a provider that tells repeated requests apart', () => {
  test('gets what is in doubt again, under the same id', () => {
    const going = afterSend(opened(['a'], repeatable), unclear, repeatable)
    expect([going.reply.status, going.runAt]).toEqual(['queued', after(2_000)])
    const again = beginReply(going.reply, { ...repeatable, now: after(2_000) })
    expect([again.part, again.reply.parts[0]!.tried_at]).toEqual([0, start.toISOString()])
    expect(afterSend(again.reply, went, repeatable).reply).toMatchObject({
      status: 'sent',
      parts: [{ in_doubt: false }],
    })
  })

  test('but not when it has forgotten the id: then it stays in doubt', () => {
    const { reply } = afterSend(opened(['a', 'b'], repeatable), unclear, repeatable)
    const late = beginReply(reply, { ...repeatable, now: after(HOUR) })
    expect([states(late.reply), late.part]).toEqual([['unknown', 'sending'], 1])
  })

  test('what was in doubt once is never called unsent', () => {
    let { reply } = afterSend(opened(['a'], repeatable), unclear, repeatable)
    let [now, times] = [after(2_000), 1]
    while (reply.status === 'queued' && times < 20) {
      const at = { ...repeatable, now }
      const going = afterSend(beginReply(reply, at).reply, unsent, at)
      ;({ reply } = going)
      now = going.runAt ?? now
      times++
    }
    expect([reply.status, times]).toEqual(['unknown', retryLimits.tries])
    const declinedLater = afterSend(
      beginReply(afterSend(opened(['a'], repeatable), unclear, repeatable).reply, repeatable).reply,
      declined,
      repeatable,
    )
    expect(declinedLater.reply.status).toBe('unknown')
  })
})

test('a reply has a most number of parts, and says that there is more', () => {
  const { parts } = formParts(replyOf(), Array(replyLimits.parts + 5).fill('x'))
  expect(parts).toHaveLength(replyLimits.parts)
  expect(parts.at(-1)!.text).toContain('too long for this channel')
})

test('it has the same parts whenever it is formed', () => {
  const once = formParts(replyOf(), ['a'])
  expect(formParts(once, ['b'])).toBe(once)
})

test('texts that a database cannot keep are made fit for it', () => {
  const reply = newReply(
    { ...ids, recipient: 'x\0', reply_to: {}, text: 'a\0\ud800' },
    { why: null, now: start },
  )
  expect([reply.text, reply.recipient]).toEqual(['a\ufffd', 'x'])
  expect(carried(['a'], [{ kind: 'unknown', error: `\0${'e'.repeat(1_000)}` }]).error).toHaveLength(
    500,
  )
})

/**
 * Any run of outcomes, with deaths in between: nothing goes out twice that may have gone out once.
 */
test('whatever happens, no part is sent twice', () => {
  const kinds: (PartOutcome | 'died')[] = [
    went,
    unsent,
    unclear,
    declined,
    { kind: 'stopped' },
    'died',
  ]
  for (let seed = 1; seed <= 2_000; seed++) {
    let random = seed
    const next = () => {
      random = (random * 48_271) % 2_147_483_647
      return random
    }
    let reply = formParts(replyOf(), ['a', 'b', 'c'])
    const mayHaveGone = [0, 0, 0]
    let now = start
    for (let step = 0; step < 60; step++) {
      const at = { ...never, now }
      const { reply: going, part } = beginReply(resumeReply(reply, at), at)
      if (part === null) {
        reply = going
        break
      }
      const outcome = kinds[next() % kinds.length]!
      if (outcome === 'died' || outcome.kind === 'sent' || outcome.kind === 'unknown')
        mayHaveGone[part]!++
      if (outcome === 'died') {
        reply = going
        continue
      }
      const settled = afterSend(going, outcome, at)
      ;({ reply } = settled)
      now = settled.runAt ?? now
    }
    expect(Math.max(...mayHaveGone)).toBeLessThanOrEqual(1)
    expect(reply.status).not.toBe('sending')
  }
})

test('a reply whose recipient is gone is discarded, unless some of it was sent or may have been: that stays as it is, and the rest is not sent', () => {
  const untouched = [replyOf(), formParts(replyOf(), ['a', 'b']), carried(['a', 'b'], [unsent])]
  for (const before of untouched) {
    const { status, parts, sent_at, error } = withdrawn(before, start)
    expect([status, parts, sent_at, error]).toEqual([
      'discarded',
      before.parts,
      null,
      expect.stringContaining('no longer linked'),
    ])
  }
  const partly = withdrawn(carried(['a', 'b', 'c'], [went]), start)
  expect([partly.status, states(partly), partly.sent_at]).toEqual([
    'failed',
    ['sent', 'failed', 'failed'],
    start,
  ])
  const inDoubt = withdrawn(carried(['a', 'b'], [unclear], repeatable), start)
  expect([inDoubt.status, states(inDoubt)]).toEqual(['failed', ['unknown', 'failed']])
  expect(inDoubt.error).toContain('no longer linked')
})
