/** What becomes of single records: forged, foreign, of another version, and of every state. */
import { expect, test } from 'bun:test'
import { exportKinds } from '#contract/app/workspace'
import { engagementRecord, engagementStatuses } from '#contract/records/growth/engagement'
import { itemStatuses } from '#contract/records/growth/item'
import { newId } from '#kernel/ids'
import { ImportIds } from '#server/import/ids'
import { isLeft, Judge } from '#server/import/judge'
import type { ImportContext } from '#server/import/kind'
import { importKinds } from '#server/import/kinds'
import { exportedItem, exportedRow } from '#test/support/archives'
import { sampleOf } from '#test/support/database/sample'

const now = new Date()
const tomorrow = new Date(now.getTime() + 86_400_000)

const arrival = (sealed = false): ImportContext => ({
  ids: new ImportIds(),
  sealed,
  now,
  language: 'en',
})

const item = exportedItem
const engagement = (changes: object = {}) =>
  exportedRow(engagementRecord, { ...sampleOf(engagementRecord, 'text', {}), ...changes })

const judged = (kind: string, record: Record<string, unknown>, at = arrival()) =>
  new Judge(at, false).judge({ kind, record })

const arrived = (kind: string, record: Record<string, unknown>, at = arrival()) => {
  const verdict = judged(kind, record, at)
  if (isLeft(verdict)) throw new Error(verdict.reason)
  return verdict.rule.arrives(verdict.row as never, at)
}

const reasonOf = (kind: string, record: Record<string, unknown>, at = arrival()) => {
  const verdict = judged(kind, record, at)
  return isLeft(verdict) ? verdict.reason : undefined
}

const person = { kind: 'person', id: newId() }
const approval = {
  approved_hash: undefined,
  account_external_id: 'acc',
  decision: { what: 'approved', by: person, at: now },
  post_at: tomorrow,
  on_missed: 'post',
  written_by: person,
  external_id: 'p1',
  url: 'https://net.example/p1',
  posted_at: now,
  review: true,
  restored_as_of: now,
  account_id: newId(),
}

test.each([...itemStatuses])(
  'an item that was %s is posted, rejected or a draft here',
  (status) => {
    const row = arrived('item', item({ ...approval, status, reject_reason: 'dry' }))
    const kept = status === 'posted' || status === 'rejected' ? status : 'drafted'
    expect(row).toMatchObject({
      status: kept,
      decision: null,
      post_at: null,
      on_missed: null,
      review: false,
      restored_as_of: null,
      account_id: null,
      written_by: { kind: 'system', id: 'operator' },
      proposed_at: kept === 'drafted' ? tomorrow.toISOString() : null,
      url: kept === 'posted' ? approval.url : null,
      account_external_id: kept === 'posted' ? 'acc' : null,
      reject_reason: kept === 'rejected' ? 'dry' : null,
    })
    expect(Object.keys(row)).not.toContain('approved_hash')
    const wasOut = status === 'publishing' || status === 'publish_unconfirmed'
    expect(String(row.last_error).includes('may have gone out')).toBe(wasOut)
    const deleted = arrived(
      'item',
      item({ status: 'deleted', deleted_status: status, deleted_at: now }),
    )
    expect(deleted).toMatchObject({ status: 'deleted', deleted_status: kept })
  },
)

test.each([...engagementStatuses])('an engagement that was %s is not decided here', (status) => {
  const row = arrived('engagement', engagement({ ...approval, status, body: 'text' }))
  const kept = ['executed', 'rejected', 'failed'].includes(status) ? status : 'drafted'
  expect(row).toMatchObject({ status: kept, decision: null, review: false, restored_as_of: null })
  const bare = arrived('engagement', engagement({ status, action: 'reply', body: null }))
  expect(['executed', 'rejected', 'failed']).toContain(String(bare.status))
})

test('what an item names that is not there is nobody’s', () => {
  const foreign = newId()
  const refs = { batch_id: foreign, resurfaced_from: foreign, experiment_id: foreign, arm: 'a' }
  const row = arrived('item', item({ ...refs, source_kind: 'batch', source_id: foreign }))
  expect(row).toMatchObject({
    batch_id: null,
    resurfaced_from: null,
    experiment_id: null,
    arm: null,
    source_kind: 'system',
    source_id: null,
  })
  const named = arrived('item', item({ source_kind: 'person', source_id: foreign }))
  expect(named).toMatchObject({ source_kind: 'system', source_id: null })
  expect(JSON.stringify([row, named])).not.toContain(foreign)
})

test('an id that comes twice, in any case, is taken once', () => {
  const judge = new Judge(arrival(), false)
  const record = item()
  expect(isLeft(judge.judge({ kind: 'item', record }))).toBe(false)
  const twice = { ...record, id: String(record.id).toUpperCase() }
  expect(judge.judge({ kind: 'item', record: twice })).toMatchObject({
    reason: 'the archive has it twice',
  })
})

