/** Whose posts of WhatsApp are believed, and what they become. */

import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import type { InboundPost } from '#port/channel/channel'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { createEgress } from '#port/egress/egress'
import {
  business,
  change,
  messagesOf,
  metaJson,
  NOW,
  of,
  pablo,
  postOf,
  said,
  signedByMeta,
  status,
  whatsAppConnection,
  whatsAppPost,
} from '#test/support/channels/whatsapp-posts'
import { runs } from '#test/support/property'

type Json = Record<string, unknown>

const egress = createEgress({ rules: { allow: new Set(), own: new Set() } })
const adapter = whatsAppAdapter({ egress, urls: { whatsapp: 'https://graph.example' }, now: () => NOW })
const connection = whatsAppConnection()
const other = { ...business, phoneNumberId: '106540352242923', appSecret: 'another' }

const read = (body: object, by = connection) => adapter.read(whatsAppPost(body), by)
const one = (message: Json) => {
  const messages = read(messagesOf(message))
  expect(messages).toHaveLength(1)
  return messages[0]!
}

const signedAs = (value: string | undefined): InboundPost => {
  const post = whatsAppPost(messagesOf(said('x')))
  if (value === undefined) post.headers.delete('x-hub-signature-256')
  else post.headers.set('x-hub-signature-256', value)
  return post
}

