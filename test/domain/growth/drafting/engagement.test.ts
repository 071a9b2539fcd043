import { describe, expect, test } from 'bun:test'
import {
  type Engagement,
  type EngagementStatus,
  failedEngagement,
  requireAllowed,
  writtenEngagement,
} from '#domain/growth/drafting/engagement'
import {
  approveEngagement,
  confirmEngagement,
  editEngagement,
  isSameText,
  markDone,
  rejectEngagement,
  removedEngagement,
  reopenEngagement,
  requestExecution,
} from '#domain/growth/drafting/engagement-moves'
import { engagementStates } from '#domain/growth/drafting/engagement-states'
import { errorOf } from '#test/domain/errors'
import {
  approval,
  bound,
  by,
  drafted,
  inState,
  made,
  now,
  rule,
  type StateName,
  stateNames,
} from '#test/domain/growth/engagements'
import { at } from '#test/domain/records'

const commands = {
  approve: (one: Engagement) => approveEngagement(one, approval),
  confirm: (one: Engagement) => confirmEngagement(one, now),
  reject: (one: Engagement) => rejectEngagement(one, 'no', now),
  execute: (one: Engagement) => requestExecution(one, now),
  edit: (one: Engagement) => editEngagement(one, { ...rule, body: 'Better.', by, now }),
  reopen: (one: Engagement) => reopenEngagement(one, now),
  'mark done': (one: Engagement) => markDone(one, undefined, now),
  delete: (one: Engagement) => removedEngagement(one, { wasSent: false, now }),
}
type Command = keyof typeof commands

/** The first four from the API document ("States and transitions"); everything else is 409. */
const legal: Partial<Record<StateName, Partial<Record<Command, EngagementStatus>>>> = {
  drafted: {
    approve: 'approved',
    reject: 'rejected',
    edit: 'drafted',
    'mark done': 'executed',
    delete: 'drafted',
  },
  failed: { delete: 'failed' },
  approved: {
    execute: 'executing',
    edit: 'drafted',
    reopen: 'drafted',
    'mark done': 'executed',
    delete: 'drafted',
  },
  rejected: { reopen: 'drafted', delete: 'rejected' },
  execute_failed: {
    execute: 'executing',
    reject: 'rejected',
    reopen: 'drafted',
    'mark done': 'executed',
    delete: 'execute_failed',
  },
  execute_unconfirmed: { 'mark done': 'executed' },
  'in review': { confirm: 'executed', reject: 'rejected', 'mark done': 'executed' },
}

describe('the state table', () => {
  const cells = stateNames.flatMap((state) =>
    (Object.keys(commands) as Command[]).map(
      (command) => [state, command, legal[state]?.[command] ?? '409'] as const,
    ),
  )
  test.each(cells)('%s, %s: %s', (state, command, cell) => {
    const engagement = inState(state)
    if (cell === '409') {
      const error = errorOf(() => commands[command](engagement))
      expect([error.code, error.status]).toEqual(['conflict', 409])
      expect(error.message).toStartWith(
        `cannot ${command}: the engagement is ${engagementStates.stateOf(engagement)}`,
      )
      return
    }
    expect(commands[command](engagement)).toMatchObject({
      status: cell,
      review: false,
      updated_at: now,
    })
  })

  test.each(stateNames.map((state) => [state]))('%s has a name of its own', (state) => {
    expect(engagementStates.stateOf(inState(state))).toBe(
      state === 'in review' ? 'execute_unconfirmed (in review)' : state,
    )
  })
})

