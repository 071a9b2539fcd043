/** What is sent is what was approved, and from the account that it was approved for. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Item } from '#domain/growth/drafting/item'
import { approve, schedule } from '#domain/growth/drafting/item-moves'
import { post } from '#domain/growth/sending/post'
import { claim } from '#domain/growth/sending/send'
import { ACCOUNT, approvedItem, at, draftedItem, HOUR } from '#test/domain/records'

const now = at(5_000)
const approval = {
  accountExternalId: ACCOUNT as string | null,
  measure: (text: string) => text.length,
  maxLength: 280,
  now,
}
const timing = { postAt: at(2 * HOUR), onMissed: null, now }

describe('what is sent is what was approved', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((body) => body.trim() !== '')
  const account = fc.constantFrom(null, 'account-1', 'account-2', '', 'null')
  const scheduled = (body: string, accountExternalId: string | null) =>
    schedule(
      approve(draftedItem, { ...approval, editedBody: body, accountExternalId, maxLength: 1_000 }),
      timing,
    )
  const claimed = (item: Item, accountExternalId: string) =>
    claim(post, item, { accountExternalId, origin: 'automatic', now })

  test('an unchanged item is claimed for its bound account, or for the default if it has none', () => {
    fc.assert(
      fc.property(text, account, fc.string(), (body, bound, fallback) => {
        const sender = bound ?? fallback
        const next = claimed(scheduled(body, bound), sender)
        expect(next).toMatchObject({
          status: 'publishing',
          body,
          account_external_id: sender,
          post_at: timing.postAt,
        })
      }),
    )
  })

  test('any change of the body makes the approval stale', () => {
    fc.assert(
      fc.property(text, fc.string({ unit: 'grapheme' }), account, (body, other, bound) => {
        fc.pre(other !== body)
        expect(claimed({ ...scheduled(body, bound), body: other }, bound ?? ACCOUNT)).toBe(
          'approval_stale',
        )
      }),
    )
  })

  test('a single character or white space is a change', () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(),
        fc.constantFrom('x', ' ', '\n', '\u200b', '"'),
        (body, place, extra) => {
          const cut = place % (body.length + 1)
          const changed = body.slice(0, cut) + extra + body.slice(cut)
          expect(claimed({ ...scheduled(body, ACCOUNT), body: changed }, ACCOUNT)).toBe(
            'approval_stale',
          )
        },
      ),
    )
  })

  test('any change of the account makes the approval stale', () => {
    fc.assert(
      fc.property(text, account, account, (body, bound, other) => {
        fc.pre(other !== bound)
        expect(
          claimed({ ...scheduled(body, bound), account_external_id: other }, other ?? ACCOUNT),
        ).toBe('approval_stale')
      }),
    )
  })

  test('an item is not sent from an account other than its own', () => {
    expect(claimed(scheduled('Text', 'account-1'), 'account-2')).toBe('approval_stale')
  })

  test('an item claimed for the default account stays bound to it, also when it is tried again', () => {
    const first = claimed(scheduled('Text', null), 'account-1') as Item
    const waiting: Item = { ...first, status: 'approved' }
    expect(claimed(waiting, 'account-2')).toBe('approval_stale')
    expect(claimed(waiting, 'account-1')).toMatchObject({
      status: 'publishing',
      account_external_id: 'account-1',
    })
  })

  test('an item without an approval is stale', () => {
    expect(claimed(approvedItem({ post_at: at(), approved_hash: null }), ACCOUNT)).toBe(
      'approval_stale',
    )
  })
})
