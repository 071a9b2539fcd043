/** What becomes of single records: forged, foreign, of another version, and of every state. */
import { expect, test } from 'bun:test'
import { exportKinds } from '#contract/app/workspace'
import { versionRecord } from '#contract/records/agent/playbook'
import { engagementRecord, engagementStatuses } from '#contract/records/growth/engagement'
import { itemStatuses } from '#contract/records/growth/item'
import { newId } from '#kernel/ids'
import { isLeft, Judge } from '#server/import/judge'
import { importKinds } from '#server/import/kinds'
import { arrivalAt, exportedItem, exportedSample } from '#test/support/archives'

const now = new Date()
const tomorrow = new Date(now.getTime() + 86_400_000)

const arrival = (sealed = false) => arrivalAt(now, sealed)

const item = exportedItem
const engagement = (changes: object) => exportedSample(engagementRecord, changes)

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
  ['an id of the network that no index holds', { external_id: 'x'.repeat(501) }],
  ['a hook that no index holds', { hook: 'é'.repeat(251) }],
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

test.each(['spell', 'constructor', 'toString', '__proto__'])(
  'a record of the kind %s, which this version does not know, is left out',
  (kind) => {
    expect(reasonOf(kind, { id: newId() })).toBe('this version does not know its kind')
  },
)

test.each([
  ['document_passage', { document_id: 'd', number: 3, text: 'text' }, 'd 3'],
  ['agent_event', { job_id: 'j', seq: 0, conversation_id: 'c' }, 'j 0'],
  ['inbound_event', { source_id: 's', event_id: 'e', job_id: null }, 's e'],
  ['agent_module', { name: 'mail', mcp: true }, 'mail'],
  ['member', { person_id: 'p', name: 'Ada' }, 'p'],
  ['invitation', { id: 'i', name: 'Ada', number: 1 }, 'i'],
  ['event', { id: 'x'.repeat(1_000) }, 'x'.repeat(80)],
])('a record of the kind %s that is left out is named', (kind, record, id) => {
  expect(judged(kind, record)).toMatchObject({ id, reason: expect.any(String) })
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

test('without our seal, nobody has decided for a version of a playbook', () => {
  const at = arrival()
  const playbook_id = newId()
  at.ids.add('playbook', playbook_id)
  const author = { ...person, kind: 'session' }
  const decided = { decided_by: author, decided_at: now }
  const given = { playbook_id, author, untrusted: false, ...decided }
  const version = exportedSample(versionRecord, given)
  expect(arrived('playbook_version', version, at)).toMatchObject({
    untrusted: true,
    decided_by: null,
    decided_at: null,
  })
  expect(arrived('playbook_version', version, { ...at, ids: at.ids, sealed: true })).toMatchObject({
    untrusted: false,
    decided_by: { kind: 'system', id: 'operator' },
    decided_at: now.toISOString(),
  })
})

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
