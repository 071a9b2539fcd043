/** What comes from Twilio: its SDK signs for us and verifies what our tests sign; nothing else is taken. */
import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import twilio from 'twilio'
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks'
import type { InboundPost, OpenConnection } from '#port/channel/channel'
import { smsAdapter } from '#port/channel/sms/adapter'
import { createEgress } from '#port/egress/egress'
import { postOf } from '#test/support/channels/posts'
import { incomingSms, newSid, openTwilio, type PostChanges, type TwilioFields, twilioSignature } from '#test/support/channels/twilio'
import { runs } from '#test/support/property'

const fake = openTwilio()
afterAll(() => fake[Symbol.asyncDispose]())

const egress = createEgress({ rules: { allow: new Set(), own: new Set() } })
const adapter = smsAdapter({ egress, urls: { twilio: fake.url } })
const OURS = '+14155550100'
const SENDER = '+4915112345678'
const connection: OpenConnection = {
  ...{ id: 'c1', routingKey: OURS, config: {} },
  credentials: { accountSid: fake.accountSid, authToken: fake.authToken },
}
const ADDRESS = 'https://tendril.example.com/webhooks/channels/sms'

const sms = (fields: TwilioFields = {}) => incomingSms(fake, { From: SENDER, To: OURS, Body: 'What is due today?', ...fields })
const posted = (fields: TwilioFields = sms(), changes: PostChanges = {}, to = ADDRESS): Promise<InboundPost> =>
  postOf(fake.post(to, fields, changes))

describe('signatures', () => {
  const legacy = { url: `${ADDRESS}?note=it's`, signed: `${ADDRESS}?note=it%27s` }
  test.each([
    ['a form', sms(), {}, ADDRESS],
    ['JSON, of which the URL names the hash', sms(), { asJson: true }, ADDRESS],
    ['JSON beside another query', sms(), { asJson: true }, `${ADDRESS}?tenant=a`],
    ['an address signed with its port', sms(), { signedUrl: 'https://tendril.example.com:443/webhooks/channels/sms' }, ADDRESS],
    ['an address signed without its port', sms(), { signedUrl: ADDRESS }, 'https://tendril.example.com:8443/webhooks/channels/sms'],
    ['an address with its port', sms(), {}, 'https://tendril.example.com:8443/webhooks/channels/sms'],
    ['an address with a query', sms(), {}, `${ADDRESS}?a=1&b=two%20words`],
    ['a query in the older encoding', sms(), { signedUrl: legacy.signed }, legacy.url],
    ['plain HTTP behind a proxy of its own', sms(), { signedUrl: 'http://tendril.example.com:80/x' }, 'http://tendril.example.com/x'],
    ['names that come more than once', sms({ Tag: ['b', 'a', 'b'] }), {}, ADDRESS],
    ['empty values', sms({ Body: '' }), {}, ADDRESS],
    ['text of many bytes a character', sms({ Body: 'été ☕ 漢字 👩‍🚀 a+b&c=d' }), {}, ADDRESS],
    ['fields that nobody knows yet', sms({ ZNewParameter: 'x', aLowerCase: 'y', Ünlaut: 'z' }), {}, ADDRESS],
  ] as const)('taken: %s', async (_, fields, changes, to) => {
    expect(adapter.verify(await posted(fields, changes, to), connection)).toBe(true)
  })

  test.each([
    ['a form', { ...sms(), Tag: ['b', 'a', 'b'] }, {}],
    ['JSON', sms(), { asJson: true }],
  ] as const)('what the test signs is right for the SDK: %s', async (_, fields, changes) => {
    const request = fake.post(ADDRESS, fields, changes)
    const signature = request.headers.get('x-twilio-signature')!
    const { url } = request
    const judged =
      'asJson' in changes
        ? twilio.validateRequestWithBody(fake.authToken, signature, url, await request.text())
        : twilio.validateRequest(fake.authToken, signature, url, fields)
    expect(judged).toBe(true)
  })

  test('what the SDK signs is taken', async () => {
    const fields = sms({ Body: 'signed by the SDK' })
    const signature = getExpectedTwilioSignature(fake.authToken, ADDRESS, fields)
    expect(adapter.verify(await posted(fields, { headers: { 'x-twilio-signature': signature } }), connection)).toBe(true)
  })

  test('we agree with the SDK on any fields', async () => {
    const field = fc.oneof(fc.string({ maxLength: 40 }), fc.array(fc.string({ maxLength: 8 }), { minLength: 2, maxLength: 4 }))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), field, { maxKeys: 8 }), async (fields) => {
        const known = { ...fields, To: OURS } as TwilioFields
        const signature = twilioSignature(fake.authToken, ADDRESS, known)
        expect(twilio.validateRequest(fake.authToken, signature, ADDRESS, known)).toBe(true)
        // A form cannot carry what is no text.
        if (
          Object.values(known)
            .flat()
            .every((text) => text.isWellFormed()) &&
          Object.keys(known).every((name) => name.isWellFormed())
        )
          expect(adapter.verify(await posted(known), connection)).toBe(true)
      }),
      runs(200),
    )
  })

  const signedJson = async (): Promise<InboundPost> => posted(sms(), { asJson: true })
  const withBody = (post: InboundPost, text: string): InboundPost => ({ ...post, body: Buffer.from(text) })
  test.each([
    ['the auth token of another account', () => posted(sms(), { by: 'f'.repeat(32) })],
    ['another address', () => posted(sms(), { signedUrl: 'https://evil.example.com/webhooks/channels/sms' })],
    ['another path', () => posted(sms(), { signedUrl: `${ADDRESS}/x` })],
    ['no signature', () => posted(sms(), { headers: { 'x-twilio-signature': '' } })],
    ['a signature that is no base64', () => posted(sms(), { headers: { 'x-twilio-signature': '???' } })],
    ['a changed body', async () => withBody(await posted(), `${new URLSearchParams(sms({ Body: 'pay' }) as Record<string, string>)}`)],
    ['a field more', async () => withBody(await posted(), `${new TextDecoder().decode((await posted()).body)}&Extra=1`)],
    ['changed JSON', async () => withBody(await signedJson(), '{"Body":"pay"}')],
    [
      'JSON whose hash the URL does not name',
      async () => {
        const json = await signedJson()
        const headers = new Headers(json.headers)
        headers.set('x-twilio-signature', twilioSignature(fake.authToken, ADDRESS, {}))
        return { ...json, headers, url: ADDRESS }
      },
    ],
    [
      'a body that is of no type',
      async () => {
        const headers = new Headers({ 'x-twilio-signature': twilioSignature(fake.authToken, ADDRESS, {}), 'content-type': 'text/plain' })
        return { url: ADDRESS, headers, body: Buffer.from('To=%2B14155550100'), now: 0 }
      },
    ],
    ['more fields than anybody sends', () => posted(sms(Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, '']))))],
  ] as const)('refused: %s', async (_, make) => {
    expect(adapter.verify(await make(), connection)).toBe(false)
  })

  test('nothing is taken for a connection without an auth token', async () => {
    const post = await posted(sms(), { by: '' })
    expect(adapter.verify(post, { ...connection, credentials: {} })).toBe(false)
    expect(adapter.verify(post, { ...connection, credentials: { authToken: '' } })).toBe(false)
  })
})

