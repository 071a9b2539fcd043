/** What follows a post, when some of it already exists. */
import { expect, test } from 'bun:test'
import { consequences } from '#decisions/growth/follow-up'
import { settledEffects } from '#decisions/growth/send-effects'
import { FIRST_READ_MS } from '#domain/growth/learning/metric-sync'
import { post } from '#domain/growth/sending/post'
import { settle } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import type { RecordStanding } from '#store/growth/standing'
import { approvedItem, at, attemptWith } from '#test/domain/records'

const now = at(3_000)
const firstRead = new Date(now.getTime() + FIRST_READ_MS)
const gate = { now, webhook: null, awaited: [] as string[] } as Gate

const effectsWith = (found?: RecordStanding) => {
  const record = approvedItem({ status: 'publishing' })
  const outcome = { kind: 'posted', externalId: 'post-1', url: null } as const
  const settled = settle(
    { moves: post, record, attempt: attemptWith({}), tries: 0, now, times: sendTimes },
    outcome,
  )
  return settledEffects(
    settled,
    { id: newId(), kind: 'send', payload: { sendable: 'post' } } as unknown as Work,
    found,
  )
}
const workAfter = async (found?: RecordStanding) => {
  const { work = [] } = await consequences(undefined as unknown as Sql, effectsWith(found), {
    gate,
    tenantId: newId(),
  })
  return work.map(({ kind }) => kind)
}

const nothing: RecordStanding = { awaited: false, metrics: null, weekly_report: null }
const all: RecordStanding = { awaited: false, metrics: firstRead, weekly_report: at(-1) }

test('the first post adds a row for its metrics and one for weekly reports', async () => {
  expect(await workAfter(nothing)).toEqual(['metrics', 'weekly_report'])
})

test('of what is in place, nothing is written again', async () => {
  expect(await workAfter(all)).toEqual([])
})

test('metrics that would be read too late are read sooner', async () => {
  expect(await workAfter({ ...all, metrics: new Date(firstRead.getTime() + 1) })).toEqual([
    'metrics',
  ])
})

test('where nobody looked, everything is written', async () => {
  expect(await workAfter()).toEqual(['metrics', 'weekly_report'])
  expect(effectsWith().writes).toHaveLength(3)
})

test('an answer is stored only if a key waits for it', () => {
  expect(effectsWith({ ...all, awaited: true }).writes).toHaveLength(3)
  expect(effectsWith(all).writes).toHaveLength(2)
})
