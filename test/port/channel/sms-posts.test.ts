/** Which connection a post of Twilio is for, and the message and files that it holds. */
import { describe, expect, test } from 'bun:test'
import type { InboundPost } from '#port/channel/channel'
import { useTwilio } from '#test/support/channels/adapters'
import { postOf } from '#test/support/channels/posts'
import { newSid, type PostChanges, type TwilioFields } from '#test/support/channels/twilio-posts'

const { fake, adapter, connection, ours: OURS, sender: SENDER, sms } = useTwilio()
const { signal } = new AbortController()
const ADDRESS = 'https://tendril.example.com/webhooks/channels/sms'

const posted = (
  fields: TwilioFields = sms(),
  changes: PostChanges = {},
  to = ADDRESS,
): Promise<InboundPost> => postOf(fake.post(to, fields, changes))

describe('routes', () => {
  test.each([
    ['our number', sms(), [OURS]],
    [
      'the number that sent what is reported on',
      { MessageStatus: 'delivered', To: SENDER, From: OURS, MessageSid: newSid('SM') },
      [OURS],
    ],
  ] as const)('a post names its connection: %s', async (_, fields, keys) => {
    expect(adapter.route(await posted(fields))).toEqual({ kind: 'keys', keys: [...keys] })
    expect(adapter.route(await posted(fields, { asJson: true }))).toEqual({
      kind: 'keys',
      keys: [...keys],
    })
  })

  test.each([
    ['WhatsApp by Twilio', sms({ To: 'whatsapp:+14155550100' })],
    ['a short code', sms({ To: '12345' })],
    ['nobody', { Body: 'x' }],
  ] as const)('unknown: %s', async (_, fields) => {
    expect(adapter.route(await posted(fields))).toEqual({ kind: 'unknown' })
  })
})

describe('messages', () => {
  const read = async (fields: TwilioFields, changes?: PostChanges) =>
    adapter.read(await posted(fields, changes), connection)

  test.each([
    ['a form', {}],
    ['JSON', { asJson: true }],
  ] as const)('a message in %s', async (_, changes) => {
    const fields = sms()
    expect(await read(fields, changes)).toEqual([
      {
        eventIds: [`message:${fields.MessageSid}`],
        sender: { id: SENDER, name: null },
        thread: SENDER,
        isShared: false,
        subject: null,
        text: 'What is due today?',
        attachments: [],
        toFetch: null,
        replyTo: { to: SENDER },
        directTo: { to: SENDER },
      },
    ])
  })

  test('pictures are named, and what fetches them', async () => {
    const sid = newSid('MM')
    const media = newSid('ME')
    const MediaUrl0 = `https://api.twilio.com/2010-04-01/Accounts/${fake.accountSid}/Messages/${sid}/Media/${media}`
    const [message] = await read(
      sms({
        MessageSid: sid,
        NumMedia: '2',
        Body: '',
        MediaUrl0,
        MediaContentType0: 'image/jpeg',
        MediaUrl1: 'https://evil.example.com/x',
        MediaContentType1: 'text/plain',
      }),
    )
    expect(message).toMatchObject({
      text: '',
      attachments: [
        {
          name: 'attachment 1',
          mimeType: 'image/jpeg',
          byteSize: null,
          ref: { message: sid, media },
        },
        { name: 'attachment 2', mimeType: 'text/plain', byteSize: null, ref: null },
      ],
    })
  })

  test.each(['-1', '1e9', 'NaN', '3.7', '99999999999999999999'])(
    'a number of pictures that is none does no harm: %s',
    async (NumMedia) => {
      const [message] = await read(sms({ NumMedia }))
      expect(message!.attachments.length).toBeLessThanOrEqual(10)
    },
  )

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

describe('attachments', () => {
  const ref = { message: newSid('MM'), media: newSid('ME') }
  const download = (given: Record<string, unknown>) => adapter.download!(connection, given, signal)

  test('bytes come from where Twilio leads, which gets no credentials', async () => {
    fake.media.set(`${ref.message}/${ref.media}`, {
      type: 'text/plain',
      bytes: Buffer.from('an agenda'),
    })
    const got = await download(ref)
    expect(got).toMatchObject({ kind: 'fetched' })
    expect(Buffer.from((got as { value: Uint8Array }).value).toString()).toBe('an agenda')
  })

  test('one that is too large', async () => {
    fake.media.set(`${ref.message}/${ref.media}`, {
      type: 'text/plain',
      bytes: new Uint8Array(1_048_577),
    })
    expect(await download(ref)).toMatchObject({
      kind: 'gone',
      error: expect.stringContaining('1048576'),
    })
  })

  test.each([
    ['deleted at Twilio', { message: newSid('MM'), media: newSid('ME') }],
    ['no address', {}],
    ['a path elsewhere', { message: '../..', media: ref.media }],
    ['media that are a path', { message: ref.message, media: '../../x' }],
  ])('gone: %s', async (_, given) => {
    expect(await download(given)).toMatchObject({ kind: 'gone' })
  })
})