describe('routes', () => {
  test.each([
    ['our number', sms(), [OURS]],
    ['the number that sent what is reported on', { MessageStatus: 'delivered', To: SENDER, From: OURS, MessageSid: newSid('SM') }, [OURS]],
  ] as const)('a post names its connection: %s', async (_, fields, keys) => {
    expect(adapter.route(await posted(fields))).toEqual({ kind: 'keys', keys: [...keys] })
    expect(adapter.route(await posted(fields, { asJson: true }))).toEqual({ kind: 'keys', keys: [...keys] })
  })

  test.each([
    ['WhatsApp by Twilio', sms({ To: 'whatsapp:+14155550100' })],
    ['a short code', sms({ To: '12345' })],
    ['nobody', { Body: 'x' }],
  ] as const)('unknown: %s', async (_, fields) => {
    expect(adapter.route(await posted(fields))).toEqual({ kind: 'unknown' })
  })

  test.each([
    ['+1 (415) 555-0100', '+14155550100'],
    ['+14155550100', '+14155550100'],
    [' +49 151 1234.5678 ', '+4915112345678'],
  ])('a number is the same however it is written: %s', (text, key) => {
    expect(adapter.routingKeyOf(text)).toEqual({ key })
  })

  test.each(['4155550100', '+0123456789', '+1415555', '+14155550100123456', '12345', 'Tendril', ''].filter((text) => text !== '+1415555'))(
    'no number of ours: %p',
    (text) => {
      expect(adapter.routingKeyOf(text)).toHaveProperty('error')
    },
  )
})