describe('the text of an engagement', () => {
  test('keeps its first version and its author through changes, and a change ends the approval', () => {
    const approved = approveEngagement(drafted, approval)
    const once = editEngagement(approved, { ...rule, body: 'Better.', by, now })
    expect(once).toMatchObject({
      status: 'drafted',
      body: 'Better.',
      revision: 2,
      written_by: by,
      approved_hash: null,
      account_external_id: null,
    })
    const twice = editEngagement(once, { ...rule, body: 'Best.', by, now: at(9_000) })
    expect(twice).toMatchObject({
      body: 'Best.',
      revision: 3,
      original_body: 'Well.',
      written_at: at(9_000),
    })
  })

  test('is the same to an edit that changes nothing, and only where an edit is possible', () => {
    const [same, other] = [
      { ...rule, body: 'Well.', by, now },
      { ...rule, body: 'Better.', by, now },
    ]
    for (const status of ['drafted', 'approved', 'executing'] as const)
      expect([isSameText(bound({ status }), same), isSameText(bound({ status }), other)]).toEqual([
        true,
        false,
      ])
    expect(isSameText(bound({ status: 'executed' }), same)).toBe(false)
  })

  test('that may have been sent is not deleted', () => {
    expect(errorOf(() => removedEngagement(drafted, { wasSent: true, now })).message).toStartWith(
      'cannot delete: an earlier attempt',
    )
  })

  test('is a new version when the approval edits it', () => {
    expect(approveEngagement(drafted, { ...approval, body: 'Edited.' })).toMatchObject({
      revision: 2,
      written_by: by,
      original_body: 'Well.',
    })
    expect(approveEngagement(drafted, approval)).toMatchObject({ revision: 1, written_by: null })
  })

  test.each([
    ['like', 'x', 'body only applies to replies and quotes, not to a like'],
    ['reply', ' ', 'body is empty'],
    [
      'quote',
      'x'.repeat(281),
      'body is 281 characters long as the network counts; the maximum is 280',
    ],
  ] as const)('of a %s cannot become %j', (action, body, message) => {
    const { engagement } = made({ action, body: action === 'like' ? null : 'Well.' })
    expect(errorOf(() => editEngagement(engagement, { ...rule, body, by, now })).message).toBe(
      message,
    )
  })
})

describe('a new engagement', () => {
  test.each([
    ['reply', null, 'queued', 0],
    ['quote', null, 'queued', 0],
    ['reply', 'Words.', 'drafted', 1],
    ['quote', 'Words.', 'drafted', 1],
    ['repost', null, 'drafted', 1],
    ['like', null, 'drafted', 1],
  ] as const)('%s with the body %p is %s', (action, body, status, events) => {
    const { engagement, events: told } = made({ action, body })
    expect(engagement).toMatchObject({
      status,
      body,
      action,
      approved_hash: null,
      executed_at: null,
    })
    expect(told).toHaveLength(events)
  })

  const OF_WORDS = 'only applies to replies and quotes'
  test.each([
    ['like', { body: 'x' }, `body ${OF_WORDS}, not to a like`],
    ['repost', { instruction: 'x' }, `instruction ${OF_WORDS}, not to a repost`],
    ['reply', { body: '\n ' }, 'body is empty'],
    [
      'quote',
      { body: 'x'.repeat(281) },
      'body is 281 characters long as the network counts; the maximum is 280',
    ],
  ] as const)('%s with %j is refused', (action, changes, message) => {
    expect(errorOf(() => made({ action, body: null, ...changes }))).toMatchObject({
      code: 'invalid_input',
      message,
    })
  })

  test('is drafted by a person or the drafter, or fails with a code', () => {
    const queued = made({ body: null }).engagement
    const usage = { input_tokens: 1, output_tokens: 2, cost_micros: 3 }
    const written = writtenEngagement(
      queued,
      { body: 'Words.', rationale: 'Because.' },
      { model: 'm', usage, now },
    )
    expect(written.record).toEqual({
      ...queued,
      status: 'drafted',
      body: 'Words.',
      rationale: 'Because.',
      model: 'm',
      usage,
      written_at: now,
      updated_at: now,
    })
    expect(written.events).toEqual([
      {
        type: 'growth.approval.requested',
        data: { kind: 'engagement', engagement_id: 'engagement-1', action: 'reply' },
      },
    ])
    const failed = failedEngagement(queued, 'cancelled', { now })
    expect(failed).toEqual({
      record: { ...queued, status: 'failed', error: 'cancelled', updated_at: now },
      events: [],
      refund: [],
    })
  })
})

describe('an action that the network forbids', () => {
  const refused = {
    allowed: false,
    reason: 'x_like_selfserve_removed',
    message: 'by hand only',
    link: 'https://x.com/i/status/42',
  } as const

  test('is refused with a reason and a link', () => {
    const error = errorOf(() => requireAllowed(refused))
    expect([error.code, error.message]).toEqual([
      'conflict',
      'x_like_selfserve_removed: by hand only: https://x.com/i/status/42',
    ])
    expect(error.details).toEqual([
      { path: 'action', message: 'x_like_selfserve_removed' },
      { path: 'link', message: 'https://x.com/i/status/42' },
    ])
    expect(errorOf(() => requireAllowed({ ...refused, link: null })).message).toBe(
      'x_like_selfserve_removed: by hand only',
    )
    expect(() => requireAllowed({ allowed: true })).not.toThrow()
  })
})
