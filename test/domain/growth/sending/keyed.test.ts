import { describe, expect, test } from 'bun:test'
import { absent, sentContent } from '#domain/growth/sending/keyed'
import { post } from '#domain/growth/sending/post'
import { doubt } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { at, attemptWith, itemIn, MINUTE } from '#test/domain/records'

const KEY = 'the key'
const looked = (since: number, changes: Parameters<typeof attemptWith>[0] = {}) => ({
  moves: post,
  record: itemIn.publish_unconfirmed,
  attempt: attemptWith({ network_key: KEY, state: 'doubt', doubt_at: at(), ...changes }),
  now: at(since),
  times: sendTimes,
  since: at(),
})

describe('a key that the network does not have', () => {
  test('a scheduled post waits on its schedule again, and its first try is watched', () => {
    const scheduled = { ...looked(20_000), record: { ...looked(0).record, post_at: at(-MINUTE) } }
    const { record, attempt, events, next } = absent(scheduled)
    expect(record).toMatchObject({ status: 'approved', post_at: at(-MINUTE), review: false })
    expect(attempt).toMatchObject({ state: 'returned', ended_at: at(20_000), clean_reads: 1 })
    expect(events).toEqual([])
    expect(next).toEqual({ kind: 'resend', at: at(22_000), watchAt: at(50_000) })
  })

  test('a post that a person asked for now stays asked for', () => {
    expect(absent(looked(20_000)).record).toMatchObject({ status: 'publishing', post_at: null })
  })

  test('each try waits longer than the one before', () => {
    const waits = [1, 2, 3, 4, 9].map((number) => {
      const { next } = absent(looked(20_000, { number }))
      return next.kind === 'resend' && +next.at - +at(20_000)
    })
    expect(waits).toEqual([2_000, 8_000, 30_000, 300_000, 300_000])
  })

  test('ten minutes after the first try, nothing is sent again by itself', () => {
    expect(absent(looked(10 * MINUTE - 1)).next.kind).toBe('resend')
    const { record, events, next } = absent(looked(10 * MINUTE))
    expect(record).toMatchObject({ status: 'approved', last_error: 'network_error_not_posted' })
    expect(events).toMatchObject([{ type: 'growth.item.returned' }])
    expect(next.kind).toBe('reconcile')
  })
})

test('a doubt about a key ends by itself, whatever its cause; others may need a person', () => {
  const sent = looked(0)
  for (const cause of ['no_answer', 'process_stopped', 'unclear_answer'] as const) {
    expect(doubt(sent, { reason: 'gone', cause }).attempt.returns_from).toEqual(at(0))
    const unkeyed = { ...sent, attempt: { ...sent.attempt, network_key: null } }
    expect(doubt(unkeyed, { reason: 'gone', cause }).attempt.returns_from).toBeNull()
  }
})

describe('what makes a key', () => {
  const record = { id: newId(), approved_hash: 'a'.repeat(64) }

  test('is the same for every try of a record as it was approved', () => {
    expect(sentContent({ ...record })).toEqual(sentContent(record))
  })

  test('is another for other content, and for another record', () => {
    const { digest } = sentContent(record)
    expect(sentContent({ ...record, approved_hash: 'b'.repeat(64) }).digest).not.toEqual(digest)
    expect(sentContent({ ...record, id: newId() }).digest).not.toEqual(digest)
  })

  test('has the minute in which the record was made', () => {
    const { at: minute } = sentContent(record)
    expect(minute.getTime() % MINUTE).toBe(0)
    expect(Math.abs(Date.now() - minute.getTime())).toBeLessThan(3 * MINUTE)
  })
})
