import { describe, expect, test } from 'bun:test'
import { newWebhookSecret, signedHeaders } from '#port/webhook'
import { verdictOn } from '../ledger.ts'
import { brokenDeliveries, type Heard, repeatsOf, verifies } from './verdict.ts'

describe('the verdict finds', () => {
  const secret = newWebhookSecret()
  const written = [
    { id: 'a1', tenant_id: 't', subject: 'a' },
    { id: 'a2', tenant_id: 't', subject: 'a' },
    { id: 'b1', tenant_id: 't', subject: 'b' },
  ]
  const heard = (
    id: string,
    { body = JSON.stringify({ id, workspace_id: 't' }), accepted = true, by = secret } = {},
  ): Heard => {
    const headers = signedHeaders({ id, at: new Date(), body }, [by])
    return { headers, body, accepted, verified: verifies({ headers, body }, secret) }
  }
  const broken = (...all: Heard[]) =>
    verdictOn({ counts: {}, never: brokenDeliveries(written, all) }).broken

  test('nothing wrong with events that are repeated before the next of their record', () => {
    const all = [
      heard('a1', { accepted: false }),
      heard('b1'),
      heard('a1'),
      heard('a1'),
      heard('a2'),
      heard('b1'),
    ]
    expect(broken(...all)).toEqual([])
    expect(repeatsOf(all)).toBe(2)
  })

  test.each<[string, Heard[], string]>([
    ['an event that never arrived', [heard('a1'), heard('a2')], 'lost: 1'],
    [
      'an event that was only refused',
      [heard('a1'), heard('a2'), heard('b1', { accepted: false })],
      'lost: 1',
    ],
    [
      'an event that was never written',
      [heard('a1'), heard('a2'), heard('b1'), heard('c1')],
      'heard, yet never written: 1',
    ],
    [
      'another secret',
      [heard('a1', { by: newWebhookSecret() }), heard('a2'), heard('b1')],
      'not signed for its workspace: 1',
    ],
    [
      'an earlier event of a record after a later one',
      [heard('a1'), heard('a2'), heard('a1'), heard('b1')],
      'out of order within a record: 1',
    ],
    [
      'another body under the same id',
      [
        heard('a1'),
        heard('a1', { body: '{"id":"a1","workspace_id":"t","n":2}' }),
        heard('a2'),
        heard('b1'),
      ],
      'sent again with another body, or under an id that is not its own: 1',
    ],
  ])('%s', (_, all, rule) => expect(broken(...all)).toContain(rule))
})
