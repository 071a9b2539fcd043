import { describe, expect, test } from 'bun:test'
import { MOST_PARTS } from '#domain/agent/channel/forms/parts'
import {
  afterSend,
  begun,
  type ChannelReply,
  formed,
  MOST_TRIES,
  newReply,
  type PartOutcome,
  resumed,
  waiting,
  withdrawn,
} from '#domain/agent/channel/reply'
import { discarded, sent } from '#domain/agent/channel/reply-decisions'
import { newId } from '#kernel/ids'

const start = new Date('2026-11-23T09:00:00Z')
const after = (ms: number) => new Date(start.getTime() + ms)
const ids = { id: newId(), connection_id: newId(), job_id: newId(), message_id: newId(), conversation_id: newId() }
const replyOf = (more: { why?: string } = {}): ChannelReply =>
  newReply({ ...ids, recipient: 'Ada (U1)', reply_to: { channel: 'C1' }, text: 'Hello' }, { why: null, now: start, ...more })

const never = { now: start, repeatableForMs: 0 }
const HOUR = 3_600_000
const repeatable = { now: start, repeatableForMs: HOUR }
const went: PartOutcome = { kind: 'sent', externalId: '17.5' }
const unsent: PartOutcome = { kind: 'unsent', error: '503' }
const unclear: PartOutcome = { kind: 'unknown', error: 'no answer' }
const declined: PartOutcome = { kind: 'refused', error: 'too long', of: 'message' }
const states = ({ parts }: ChannelReply) => parts.map(({ state }) => state)
const opened = (texts: string[], terms = never) => begun(formed(replyOf(), texts), terms).reply

/** Settles one request after the other, at once. */
const carried = (texts: string[], outcomes: PartOutcome[], terms = never): ChannelReply =>
  outcomes.reduce((reply, outcome) => afterSend(begun(reply, terms).reply, outcome, terms).reply, formed(replyOf(), texts))

test('each part goes by one request, in order', () => {
  const first = begun(formed(replyOf(), ['a', 'b']), never)
  expect([first.part, first.reply.status, states(first.reply)]).toEqual([0, 'sending', ['sending', 'queued']])
  const between = afterSend(first.reply, went, never)
  expect([between.reply.status, between.runAt]).toEqual(['queued', start])
  const second = begun(between.reply, never)
  expect(second.part).toBe(1)
  const { reply, runAt } = afterSend(second.reply, { kind: 'sent', externalId: null }, { ...never, now: after(5) })
  expect([reply.status, runAt, reply.sent_at, reply.error]).toEqual(['sent', null, start, null])
  expect(reply.parts.map(({ external_id }) => external_id)).toEqual(['17.5', null])
})

test('a part that may have been sent is never sent again, and those after it go on', () => {
  const reply = carried(['a', 'b'], [unclear, went])
  expect([reply.status, states(reply), reply.error]).toEqual(['unknown', ['unknown', 'sent'], 'no answer'])
  expect(begun(reply, never).part).toBeNull()
})

test('a part whose process died may have been sent', () => {
  const dead = resumed(opened(['a', 'b']), { ...never, now: after(1) })
  expect(states(dead)).toEqual(['unknown', 'queued'])
  expect(begun(dead, never).part).toBe(1)
})

test('what was provably not sent is tried again, later each time, and fails after the last try', () => {
  let reply = formed(replyOf(), ['a', 'b'])
  const pauses: number[] = []
  let now = start
  for (let tries = 1; tries < MOST_TRIES; tries++) {
    const going = afterSend(begun(reply, { ...never, now }).reply, unsent, { ...never, now })
    pauses.push(going.runAt!.getTime() - now.getTime())
    expect(going.reply.status).toBe('queued')
    ;({ reply } = going)
    now = going.runAt!
  }
  expect(pauses).toEqual([2_000, 8_000, 30_000, 120_000, 600_000, 600_000, 600_000])
  const last = afterSend(begun(reply, { ...never, now }).reply, unsent, { ...never, now })
  expect([last.runAt, last.reply.status, states(last.reply)]).toEqual([null, 'failed', ['failed', 'failed']])
  expect(last.reply.parts.map(({ error }) => error)).toEqual(['503', 'not sent, because the message before it was not'])
})

test('a provider that wants a pause gets it, of a day at most', () => {
  const reply = opened(['a'])
  const pause = (retryAfterMs: number) => afterSend(reply, { ...unsent, retryAfterMs }, never)
  for (const ms of [60_000, HOUR, HOUR + 1, 24 * HOUR]) expect([pause(ms).reply.status, pause(ms).runAt]).toEqual(['queued', after(ms)])
  expect(pause(1_000 * HOUR).runAt).toEqual(after(24 * HOUR))
})

