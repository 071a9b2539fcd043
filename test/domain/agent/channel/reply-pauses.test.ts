/** How long a reply waits for a provider or for its connection, and when it is given up. */
import { describe, expect, test } from 'bun:test'
import { formParts } from '#domain/agent/channel/reply'
import { releaseReply } from '#domain/agent/channel/reply-decisions'
import { afterSend, beginReply, retryLimits, waiting } from '#domain/agent/channel/reply-sending'
import { newId } from '#kernel/ids'
import {
  after,
  carried,
  HOUR,
  never,
  opened,
  replyOf,
  start,
  states,
  unsent,
  went,
} from './replies.ts'

test('what was provably not sent is tried again, later each time, and fails after the last try', () => {
  let reply = formParts(replyOf(), ['a', 'b'])
  const pauses: number[] = []
  let now = start
  for (let tries = 1; tries < retryLimits.tries; tries++) {
    const going = afterSend(beginReply(reply, { ...never, now }).reply, unsent, { ...never, now })
    pauses.push(going.runAt!.getTime() - now.getTime())
    expect(going.reply.status).toBe('queued')
    ;({ reply } = going)
    now = going.runAt!
  }
  expect(pauses).toEqual([2_000, 8_000, 30_000, 120_000, 600_000, 600_000, 600_000])
  const last = afterSend(beginReply(reply, { ...never, now }).reply, unsent, { ...never, now })
  expect([last.runAt, last.reply.status, states(last.reply)]).toEqual([
    null,
    'failed',
    ['failed', 'failed'],
  ])
  expect(last.reply.parts.map(({ error }) => error)).toEqual([
    '503',
    'not sent, because the message before it was not',
  ])
})

test('a provider that wants a pause gets it, of a day at most', () => {
  const reply = opened(['a'])
  const pause = (retryAfterMs: number) => afterSend(reply, { ...unsent, retryAfterMs }, never)
  for (const ms of [60_000, HOUR, HOUR + 1, 24 * HOUR])
    expect([pause(ms).reply.status, pause(ms).runAt]).toEqual(['queued', after(ms)])
  expect(pause(1_000 * HOUR).runAt).toEqual(after(24 * HOUR))
})

test('a provider that wants a pause again and again is asked for a day', () => {
  let reply = formParts(replyOf(), ['a'])
  let now = start
  for (let hour = 1; hour <= 24; hour++) {
    const going = afterSend(
      beginReply(reply, { ...never, now }).reply,
      { ...unsent, retryAfterMs: HOUR },
      { ...never, now },
    )
    expect([going.reply.status, going.runAt]).toEqual(['queued', after(hour * HOUR)])
    ;({ reply } = going)
    now = going.runAt!
  }
  const last = afterSend(
    beginReply(reply, { ...never, now }).reply,
    { ...unsent, retryAfterMs: HOUR },
    { ...never, now },
  )
  expect([last.reply.status, last.runAt, last.reply.error]).toEqual(['failed', null, '503'])
})

test('a provider that never says when is asked for an hour', () => {
  const late = { ...never, now: after(HOUR) }
  expect(afterSend(opened(['a']), unsent, { ...never, now: after(HOUR - 1) }).reply.status).toBe(
    'queued',
  )
  expect(afterSend(opened(['a']), unsent, late).reply.status).toBe('failed')
})

test('a success forgets the tries before it', () => {
  expect(carried(['a', 'b'], [unsent, unsent, went]).tries).toBe(0)
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
    expect([reply.status, reply.error, times < 40]).toEqual([
      'failed',
      'the connection is failing',
      true,
    ])
    expect(now.getTime() - start.getTime()).toBeGreaterThanOrEqual(24 * HOUR)
    expect(now.getTime() - start.getTime()).toBeLessThan(26 * HOUR)
  })

  test('a person who sends it again gives it another day', () => {
    const failed = waiting(replyOf(), 'failing', after(25 * HOUR)).reply
    const again = releaseReply(failed, { by: newId(), now: after(25 * HOUR) })
    expect(waiting(again, 'failing', after(26 * HOUR)).runAt).not.toBeNull()
  })
})
