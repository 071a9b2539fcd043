/**
 * Whose posts of Mailgun’s routes are believed, as its documentation describes them, and whom they
 * name.
 */
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { InboundPost } from '#port/channel/channel'
import { OURS, useMailgun } from '#test/support/channels/mail'
import type { MailgunPostChanges, RoutedMail } from '#test/support/channels/mailgun'
import { postOf } from '#test/support/channels/posts'

const { fake, adapter, connection } = useMailgun()
const now = Date.parse('2026-11-23T10:00:00Z')
const HOUR = 3_600_000
const ADDRESS = 'https://tendril.example.com/webhooks/channels/email'
const file = { name: 'agenda.md', type: 'text/markdown', bytes: Buffer.from('# Agenda') }

const posted = (mail: RoutedMail = {}, changes: MailgunPostChanges = {}): Promise<InboundPost> =>
  postOf(fake.post(ADDRESS, mail, { at: new Date(now), ...changes }), now)

describe('signatures', () => {
  /**
   * The example of "Securing webhooks": key, timestamp and token make this HMAC-SHA256 in
   * hexadecimal digits.
   */
  test('a signature is the HMAC of the time and the token', async () => {
    const [at, token] = [
      new Date(1_529_006_854_000),
      'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0',
    ]
    const signature = createHmac('sha256', fake.signingKey)
      .update('1529006854')
      .update(token)
      .digest('hex')
    const post = await postOf(fake.post(ADDRESS, {}, { at, token, signature }), at.getTime())
    expect(adapter.verify(post, connection)).toBe(true)
  })

  test.each([
    ['a form', {}, {}],
    ['a form with files', { files: [file] }, {}],
    ['the last try, which has the signature of the first', {}, { at: new Date(now - 8 * HOUR) }],
    ['in five minutes', {}, { at: new Date(now + 300_000) }],
  ] as const)('taken: %s', async (_, mail, changes) => {
    expect(adapter.verify(await posted(mail as unknown as RoutedMail, changes), connection)).toBe(
      true,
    )
  })

  test.each([
    ['another key', {}, { by: 'f'.repeat(32) }],
    ['ten hours ago', {}, { at: new Date(now - 10 * HOUR) }],
    ['in ten minutes', {}, { at: new Date(now + 600_000) }],
    ['no signature', {}, { signature: '' }],
    ['a signature in capitals', {}, { signature: 'F'.repeat(64) }],
    ['no token', {}, { token: '' }],
    ['a token with more than letters and digits', {}, { token: `${'a'.repeat(40)}\n0123456789` }],
    ['files and another key', { files: [file] }, { by: 'f'.repeat(32) }],
  ] as const)('refused: %s', async (_, mail, changes) => {
    expect(adapter.verify(await posted(mail as unknown as RoutedMail, changes), connection)).toBe(
      false,
    )
  })

  test('a part of the time in the token is another signature', async () => {
    const post = await posted({}, { token: 'a'.repeat(50) })
    const text = Buffer.from(post.body).toString()
    const moved = text.replace(/timestamp=(\d{9})(\d)&token=/, 'timestamp=$1&token=$2')
    expect(moved).not.toBe(text)
    expect(adapter.verify({ ...post, body: Buffer.from(moved) }, connection)).toBe(false)
  })
})

describe('routes', () => {
  test.each([
    ['the recipient', { recipient: OURS }, [OURS]],
    ['in capitals', { recipient: 'Agent@Example.com' }, [OURS]],
    ['several recipients', { recipient: `${OURS}, b@example.com` }, [OURS, 'b@example.com']],
    [
      'what follows a +',
      { recipient: 'agent+berlin@example.com' },
      ['agent+berlin@example.com', OURS],
    ],
    ['with files', { files: [file] }, [OURS]],
  ] as const)('a post names its connections: %s', async (_, mail, keys) => {
    expect(adapter.route(await posted(mail as unknown as RoutedMail))).toEqual({
      kind: 'keys',
      keys: [...keys],
    })
  })

  test.each([{ recipient: '' }, { recipient: 'nobody' }])('unknown: %p', async (mail) => {
    expect(adapter.route(await posted(mail))).toEqual({ kind: 'unknown' })
  })
})