test.each([
  ['an unknown field', { approved_hash: 'abc' }],
  ['an id that is none', { id: "1'; drop table item" }],
  ['a number that is none', { revision: 'one' }],
  ['a number out of range', { length: 3_000_000_000 }],
  ['a status that is none', { status: 'sent' }],
  ['a deletion that contradicts itself', { status: 'deleted' }],
  ['a text with NUL', { body: 'a\0b' }],
  ['half a character', { body: 'a\ud800' }],
  ['a text that is too long', { body: 'x'.repeat(200_001) }],
  ['a list that is too long', { learnings: Array(2_001).fill(newId()) }],
  ['tags that no item can have', { tags: Array(21).fill('tag') }],
  ['an address that runs', { url: 'javascript:alert(1)' }],
  ['a time that cannot be', { created_at: '0000-01-01T00:00:00Z' }],
  ['a day that does not exist', { created_at: '2026-02-30T00:00:00Z' }],
])('an item with %s is left out, with the reason', (_, changes) => {
  expect(reasonOf('item', { ...item(), ...changes })).toBeString()
})

test('what is nested without end is left out', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100; depth++) deep = [deep]
  expect(reasonOf('item', item({ stories: deep }))).toContain('nested')
})

test('fields that later versions have added are null', () => {
  const { note: _, ...record } = item()
  expect(arrived('item', record)).toMatchObject({ note: null })
})

test('a kind that this version does not know is left out', () => {
  expect(reasonOf('spell', { id: newId() })).toBe('this version does not know its kind')
})

test('there is a rule for each kind of an export', () => {
  expect(Object.keys(importKinds).toSorted()).toEqual([...exportKinds].toSorted())
  for (const kind of exportKinds) expect(reasonOf(kind, { id: newId() })).toBeString()
})

const memory = {
  id: newId(),
  scope: 'workspace',
  text: 'We call trucks vans.',
  untrusted: false,
  job_id: newId(),
  last_used_at: null,
  created_at: now.toISOString(),
  updated_at: now.toISOString(),
}

test('without our seal, what it says counts as said by people outside', () => {
  expect(arrived('memory', memory)).toMatchObject({ untrusted: true, job_id: null })
  expect(arrived('memory', memory, arrival(true))).toMatchObject({ untrusted: false })
  expect(reasonOf('memory', { ...memory, scope: 'user' })).toContain('person')
})

const schedule = {
  id: newId(),
  at: null,
  pattern: '0 9 * * 1',
  time_zone: 'UTC',
  tools: null,
  status: 'active',
  paused_by: null,
  next_at: now.toISOString(),
  last_at: null,
  missed: 0,
  failures: 0,
  created_at: now.toISOString(),
  goal: 'Post all drafts.',
  conversation_id: newId(),
  last_job_id: newId(),
  taint: [],
  on_behalf: { kind: 'session', id: person.id, personId: person.id },
  goal_by: { kind: 'session', id: person.id, personId: person.id },
  updated_at: now.toISOString(),
}

test('a schedule arrives paused, in nobody’s name', () => {
  const row = arrived('schedule', schedule)
  expect(row).toMatchObject({
    status: 'paused',
    paused_by: 'caller_gone',
    next_at: null,
    goal_by: null,
    conversation_id: null,
    last_job_id: null,
  })
  expect(JSON.stringify(row)).not.toContain(person.id)
  for (const changes of [{ pattern: '* * * * *' }, { pattern: null }, { time_zone: 'Mars/Base' }])
    expect(reasonOf('schedule', { ...schedule, ...changes })).toBeString()
})

test('a rule arrives paused, and one that no product has is left out', () => {
  const rule = {
    id: newId(),
    name: 'Mondays',
    status: 'active',
    trigger: { kind: 'cron', pattern: '0 9 * * 1', time_zone: 'UTC' },
    conditions: [],
    action: { kind: 'draft_batch', count: 1, focus: 'docks' },
    daily_cap: 5,
    day: '2026-11-28',
    used: 5,
    over: 1,
    last_run_at: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  }
  expect(arrived('rule', rule)).toMatchObject({ status: 'paused', used: 0, over: 0 })
  for (const changes of [
    { trigger: { kind: 'cron', pattern: '* * * * *', time_zone: 'UTC' } },
    { trigger: { kind: 'cron' } },
    { action: { kind: 'draft_engagement' } },
    { daily_cap: 5_000 },
  ])
    expect(reasonOf('rule', { ...rule, ...changes })).toBeString()
})

test('more than a workspace can have is refused as a whole', () => {
  const judge = new Judge(arrival(), false)
  const judgeAll = () => {
    for (let count = 0; count <= 10_000; count++)
      judge.judge({ kind: 'item', record: { ...item(), id: newId() } })
  }
  expect(judgeAll).toThrow('more than 10000 drafts')
})
