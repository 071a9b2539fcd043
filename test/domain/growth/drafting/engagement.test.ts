import { describe, expect, test } from 'bun:test'
import {
  contentOf,
  type EngageAction,
  type Engagement,
  type EngagementStatus,
  engagementState,
  engagementStatuses,
  failedEngagement,
  newEngagement,
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
import { contentHash } from '#domain/growth/drafting/item'
import { engagement as moves } from '#domain/growth/sending/engagement'
import { cleanRead, hit } from '#domain/growth/sending/reconcile'
import { bindAccount, claim, doubt, type SendOutcome, settle } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { errorOf } from '#test/domain/errors'
import { ACCOUNT, at, attemptWith } from '#test/domain/records'

const now = at(5_000)
const rule = { measure: (text: string) => text.length, maxLength: 280 }
const post = { network: 'sandbox', post_id: '42', post_url: null, post_author: 'lena', post_text: 'Well?', addresses_us: true }
const wish = {
  ...post,
  action: 'reply' as EngageAction,
  instruction: null as string | null,
  body: 'Well.' as string | null,
  signal_id: null,
}
const made = (changes: Partial<typeof wish> = {}) => newEngagement('engagement-1', { ...wish, ...changes }, { rule, by: null, now: at() })

const drafted = made().engagement
const bound = (changes: Partial<Engagement>): Engagement => ({
  ...drafted,
  account_external_id: ACCOUNT,
  approved_hash: contentHash(contentOf(drafted), ACCOUNT),
  ...changes,
})

const stateNames = [...engagementStatuses, 'in review'] as const
type StateName = (typeof stateNames)[number]
const inState = (state: StateName): Engagement =>
  state === 'in review' ? bound({ status: 'execute_unconfirmed', review: true }) : bound({ status: state })

const by = { kind: 'person', id: 'ada' } as const
const approval = { ...rule, body: undefined, accountExternalId: ACCOUNT, by, now }
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
  drafted: { approve: 'approved', reject: 'rejected', edit: 'drafted', 'mark done': 'executed', delete: 'drafted' },
  failed: { delete: 'failed' },
  approved: { execute: 'executing', edit: 'drafted', reopen: 'drafted', 'mark done': 'executed', delete: 'drafted' },
  rejected: { reopen: 'drafted', delete: 'rejected' },
  execute_failed: { execute: 'executing', reject: 'rejected', reopen: 'drafted', 'mark done': 'executed', delete: 'execute_failed' },
  execute_unconfirmed: { 'mark done': 'executed' },
  'in review': { confirm: 'executed', reject: 'rejected', 'mark done': 'executed' },
}

describe('the state table', () => {
  const cells = stateNames.flatMap((state) =>
    (Object.keys(commands) as Command[]).map((command) => [state, command, legal[state]?.[command] ?? '409'] as const),
  )
  test.each(cells)('%s, %s: %s', (state, command, cell) => {
    const engagement = inState(state)
    if (cell === '409') {
      const error = errorOf(() => commands[command](engagement))
      expect([error.code, error.status]).toEqual(['conflict', 409])
      expect(error.message).toStartWith(`cannot ${command}: the engagement is ${engagementState(engagement)}`)
      return
    }
    expect(commands[command](engagement)).toMatchObject({ status: cell, review: false, updated_at: now })
  })

  test.each(stateNames.map((state) => [state]))('%s has a name of its own', (state) => {
    expect(engagementState(inState(state))).toBe(state === 'in review' ? 'execute_unconfirmed (in review)' : state)
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
    expect(twice).toMatchObject({ body: 'Best.', revision: 3, original_body: 'Well.', written_at: at(9_000) })
  })

  test('is the same to an edit that changes nothing, and only where an edit is possible', () => {
    const [same, other] = [
      { ...rule, body: 'Well.', by, now },
      { ...rule, body: 'Better.', by, now },
    ]
    for (const status of ['drafted', 'approved', 'executing'] as const)
      expect([isSameText(bound({ status }), same), isSameText(bound({ status }), other)]).toEqual([true, false])
    expect(isSameText(bound({ status: 'executed' }), same)).toBe(false)
  })

  test('that may have been sent is not deleted', () => {
    expect(errorOf(() => removedEngagement(drafted, { wasSent: true, now })).message).toStartWith('cannot delete: an earlier attempt')
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
    ['quote', 'x'.repeat(281), 'body is 281 characters long as the network counts; the maximum is 280'],
  ] as const)('of a %s cannot become %j', (action, body, message) => {
    const { engagement } = made({ action, body: action === 'like' ? null : 'Well.' })
    expect(errorOf(() => editEngagement(engagement, { ...rule, body, by, now })).message).toBe(message)
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
    expect(engagement).toMatchObject({ status, body, action, approved_hash: null, executed_at: null })
    expect(told).toHaveLength(events)
  })

  test.each([
    ['like', { body: 'x' }],
    ['repost', { instruction: 'x' }],
    ['reply', { body: '\n ' }],
    ['quote', { body: 'x'.repeat(281) }],
  ] as const)('%s with %j is refused', (action, changes) => {
    expect(errorOf(() => made({ action, body: null, ...changes })).code).toBe('invalid_input')
  })

  test('is drafted by a person or the drafter, or fails with a code', () => {
    const queued = made({ body: null }).engagement
    const usage = { input_tokens: 1, output_tokens: 2, cost_micros: 3 }
    const written = writtenEngagement(queued, { body: 'Words.', rationale: 'Because.' }, { model: 'm', usage, now })
    expect(written.record).toEqual({
      ...queued,
      ...{ status: 'drafted', body: 'Words.', rationale: 'Because.', model: 'm', usage, written_at: now, updated_at: now },
    })
    expect(written.events).toEqual([
      { type: 'growth.approval.requested', data: { kind: 'engagement', engagement_id: 'engagement-1', action: 'reply' } },
    ])
    const failed = failedEngagement(queued, 'cancelled', { now })
    expect(failed).toEqual({ record: { ...queued, status: 'failed', error: 'cancelled', updated_at: now }, events: [], refund: [] })
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
    expect([error.code, error.message]).toEqual(['conflict', 'x_like_selfserve_removed: by hand only: https://x.com/i/status/42'])
    expect(error.details).toEqual([
      { path: 'action', message: 'x_like_selfserve_removed' },
      { path: 'link', message: 'https://x.com/i/status/42' },
    ])
    expect(errorOf(() => requireAllowed({ ...refused, link: null })).message).toBe('x_like_selfserve_removed: by hand only')
    expect(() => requireAllowed({ allowed: true })).not.toThrow()
  })
})

