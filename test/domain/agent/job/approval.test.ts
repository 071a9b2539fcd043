/** What people decide about calls: once, in time, about records that still say what was shown. */
import { describe, expect, test } from 'bun:test'
import {
  type Approval,
  approvalUrl,
  decide,
  isSameSubject,
  openFor,
  type Subject,
} from '#domain/agent/job/approval'
import { AppError } from '#kernel/errors'

const at = (minutes: number): Date => new Date(Date.UTC(2026, 10, 22, 8, minutes))
const record = { kind: 'item', id: 'i1', sha256: 'a' }
const subject: Subject = { records: [record], account: 'me', text: 'Late?', sha256: 'b' }

const asked: Approval = {
  id: 'a1',
  job_id: 'j1',
  step_id: 's1',
  conversation_id: null,
  goal: 'Post it',
  tool_name: 'growth_post_item',
  summary: 'Post it now from @me',
  arguments: { id: 'i1' },
  arguments_hash: 'h1',
  subject,
  why: ['publishes'],
  status: 'pending',
  decided_by: null,
  decider: null,
  subject_id: 'i1',
  decided_how: null,
  direct_by: null,
  reason: null,
  edited: false,
  expires_at: at(30),
  decided_at: null,
  created_at: at(0),
  updated_at: at(0),
}
const by = (minutes: number) => ({
  decided_how: 'person' as const,
  decided_by: 'p1',
  now: at(minutes),
})

const refusalOf = (run: () => unknown): string => {
  try {
    run()
  } catch (cause) {
    return AppError.from(cause).message
  }
  return 'none'
}

describe('a decision', () => {
  test('is kept with who made it and when', () => {
    expect(decide(asked, 'approved', by(1))).toEqual({
      ...asked,
      status: 'approved',
      decided_how: 'person',
      decided_by: 'p1',
      decider: { kind: 'person', id: 'p1' },
      decided_at: at(1),
      updated_at: at(1),
    })
    expect(decide(asked, 'rejected', { ...by(1), reason: 'Not today' })).toMatchObject({
      status: 'rejected',
      reason: 'Not today',
    })
  })

  test('taken twice is once, and the other one comes too late', () => {
    for (const [taken, other] of [
      ['approved', 'rejected'],
      ['rejected', 'approved'],
    ] as const) {
      const first = decide(asked, taken, by(1))
      expect(decide(first, taken, { ...by(2), decided_by: 'p2' })).toBe(first)
      expect(refusalOf(() => decide(first, other, by(2)))).toContain(
        `the call was already ${taken}`,
      )
    }
  })

  test('to approve is refused from the end of its time on, to reject is not', () => {
    expect(decide(asked, 'approved', by(29)).status).toBe('approved')
    expect(refusalOf(() => decide(asked, 'approved', by(30)))).toBe(
      'cannot approve: the time to decide is over',
    )
    expect(decide(asked, 'rejected', by(31)).status).toBe('rejected')
  })

  test('that no person took is not taken again, and says what happened', () => {
    const rejected = { ...asked, status: 'rejected', decided_at: at(1) } as const
    const told = (['expiry', 'cancel', 'stale'] as const).map((decided_how) =>
      refusalOf(() => decide({ ...rejected, decided_how }, 'rejected', by(2))),
    )
    expect(told).toEqual([
      'cannot reject: the call was already rejected, because nobody decided in time',
      'cannot reject: the call was already rejected, because its job ended',
      'cannot reject: the call was already rejected',
    ])
  })
})

const subjects: [string, Partial<Subject>][] = [
  ['another account', { account: 'other' }],
  ['no record', { records: [] }],
  ['one record more', { records: [record, record] }],
  ['another record', { records: [{ ...record, id: 'i2' }] }],
  ['a record of another kind', { records: [{ ...record, kind: 'engagement' }] }],
  ['a record that says something else', { records: [{ ...record, sha256: 'c' }] }],
]

test.each(subjects)('%s is another subject', (_, changes) => {
  expect(isSameSubject(subject, { ...subject, ...changes })).toBe(false)
  expect(isSameSubject(subject, structuredClone(subject))).toBe(true)
})

describe('an open approval', () => {
  const call = {
    tool_name: asked.tool_name,
    arguments_hash: asked.arguments_hash,
    subject: structuredClone(subject),
  }

  test('is that of an equal call', () => {
    const other = { ...asked, id: 'a0', arguments_hash: 'h0' }
    expect(openFor([other, asked], call, at(1))).toBe(asked)
    expect(openFor([], call, at(1))).toBeUndefined()
  })

  test('is none for another tool, other arguments, changed records, or once its time is over', () => {
    expect(openFor([asked], { ...call, tool_name: 'growth_approve_item' }, at(1))).toBeUndefined()
    expect(openFor([asked], { ...call, arguments_hash: 'h2' }, at(1))).toBeUndefined()
    expect(
      openFor(
        [asked],
        { ...call, subject: { ...subject, records: [{ ...record, sha256: 'c' }] } },
        at(1),
      ),
    ).toBeUndefined()
    expect(openFor([asked], call, at(30))).toBeUndefined()
  })
})

test('the page of an approval stands under the public URL', () => {
  expect(approvalUrl('https://team.example', 'a1')).toBe('https://team.example/approvals/a1')
})