test('a provider that wants a pause again and again is asked for a day', () => {
  let reply = formed(replyOf(), ['a'])
  let now = start
  for (let hour = 1; hour <= 24; hour++) {
    const going = afterSend(begun(reply, { ...never, now }).reply, { ...unsent, retryAfterMs: HOUR }, { ...never, now })
    expect([going.reply.status, going.runAt]).toEqual(['queued', after(hour * HOUR)])
    ;({ reply } = going)
    now = going.runAt!
  }
  const last = afterSend(begun(reply, { ...never, now }).reply, { ...unsent, retryAfterMs: HOUR }, { ...never, now })
  expect([last.reply.status, last.runAt, last.reply.error]).toEqual(['failed', null, '503'])
})

test('a provider that never says when is asked for an hour', () => {
  const late = { ...never, now: after(HOUR) }
  expect(afterSend(opened(['a']), unsent, { ...never, now: after(HOUR - 1) }).reply.status).toBe('queued')
  expect(afterSend(opened(['a']), unsent, late).reply.status).toBe('failed')
})

test('a success forgets the tries before it', () => {
  expect(carried(['a', 'b'], [unsent, unsent, went]).tries).toBe(0)
})

test('a message that the provider declines is not tried again, and those after it are left out', () => {
  const reply = carried(['a', 'b', 'c'], [went, declined])
  expect([reply.status, states(reply), reply.error]).toEqual(['failed', ['sent', 'failed', 'failed'], 'too long'])
})

test('a refusal of the connection leaves the part to be sent once the connection works', () => {
  const refused = afterSend(opened(['a']), { kind: 'refused', error: 'token revoked', of: 'connection' }, never)
  expect([refused.reply.status, states(refused.reply), refused.reply.error]).toEqual(['queued', ['queued'], 'token revoked'])
  expect([refused.runAt, refused.reply.tries]).toEqual([after(2_000), 1])
})

test('an orderly stop changes nothing', () => {
  const before = formed(replyOf(), ['a'])
  const { reply, runAt } = afterSend(begun(before, never).reply, { kind: 'stopped' }, never)
  expect([reply, runAt]).toEqual([before, start])
})

describe('a provider that tells repeated requests apart', () => {
  test('gets what is in doubt again, under the same id', () => {
    const going = afterSend(opened(['a'], repeatable), unclear, repeatable)
    expect([going.reply.status, going.runAt]).toEqual(['queued', after(2_000)])
    const again = begun(going.reply, { ...repeatable, now: after(2_000) })
    expect([again.part, again.reply.parts[0]!.tried_at]).toEqual([0, start.toISOString()])
    expect(afterSend(again.reply, went, repeatable).reply).toMatchObject({ status: 'sent', parts: [{ in_doubt: false }] })
  })

  test('but not when it has forgotten the id: then it stays in doubt', () => {
    const { reply } = afterSend(opened(['a', 'b'], repeatable), unclear, repeatable)
    const late = begun(reply, { ...repeatable, now: after(HOUR) })
    expect([states(late.reply), late.part]).toEqual([['unknown', 'sending'], 1])
  })

  test('what was in doubt once is never called unsent', () => {
    let { reply } = afterSend(opened(['a'], repeatable), unclear, repeatable)
    let [now, times] = [after(2_000), 1]
    while (reply.status === 'queued' && times < 20) {
      const at = { ...repeatable, now }
      const going = afterSend(begun(reply, at).reply, unsent, at)
      ;({ reply } = going)
      now = going.runAt ?? now
      times++
    }
    expect([reply.status, times]).toEqual(['unknown', MOST_TRIES])
    const declinedLater = afterSend(
      begun(afterSend(opened(['a'], repeatable), unclear, repeatable).reply, repeatable).reply,
      declined,
      repeatable,
    )
    expect(declinedLater.reply.status).toBe('unknown')
  })
})

describe('while its connection cannot send', () => {
  test('it waits for longer each time, and for a day at most', () => {
    let [reply, now, times] = [replyOf(), start, 0]
    for (;;) {
      const going = waiting(reply, 'the connection is failing', now)
      ;({ reply } = going)
      if (!going.runAt) break
      expect(going.runAt.getTime()).toBeGreaterThan(now.getTime())
      now = going.runAt
      times++
    }
    expect([reply.status, reply.error, times < 40]).toEqual(['failed', 'the connection is failing', true])
    expect(now.getTime() - start.getTime()).toBeGreaterThanOrEqual(24 * HOUR)
    expect(now.getTime() - start.getTime()).toBeLessThan(26 * HOUR)
  })

  test('a person who sends it again gives it another day', () => {
    const failed = waiting(replyOf(), 'failing', after(25 * HOUR)).reply
    const again = sent(failed, { by: newId(), now: after(25 * HOUR) })
    expect(waiting(again, 'failing', after(26 * HOUR)).runAt).not.toBeNull()
  })
})