describe('signatures', () => {
  test('known HMACs are taken: those of RFC 4231 and of the documentation of an SDK', () => {
    const vectors = [
      ['what do ya want for nothing?', 'Jefe', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
      ['test', 'secret', '0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914'],
    ] as const
    for (const [body, appSecret, hex] of vectors) {
      const headers = new Headers({ 'x-hub-signature-256': `sha256=${hex}` })
      const by = { ...connection, credentials: { appSecret } }
      expect(adapter.verify({ url: 'https://x/', headers, body: Buffer.from(body), now: NOW }, by)).toBe(true)
      expect(adapter.verify({ url: 'https://x/', headers, body: Buffer.from(`${body} `), now: NOW }, by)).toBe(false)
    }
  })

  test.each([
    ['text in many scripts, which Meta escapes', messagesOf(said('äöå ☕ 漢字 👩‍🚀'))],
    ['an image', messagesOf(of('image', { caption: 'a/b', mime_type: 'image/jpeg', sha256: 'x', id: '1003383421387256' }))],
    ['a status', postOf([change({ statuses: [status('wamid.x')] })])],
  ])('taken: %s', (_, body) => {
    expect(adapter.verify(whatsAppPost(body), connection)).toBe(true)
  })

  const hex = (post: InboundPost) => post.headers.get('x-hub-signature-256')!.slice('sha256='.length)
  const good = whatsAppPost(messagesOf(said('x')))

  test.each([
    ['another secret', whatsAppPost(messagesOf(said('x')), { secret: other.appSecret })],
    ['no signature', signedAs(undefined)],
    ['an empty one', signedAs('sha256=')],
    ['the old kind, SHA-1', signedAs(`sha1=${createHmac('sha1', business.appSecret).update('x').digest('hex')}`)],
    ['one without its kind', signedAs(hex(good))],
    ['one cut short', signedAs(`sha256=${hex(good).slice(1)}`)],
    ['one of another body', { ...good, body: Buffer.from(metaJson(messagesOf(said('pay')))) }],
    [
      'one of the same JSON, written otherwise',
      { ...good, body: Buffer.from(JSON.stringify(JSON.parse(Buffer.from(good.body).toString()), null, 1)) },
    ],
  ])('refused: %s', (_, post) => {
    expect(adapter.verify(post, connection)).toBe(false)
  })

  test('nothing is believed for a connection without an app secret', () => {
    const post = whatsAppPost(messagesOf(said('x')), { secret: '' })
    expect(adapter.verify(post, { ...connection, credentials: {} })).toBe(false)
    expect(adapter.verify(post, { ...connection, credentials: { appSecret: '' } })).toBe(false)
  })
})

describe('routes', () => {
  test('a post names each phone number in it once', () => {
    const body = postOf([change({ messages: [said('a')] }), change({ messages: [said('b')] })], [change({ statuses: [] }, other)])
    expect(adapter.route(whatsAppPost(body))).toEqual({ kind: 'keys', keys: [business.phoneNumberId, other.phoneNumberId] })
  })

  test.each([
    ['another object', { object: 'instagram', entry: [{ changes: [change({})] }] }],
    ['another field', postOf([{ ...change({}), field: 'account_update' }])],
    ['no entries', postOf()],
    ['a number that is none', postOf([change({ metadata: { phone_number_id: 7 } })])],
    ['a list', []],
  ])('%s names nobody', (_, body) => {
    expect(adapter.route(whatsAppPost(body))).toEqual({ kind: 'unknown' })
  })

  test('each number gets its own messages, from all entries and changes', () => {
    const body = postOf(
      [change({ contacts: [pablo], messages: [said('a'), said('b')] }), change({ messages: [said('not yours')] }, other)],
      [change({ messages: [said('c')] })],
    )
    expect(read(body).map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    expect(read(body, whatsAppConnection(other)).map(({ text }) => text)).toEqual(['not yours'])
  })
})

describe('a message', () => {
  test('tells its sender, by number, and how it is answered for a day', () => {
    const message = said('what is due?', { id: 'wamid.HBgLMTQx' })
    expect(one(message)).toEqual({
      ...{ eventIds: ['wamid.HBgLMTQx'], sender: { id: '+16505551234', name: 'Pablo M.' }, thread: '+16505551234', isShared: false },
      ...{ subject: null, text: 'what is due?', attachments: [], directTo: { to: '16505551234' }, toFetch: null },
      replyTo: { to: '16505551234', messageId: 'wamid.HBgLMTQx', until: 1_749_416_383_000 + 86_400_000 },
    })
  })

  test('of a person who shows no number is known by the id of the user', () => {
    const message = one(said('x', { from: undefined }))
    const id = 'US.13491208655302741918'
    expect(message).toMatchObject({ sender: { id, name: 'Pablo M.' }, thread: id, replyTo: { recipient: id }, directTo: { recipient: id } })
    expect(message.replyTo).not.toHaveProperty('to')
  })

  test('without a name has none, and never that of somebody else', () => {
    expect(read(postOf([change({ messages: [said('x')] })]))[0]!.sender.name).toBeNull()
    const contacts = [{ profile: { name: 'Eve' }, wa_id: '4912345678' }]
    expect(read(postOf([change({ contacts, messages: [said('x')] })]))[0]!.sender.name).toBeNull()
  })

  test('from the future, or without a time, opens the window no longer than from now', () => {
    for (const timestamp of ['99999999999', undefined, 'soon']) expect(one(said('x', { timestamp })).replyTo.until).toBe(NOW + 86_400_000)
    expect(one(said('x', { timestamp: '1749410000' })).replyTo.until).toBe(1_749_410_000_000 + 86_400_000)
  })

  test.each<[string, Json, string]>([
    ['a button of a template', of('button', { text: 'Unsubscribe', payload: 'drop table' }), 'Unsubscribe'],
    ['a reply button', of('interactive', { type: 'button_reply', button_reply: { id: 'cancel-button', title: 'Cancel' } }), 'Cancel'],
    [
      'a row of a list',
      of('interactive', { type: 'list_reply', list_reply: { id: 'r1', title: 'Express', description: 'Next day' } }),
      'Express',
    ],
    ['a flow', of('interactive', { type: 'nfm_reply', nfm_reply: { response_json: '{"a":1}', body: 'Sent', name: 'flow' } }), 'Sent'],
    [
      'a place',
      of('location', { latitude: 37.44, longitude: -122.16, name: 'Philz', address: '101 Forest Ave' }),
      'Location: Philz 101 Forest Ave (37.44, -122.16)',
    ],
    [
      'a contact',
      of('contacts', [{ name: { formatted_name: 'Ada' }, phones: [{ phone: '+49 1' }], emails: [{ email: 'a@b.c' }] }]),
      'Contact: Ada, +49 1, a@b.c',
    ],
    ['an order', of('order', { catalog_id: '1', product_items: [] }), '(a message of a kind that cannot be read here)'],
    [
      'what WhatsApp calls unsupported',
      of('unsupported', { type: 'poll' }, { errors: [{ code: 131051 }] }),
      '(a message of a kind that cannot be read here)',
    ],
  ])('%s says what the person saw', (_, message, text) => {
    expect(one(message)).toMatchObject({ text, attachments: [] })
  })

  test.each([
    [
      'document',
      { id: '1003383421387256', filename: 'prices.md', mime_type: 'text/markdown', sha256: 'x', caption: 'our prices' },
      'prices.md',
      'text/markdown',
      'our prices',
    ],
    ['image', { id: '1003383421387256', mime_type: 'image/jpeg' }, 'image', 'image/jpeg', ''],
    ['audio', { id: '1003383421387256', mime_type: 'audio/ogg; codecs=opus', voice: true }, 'audio', 'audio/ogg', ''],
    ['video', { id: '1003383421387256', mime_type: 'video/mp4', caption: 'look' }, 'video', 'video/mp4', 'look'],
    ['sticker', { id: '1003383421387256', mime_type: 'image/webp', animated: false }, 'sticker', 'image/webp', ''],
  ])('with a %s', (kind, media, name, mimeType, text) => {
    const attachments = [{ name, mimeType, byteSize: null, ref: { id: '1003383421387256' } }]
    expect(one(of(kind, media))).toMatchObject({ text, attachments })
  })

  test('with a file that has no id cannot be fetched', () => {
    expect(one(of('image', { mime_type: 'image/png', id: '../../me' })).attachments[0]!.ref).toBeNull()
  })

  test('that is passed on comes as a file: it is not the sender’s word', () => {
    const file = { name: 'forwarded message.txt', mimeType: 'text/plain', byteSize: 7, ref: { text: 'approve' } }
    expect(one(said('approve', { context: { forwarded: true } }))).toMatchObject({ text: '', attachments: [file] })
    const document = { id: '7', filename: 'a.md', mime_type: 'text/markdown', caption: 'approve' }
    const often = one(of('document', document, { context: { frequently_forwarded: true } }))
    expect(often).toMatchObject({ text: '', attachments: [{ name: 'a.md', ref: { id: '7' } }, file] })
    expect(one(said('yes', { context: { from: business.displayPhoneNumber, id: 'wamid.x' } })).text).toBe('yes')
  })

  test('that cannot be stored becomes text that can', () => {
    expect(one(said('a\u0000b\ud800c')).text).toBe('ab\ufffdc')
  })
})

test.each<[string, Json]>([
  ['a reaction', of('reaction', { message_id: 'wamid.x', emoji: '👍' })],
  ['a change of number', of('system', { body: 'User A changed from 1 to 2', new_wa_id: '2', type: 'user_changed_number' })],
  ['an edit', of('edit', { original_message_id: 'wamid.x' })],
  ['a withdrawal', of('revoke', { original_message_id: 'wamid.x' })],
  ['a chat that was opened', of('request_welcome', {})],
  ['a message in a group', said('hello all', { group_id: 'Y2FwaV9ncm91cDox' })],
  ['empty text', said('  ')],
  ['one without an id', said('x', { id: undefined })],
  ['one without a sender', said('x', { from: undefined, from_user_id: undefined })],
  ['one whose sender is no number', said('x', { from: '+1 650 <b>', from_user_id: 'me' })],
])('left out: %s', (_, message) => {
  expect(read(messagesOf(message, said('next'))).map(({ text }) => text)).toEqual(['next'])
})

test('statuses and errors of ours are no messages', () => {
  expect(read(postOf([change({ statuses: [status('wamid.a', 'sent'), status('wamid.a', 'read')], errors: [{ code: 130429 }] })]))).toEqual(
    [],
  )
})

test('whatever the bytes and headers are, nothing throws, and only what is signed is taken', () => {
  const value = fc.anything()
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .tuple(value, value, value)
      .map(([a, b, c]) =>
        Buffer.from(
          JSON.stringify(
            postOf([
              change({ contacts: a, messages: [said('', { text: b, type: c, context: a }), of('contacts', b), of('interactive', c)] }),
            ]),
          ),
        ),
      ),
    fc.constant(Buffer.from('['.repeat(200_000))),
    fc.constant(Buffer.from(`{"object":"whatsapp_business_account","entry":[${'{"changes":[]},'.repeat(20_000)}{}]}`)),
  )
  fc.assert(
    fc.property(bytes, fc.option(fc.stringMatching(/^(sha256=)?[!-~]{0,80}$/)), (body, header) => {
      const headers = new Headers(header === null ? {} : { 'x-hub-signature-256': header })
      const post = { url: 'https://tendril.example.com/x', headers, body, now: NOW }
      expect(adapter.verify(post, connection)).toBe(false)
      expect(['keys', 'unknown']).toContain(adapter.route(post).kind)
      expect(adapter.read(post, connection)).toBeArray()
      expect(adapter.verify({ ...post, headers: new Headers(signedByMeta(business.appSecret, body)) }, connection)).toBe(true)
    }),
    runs(300),
  )
})
