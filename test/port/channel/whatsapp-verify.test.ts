/** Whose posts of WhatsApp are believed, and whom they name. */
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { InboundPost } from '#port/channel/channel'
import { useMeta } from '#test/support/channels/adapters'
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
  status,
  whatsAppConnection,
  whatsAppPost,
} from '#test/support/channels/whatsapp-posts'

const { adapter, connection } = await useMeta()
const other = { ...business, phoneNumberId: '106540352242923', appSecret: 'another' }

const read = (body: object, by = connection) => adapter.read(whatsAppPost(body), by)

const signedAs = (value: string | undefined): InboundPost => {
  const post = whatsAppPost(messagesOf(said('x')))
  if (value === undefined) post.headers.delete('x-hub-signature-256')
  else post.headers.set('x-hub-signature-256', value)
  return post
}

describe('signatures', () => {
  test('known HMACs are taken: those of RFC 4231 and of the documentation of an SDK', () => {
    const vectors = [
      [
        'what do ya want for nothing?',
        'Jefe',
        '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      ],
      ['test', 'secret', '0329a06b62cd16b33eb6792be8c60b158d89a2ee3a876fce9a881ebb488c0914'],
    ] as const
    for (const [body, appSecret, hex] of vectors) {
      const headers = new Headers({ 'x-hub-signature-256': `sha256=${hex}` })
      const by = { ...connection, credentials: { appSecret } }
      expect(
        adapter.verify({ url: 'https://x/', headers, body: Buffer.from(body), now: NOW }, by),
      ).toBe(true)
      expect(
        adapter.verify({ url: 'https://x/', headers, body: Buffer.from(`${body} `), now: NOW }, by),
      ).toBe(false)
    }
  })

  test.each([
    ['text in many scripts, which Meta escapes', messagesOf(said('äöå ☕ 漢字 👩‍🚀'))],
    [
      'an image',
      messagesOf(
        of('image', {
          caption: 'a/b',
          mime_type: 'image/jpeg',
          sha256: 'x',
          id: '1003383421387256',
        }),
      ),
    ],
    ['a status', postOf([change({ statuses: [status('wamid.x')] })])],
  ])('taken: %s', (_, body) => {
    expect(adapter.verify(whatsAppPost(body), connection)).toBe(true)
  })

  const hex = (post: InboundPost) =>
    post.headers.get('x-hub-signature-256')!.slice('sha256='.length)
  const good = whatsAppPost(messagesOf(said('x')))

  test.each([
    ['another secret', whatsAppPost(messagesOf(said('x')), { secret: other.appSecret })],
    ['no signature', signedAs(undefined)],
    ['an empty one', signedAs('sha256=')],
    [
      'the old kind, SHA-1',
      signedAs(`sha1=${createHmac('sha1', business.appSecret).update('x').digest('hex')}`),
    ],
    ['one without its kind', signedAs(hex(good))],
    ['one cut short', signedAs(`sha256=${hex(good).slice(1)}`)],
    ['one of another body', { ...good, body: Buffer.from(metaJson(messagesOf(said('pay')))) }],
    [
      'one of the same JSON, written otherwise',
      {
        ...good,
        body: Buffer.from(JSON.stringify(JSON.parse(Buffer.from(good.body).toString()), null, 1)),
      },
    ],
  ])('refused: %s', (_, post) => {
    expect(adapter.verify(post, connection)).toBe(false)
  })
})

describe('routes', () => {
  test('a post names each phone number in it once', () => {
    const body = postOf(
      [change({ messages: [said('a')] }), change({ messages: [said('b')] })],
      [change({ statuses: [] }, other)],
    )
    expect(adapter.route(whatsAppPost(body))).toEqual({
      kind: 'keys',
      keys: [business.phoneNumberId, other.phoneNumberId],
    })
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
      [
        change({ contacts: [pablo], messages: [said('a'), said('b')] }),
        change({ messages: [said('not yours')] }, other),
      ],
      [change({ messages: [said('c')] })],
    )
    expect(read(body).map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    expect(read(body, whatsAppConnection(other)).map(({ text }) => text)).toEqual(['not yours'])
  })
})
