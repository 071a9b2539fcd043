/** What is sent of an engagement is what was approved, and what becomes of it. */
import { describe, expect, test } from 'bun:test'
import { engagementStatuses } from '#contract/records/growth/engagement'
import type { Engagement } from '#domain/growth/drafting/engagement'
import { approveEngagement } from '#domain/growth/drafting/engagement-moves'
import { engagement as moves } from '#domain/growth/sending/engagement'
import { cleanRead, hit } from '#domain/growth/sending/reconcile'
import { bindAccount, claim, doubt, type SendOutcome, settle } from '#domain/growth/sending/send'
import { sendTimes } from '#domain/growth/sending/times'
import { errorOf } from '#test/domain/errors'
import { approval, bound, drafted, inState, made, now } from '#test/domain/growth/engagements'
import { ACCOUNT, at, attemptWith } from '#test/domain/records'

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
    expect(bindAccount(moves, approved, { ...claiming, accountExternalId: 'other' })).toBe(
      'approval_stale',
    )
  })

  test('takes an edited body for replies and quotes, within the limit', () => {
    expect(approveEngagement(drafted, { ...approval, body: 'Edited.' }).body).toBe('Edited.')
    expect(errorOf(() => approveEngagement(drafted, { ...approval, body: ' ' })).message).toBe(
      'body is empty',
    )
    expect(
      errorOf(() => approveEngagement(drafted, { ...approval, body: 'x'.repeat(281) })).code,
    ).toBe('invalid_input')
    const like = made({ action: 'like', body: null }).engagement
    expect(errorOf(() => approveEngagement(like, { ...approval, body: 'x' })).code).toBe(
      'invalid_input',
    )
  })
})

describe('the machine', () => {
  const executing = bound({ status: 'executing' })
  const outcomes: [SendOutcome, Partial<Engagement>, string][] = [
    [
      { kind: 'posted', externalId: '7', url: null },
      { status: 'executed', external_id: '7', executed_at: now },
      'done',
    ],
    [{ kind: 'refused', reason: 'no' }, { status: 'execute_failed', last_error: 'no' }, 'done'],
    [
      { kind: 'not_applied', reason: 'rate_limited', detail: '' },
      { status: 'approved', last_error: 'rate_limited' },
      'done',
    ],
    [
      { kind: 'disconnected', reason: 'gone' },
      { status: 'approved', last_error: 'x_not_connected' },
      'done',
    ],
    [
      { kind: 'unknown', reason: '502' },
      { status: 'execute_unconfirmed', review: false, last_error: '502' },
      'reconcile',
    ],
    [{ kind: 'unsent' }, { status: 'executing' }, 'again'],
  ]
  test.each(outcomes)('%j: %j, then %s', (outcome, expected, next) => {
    const settled = settle(
      {
        moves,
        record: executing,
        attempt: attemptWith({ sent_text: executing.body }),
        tries: 0,
        now,
        times: sendTimes,
      },
      outcome,
    )
    expect(settled.record).toEqual({ ...executing, ...expected, updated_at: now })
    expect([settled.next.kind, settled.events]).toEqual([next as never, []])
  })

  test('a doubt ends with a find, or goes to review and asks a person once', () => {
    const sent = {
      moves,
      record: executing,
      attempt: attemptWith({ sent_text: executing.body }),
      now,
      times: sendTimes,
    }
    const { record, attempt: open } = doubt(sent, { reason: '502', cause: 'server_error' })
    const read = { ...sent, record, attempt: open, now: at(60_000) }
    expect(hit(read, { externalId: '7', url: null }).record.status).toBe('executed')
    const looked = cleanRead({
      ...read,
      attempt: { ...open, clean_reads: sendTimes.cleanReads - 1 },
    })
    expect(looked.record).toMatchObject({ status: 'execute_unconfirmed', review: true })
    expect(looked.events).toEqual([
      {
        type: 'growth.approval.requested',
        data: { kind: 'engagement_review', engagement_id: 'engagement-1' },
      },
    ])
  })

  test('an engagement changed since its approval goes back to drafted', () => {
    expect(moves.returned(executing, 'approval_stale', now).record).toMatchObject({
      status: 'drafted',
      approved_hash: null,
      account_external_id: null,
    })
  })

  test.each(engagementStatuses.map((status) => [status]))(
    '%s: nothing is claimed without a request from a person',
    (status) => {
      const trying = () =>
        claim(moves, inState(status), { accountExternalId: ACCOUNT, origin: 'manual', now })
      if (status === 'executing') expect(trying()).toMatchObject({ status: 'executing' })
      else expect(errorOf(trying).code).toBe('conflict')
      expect(
        errorOf(() =>
          claim(moves, inState(status), { accountExternalId: ACCOUNT, origin: 'automatic', now }),
        ).code,
      ).toBe('conflict')
    },
  )
})