describe('a person', () => {
  const by = newId()
  const decision = { by, now: after(5) }
  const held = replyOf({ why: 'A stranger asked.' })

  test('lets a held reply go, as it is or with another text', () => {
    expect(sent(held, decision)).toMatchObject({ status: 'queued', text: 'Hello', decided_by: by, decided_at: after(5) })
    expect(sent(held, { ...decision, text: 'Better' }).text).toBe('Better')
  })

  test('discards it, and then it cannot go', () => {
    const gone = discarded(held, decision)
    expect(gone).toMatchObject({ status: 'discarded', decided_by: by })
    expect(discarded(gone, decision)).toBe(gone)
    expect(() => sent(gone, decision)).toThrow('cannot send: the reply is discarded')
  })

  test('cannot change what goes already', () => {
    const queued = sent(held, decision)
    expect(sent(queued, { ...decision, text: 'Hello' })).toBe(queued)
    expect(() => sent(queued, { ...decision, text: 'Other' })).toThrow('cannot change the text: the reply is queued')
  })

  test('has what failed sent again, and nothing else of the reply', () => {
    const failed = carried(['a', 'b', 'c', 'd'], [went, unclear, declined])
    const again = sent(failed, decision)
    expect([again.status, states(again), again.tries]).toEqual(['queued', ['sent', 'unknown', 'queued', 'queued'], 0])
    const done = [went, went].reduce((reply, outcome) => afterSend(begun(reply, never).reply, outcome, never).reply, again)
    expect([done.status, states(done)]).toEqual(['unknown', ['sent', 'unknown', 'sent', 'sent']])
  })

  test('cannot have sent again what may have been sent', () => {
    expect(() => sent(carried(['a'], [unclear]), decision)).toThrow('cannot send: some of the reply may have arrived')
  })
})

test('a reply has a most number of parts, and says that there is more', () => {
  const { parts } = formed(replyOf(), Array(MOST_PARTS + 5).fill('x'))
  expect(parts).toHaveLength(MOST_PARTS)
  expect(parts.at(-1)!.text).toContain('too long for this channel')
})

test('it has the same parts whenever it is formed', () => {
  const once = formed(replyOf(), ['a'])
  expect(formed(once, ['b'])).toBe(once)
})

test('texts that a database cannot keep are made fit for it', () => {
  const reply = newReply({ ...ids, recipient: 'x\0', reply_to: {}, text: 'a\0\ud800' }, { why: null, now: start })
  expect([reply.text, reply.recipient]).toEqual(['a\ufffd', 'x'])
  expect(carried(['a'], [{ kind: 'unknown', error: `\0${'e'.repeat(1_000)}` }]).error).toHaveLength(500)
})

/** Any run of outcomes, with deaths in between: nothing goes out twice that may have gone out once. */
test('whatever happens, no part is sent twice', () => {
  const kinds: (PartOutcome | 'died')[] = [went, unsent, unclear, declined, { kind: 'stopped' }, 'died']
  for (let seed = 1; seed <= 2_000; seed++) {
    let random = seed
    const next = () => {
      random = (random * 48_271) % 2_147_483_647
      return random
    }
    let reply = formed(replyOf(), ['a', 'b', 'c'])
    const mayHaveGone = [0, 0, 0]
    let now = start
    for (let step = 0; step < 60; step++) {
      const at = { ...never, now }
      const { reply: going, part } = begun(resumed(reply, at), at)
      if (part === null) {
        reply = going
        break
      }
      const outcome = kinds[next() % kinds.length]!
      if (outcome === 'died' || outcome.kind === 'sent' || outcome.kind === 'unknown') mayHaveGone[part]!++
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
  const untouched = [replyOf(), formed(replyOf(), ['a', 'b']), carried(['a', 'b'], [unsent])]
  for (const before of untouched) {
    const { status, parts, sent_at, error } = withdrawn(before, start)
    expect([status, parts, sent_at, error]).toEqual(['discarded', before.parts, null, expect.stringContaining('no longer linked')])
  }
  const partly = withdrawn(carried(['a', 'b', 'c'], [went]), start)
  expect([partly.status, states(partly), partly.sent_at]).toEqual(['failed', ['sent', 'failed', 'failed'], start])
  const inDoubt = withdrawn(carried(['a', 'b'], [unclear], repeatable), start)
  expect([inDoubt.status, states(inDoubt)]).toEqual(['failed', ['unknown', 'failed']])
  expect(inDoubt.error).toContain('no longer linked')
})