describe('approval', () => {
  test.each([
    ['other words', { body: 'Other.' }],
    ['another post', { post_id: '43' }],
    ['another action', { action: 'quote' as const }],
  ])('is bound to the account and to all that is sent: not valid for %s', (_, changes) => {
    const approved = approveEngagement(drafted, approval)
    const claiming = { accountExternalId: ACCOUNT, now }
    expect(bindAccount(moves, approved, claiming)).toMatchObject({ status: 'executing' })
    expect(bindAccount(moves, { ...approved, ...changes }, claiming)).toBe('approval_stale')
    expect(bindAccount(moves, approved, { ...claiming, accountExternalId: 'other' })).toBe('approval_stale')
  })

  test('takes an edited body for replies and quotes, within the limit', () => {
    expect(approveEngagement(drafted, { ...approval, body: 'Edited.' }).body).toBe('Edited.')
    expect(errorOf(() => approveEngagement(drafted, { ...approval, body: ' ' })).message).toBe('body is empty')
    expect(errorOf(() => approveEngagement(drafted, { ...approval, body: 'x'.repeat(281) })).code).toBe('invalid_input')
    const like = made({ action: 'like', body: null }).engagement
    expect(errorOf(() => approveEngagement(like, { ...approval, body: 'x' })).code).toBe('invalid_input')
  })
})

describe('the machine', () => {
  const executing = bound({ status: 'executing' })
  const outcomes: [SendOutcome, Partial<Engagement>, string][] = [
    [{ kind: 'posted', externalId: '7', url: null }, { status: 'executed', external_id: '7', executed_at: now }, 'done'],
    [{ kind: 'refused', reason: 'no' }, { status: 'execute_failed', last_error: 'no' }, 'done'],
    [{ kind: 'not_applied', reason: 'rate_limited', detail: '' }, { status: 'approved', last_error: 'rate_limited' }, 'done'],
    [{ kind: 'disconnected', reason: 'gone' }, { status: 'approved', last_error: 'x_not_connected' }, 'done'],
    [{ kind: 'unknown', reason: '502' }, { status: 'execute_unconfirmed', review: false, last_error: '502' }, 'reconcile'],
    [{ kind: 'unsent' }, { status: 'executing' }, 'again'],
  ]
  test.each(outcomes)('%j: %j, then %s', (outcome, expected, next) => {
    const settled = settle(
      { moves, record: executing, attempt: attemptWith({ sent_text: executing.body }), tries: 0, now, times: sendTimes },
      outcome,
    )
    expect(settled.record).toEqual({ ...executing, ...expected, updated_at: now })
    expect([settled.next.kind, settled.events]).toEqual([next as never, []])
  })

  test('a doubt ends with a find, or goes to review and asks a person once', () => {
    const sent = { moves, record: executing, attempt: attemptWith({ sent_text: executing.body }), now, times: sendTimes }
    const { record, attempt: open } = doubt(sent, { reason: '502', cause: 'server_error' })
    const read = { ...sent, record, attempt: open, now: at(60_000) }
    expect(hit(read, { externalId: '7', url: null }).record.status).toBe('executed')
    const looked = cleanRead({ ...read, attempt: { ...open, clean_reads: sendTimes.cleanReads - 1 } })
    expect(looked.record).toMatchObject({ status: 'execute_unconfirmed', review: true })
    expect(looked.events).toEqual([
      { type: 'growth.approval.requested', data: { kind: 'engagement_review', engagement_id: 'engagement-1' } },
    ])
  })

  test('an engagement changed since its approval goes back to drafted', () => {
    expect(moves.returned(executing, 'approval_stale', now).record).toMatchObject({
      status: 'drafted',
      approved_hash: null,
      account_external_id: null,
    })
  })

  test.each(engagementStatuses.map((status) => [status]))('%s: nothing is claimed without a request from a person', (status) => {
    const trying = () => claim(moves, inState(status), { accountExternalId: ACCOUNT, origin: 'manual', now })
    if (status === 'executing') expect(trying()).toMatchObject({ status: 'executing' })
    else expect(errorOf(trying).code).toBe('conflict')
    expect(errorOf(() => claim(moves, inState(status), { accountExternalId: ACCOUNT, origin: 'automatic', now })).code).toBe('conflict')
  })
})
