/** What the posts of WhatsApp become. */
import { describe, expect, test } from 'bun:test'
import { useMeta } from '#test/support/channels/adapters'
import {
  business,
  change,
  messagesOf,
  NOW,
  of,
  postOf,
  said,
  status,
  whatsAppPost,
} from '#test/support/channels/whatsapp-posts'

type Json = Record<string, unknown>

const { adapter, connection } = await useMeta()

const read = (body: object, by = connection) => adapter.read(whatsAppPost(body), by)
const one = (message: Json) => {
  const messages = read(messagesOf(message))
  expect(messages).toHaveLength(1)
  return messages[0]!
}

describe('a message', () => {
  test('tells its sender, by number, and how it is answered for a day', () => {
    const message = said('what is due?', { id: 'wamid.HBgLMTQx' })
    expect(one(message)).toEqual({
      eventIds: ['wamid.HBgLMTQx'],
      sender: { id: '+16505551234', name: 'Pablo M.' },
      thread: '+16505551234',
      isShared: false,
      subject: null,
      text: 'what is due?',
      attachments: [],
      directTo: { to: '16505551234' },
      toFetch: null,
      replyTo: {
        to: '16505551234',
        messageId: 'wamid.HBgLMTQx',
        until: 1_749_416_383_000 + 86_400_000,
      },
    })
  })

  test('of a person who shows no number is known by the id of the user', () => {
    const message = one(said('x', { from: undefined }))
    const id = 'US.13491208655302741918'
    expect(message).toMatchObject({
      sender: { id, name: 'Pablo M.' },
      thread: id,
      replyTo: { recipient: id },
      directTo: { recipient: id },
    })
    expect(message.replyTo).not.toHaveProperty('to')
  })

  test('without a name has none, and never that of somebody else', () => {
    expect(read(postOf([change({ messages: [said('x')] })]))[0]!.sender.name).toBeNull()
    const contacts = [{ profile: { name: 'Eve' }, wa_id: '4912345678' }]
    expect(read(postOf([change({ contacts, messages: [said('x')] })]))[0]!.sender.name).toBeNull()
  })

  test('from the future, or without a time, opens the window no longer than from now', () => {
    for (const timestamp of ['99999999999', undefined, 'soon'])
      expect(one(said('x', { timestamp })).replyTo.until).toBe(NOW + 86_400_000)
    expect(one(said('x', { timestamp: '1749410000' })).replyTo.until).toBe(
      1_749_410_000_000 + 86_400_000,
    )
  })

  test.each<[string, Json, string]>([
    [
      'a button of a template',
      of('button', { text: 'Unsubscribe', payload: 'drop table' }),
      'Unsubscribe',
    ],
    [
      'a reply button',
      of('interactive', {
        type: 'button_reply',
        button_reply: { id: 'cancel-button', title: 'Cancel' },
      }),
      'Cancel',
    ],
    [
      'a row of a list',
      of('interactive', {
        type: 'list_reply',
        list_reply: { id: 'r1', title: 'Express', description: 'Next day' },
      }),
      'Express',
    ],
    [
      'a flow',
      of('interactive', {
        type: 'nfm_reply',
        nfm_reply: { response_json: '{"a":1}', body: 'Sent', name: 'flow' },
      }),
      'Sent',
    ],
    [
      'a place',
      of('location', {
        latitude: 37.44,
        longitude: -122.16,
        name: 'Philz',
        address: '101 Forest Ave',
      }),
      'Location: Philz 101 Forest Ave (37.44, -122.16)',
    ],
    [
      'a contact',
      of('contacts', [
        {
          name: { formatted_name: 'Ada' },
          phones: [{ phone: '+49 1' }],
          emails: [{ email: 'a@b.c' }],
        },
      ]),
      'Contact: Ada, +49 1, a@b.c',
    ],
    [
      'an order',
      of('order', { catalog_id: '1', product_items: [] }),
      '(a message of a kind that cannot be read here)',
    ],
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
      {
        id: '1003383421387256',
        filename: 'prices.md',
        mime_type: 'text/markdown',
        sha256: 'x',
        caption: 'our prices',
      },
      'prices.md',
      'text/markdown',
      'our prices',
    ],
    ['image', { id: '1003383421387256', mime_type: 'image/jpeg' }, 'image', 'image/jpeg', ''],
    [
      'audio',
      { id: '1003383421387256', mime_type: 'audio/ogg; codecs=opus', voice: true },
      'audio',
      'audio/ogg',
      '',
    ],
    [
      'video',
      { id: '1003383421387256', mime_type: 'video/mp4', caption: 'look' },
      'video',
      'video/mp4',
      'look',
    ],
    [
      'sticker',
      { id: '1003383421387256', mime_type: 'image/webp', animated: false },
      'sticker',
      'image/webp',
      '',
    ],
  ])('with a %s', (kind, media, name, mimeType, text) => {
    const attachments = [{ name, mimeType, byteSize: null, ref: { id: '1003383421387256' } }]
    expect(one(of(kind, media))).toMatchObject({ text, attachments })
  })

  test('with a file that has no id cannot be fetched', () => {
    expect(
      one(of('image', { mime_type: 'image/png', id: '../../me' })).attachments[0]!.ref,
    ).toBeNull()
  })

  test('that is passed on comes as a file: it is not the sender’s word', () => {
    const file = {
      name: 'forwarded message.txt',
      mimeType: 'text/plain',
      byteSize: 7,
      ref: { text: 'approve' },
    }
    expect(one(said('approve', { context: { forwarded: true } }))).toMatchObject({
      text: '',
      attachments: [file],
    })
    const document = { id: '7', filename: 'a.md', mime_type: 'text/markdown', caption: 'approve' }
    const often = one(of('document', document, { context: { frequently_forwarded: true } }))
    expect(often).toMatchObject({
      text: '',
      attachments: [{ name: 'a.md', ref: { id: '7' } }, file],
    })
    expect(
      one(said('yes', { context: { from: business.displayPhoneNumber, id: 'wamid.x' } })).text,
    ).toBe('yes')
  })

  test('that cannot be stored becomes text that can', () => {
    expect(one(said('a\u0000b\ud800c')).text).toBe('ab\ufffdc')
  })
})

test.each<[string, Json]>([
  ['a reaction', of('reaction', { message_id: 'wamid.x', emoji: '👍' })],
  [
    'a change of number',
    of('system', {
      body: 'User A changed from 1 to 2',
      new_wa_id: '2',
      type: 'user_changed_number',
    }),
  ],
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
  expect(
    read(
      postOf([
        change({
          statuses: [status('wamid.a', 'sent'), status('wamid.a', 'read')],
          errors: [{ code: 130429 }],
        }),
      ]),
    ),
  ).toEqual([])
})