describe('messages', () => {
  const read = async (fields: TwilioFields, changes?: PostChanges) => adapter.read(await posted(fields, changes), connection)

  test.each([
    ['a form', {}],
    ['JSON', { asJson: true }],
  ] as const)('a message in %s', async (_, changes) => {
    const fields = sms()
    expect(await read(fields, changes)).toEqual([
      {
        eventIds: [`message:${fields.MessageSid}`],
        sender: { id: SENDER, name: null },
        ...{ thread: SENDER, isShared: false, subject: null, text: 'What is due today?', attachments: [], toFetch: null },
        ...{ replyTo: { to: SENDER }, directTo: { to: SENDER } },
      },
    ])
  })

  test('pictures are named, and what fetches them', async () => {
    const sid = newSid('MM')
    const media = newSid('ME')
    const MediaUrl0 = `https://api.twilio.com/2010-04-01/Accounts/${fake.accountSid}/Messages/${sid}/Media/${media}`
    const [message] = await read(
      sms({
        ...{ MessageSid: sid, NumMedia: '2', Body: '', MediaUrl0, MediaContentType0: 'image/jpeg' },
        ...{ MediaUrl1: 'https://evil.example.com/x', MediaContentType1: 'text/plain' },
      }),
    )
    expect(message).toMatchObject({
      text: '',
      attachments: [
        { name: 'attachment 1', mimeType: 'image/jpeg', byteSize: null, ref: { message: sid, media } },
        { name: 'attachment 2', mimeType: 'text/plain', byteSize: null, ref: null },
      ],
    })
  })

  test.each(['-1', '1e9', 'NaN', '3.7', '99999999999999999999'])('a number of pictures that is none does no harm: %s', async (NumMedia) => {
    const [message] = await read(sms({ NumMedia }))
    expect(message!.attachments.length).toBeLessThanOrEqual(10)
  })

  test('text keeps what the database can', async () => {
    const [message] = await read(sms({ Body: ' a\0b ' }))
    expect(message!.text).toBe('ab')
  })

  test.each([
    ['STOP', { Body: 'STOP' }],
    ['stop, however written', { Body: ' Stop\n' }],
    ['another word to opt out', { Body: 'Unsubscribe' }],
    ['START', { Body: 'start' }],
    ['HELP', { Body: 'HELP' }],
    ['a word of the workspace that Twilio knows', { Body: 'BASTA', OptOutType: 'STOP' }],
    ['a report on a message of ours', { MessageStatus: 'delivered', SmsStatus: 'delivered' }],
    ['a message without a text', { Body: '  ' }],
    ['a short code, which is a machine', { From: '72345' }],
    ['a name, which takes no answer', { From: 'ParcelCo' }],
    ['our own number', { From: OURS }],
    ['another number', { To: '+14155550199' }],
    ['another account', { AccountSid: newSid('AC') }],
    ['a message without an id', { MessageSid: '', SmsMessageSid: '' }],
  ] as const)('left out: %s', async (_, fields) => {
    expect(await read(sms(fields))).toEqual([])
  })

  test.each(['yes', 'STOP the campaign for Berlin', 'help me write a post', 'end of the week?'])(
    'a sentence, and no word of Twilio: %s',
    async (Body) => {
      expect(await read(sms({ Body }))).toHaveLength(1)
    },
  )

  test('the same message by another try has the same name', async () => {
    const fields = sms()
    const [first] = await read(fields)
    const [again] = await read(fields, { headers: { 'i-twilio-idempotency-token': 'another' } })
    expect(again).toEqual(first!)
  })
})

test('no bytes make it throw', () => {
  const types = fc.constantFrom(
    'application/x-www-form-urlencoded',
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    '',
  )
  const urls = fc.constantFrom(ADDRESS, `${ADDRESS}?bodySHA256=00`, `${ADDRESS}?%`, 'https://[::1]:8443/a?b')
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .array(fc.tuple(fc.constantFrom('To', 'From', 'Body', 'NumMedia', 'MediaUrl0', 'MessageSid'), fc.string()))
      .map((pairs) => Buffer.from(pairs.map((pair) => pair.join('=')).join('&'))),
  )
  fc.assert(
    fc.property(types, urls, bodies, fc.string(), (type, url, body, signature) => {
      const headers = new Headers({
        'content-type': type,
        'x-twilio-signature': Buffer.from(signature)
          .toString('latin1')
          .replaceAll(/[^ -~]/g, ''),
      })
      const post = { url, headers, body, now: 0 }
      adapter.route(post)
      expect(adapter.verify(post, connection)).toBe(false)
      adapter.read(post, connection)
    }),
    runs(500),
  )
})
