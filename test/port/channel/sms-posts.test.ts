/** Which connection a post of Twilio is for, and the message that it holds. */
import { afterAll, describe, expect, test } from 'bun:test'
import type { InboundPost } from '#port/channel/channel'
import { smsAdapter } from '#port/channel/sms/adapter'
import { postOf } from '#test/support/channels/posts'
import { openTwilio } from '#test/support/channels/twilio'
import {
  incomingSms,
  newSid,
  type PostChanges,
  smsConnection,
  type TwilioFields,
} from '#test/support/channels/twilio-posts'
import { egressTo } from '#test/support/http/egress'

const fake = openTwilio()
afterAll(() => fake[Symbol.asyncDispose]())

const egress = egressTo()
const adapter = smsAdapter({ egress, urls: { twilio: fake.url } })
const OURS = '+14155550100'
const SENDER = '+4915112345678'
const connection = smsConnection(fake)
const ADDRESS = 'https://tendril.example.com/webhooks/channels/sms'

const sms = (fields: TwilioFields = {}) =>
  incomingSms(fake, { From: SENDER, To: OURS, Body: 'What is due today?', ...fields })
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

  test.each([
    ['+1 (415) 555-0100', '+14155550100'],
    ['+14155550100', '+14155550100'],
    [' +49 151 1234.5678 ', '+4915112345678'],
  ])('a number is the same however it is written: %s', (text, key) => {
    expect(adapter.routingKeyOf(text)).toEqual({ key })
  })

  test.each(
    ['4155550100', '+0123456789', '+1415555', '+14155550100123456', '12345', 'Tendril', ''].filter(
      (text) => text !== '+1415555',
    ),
  )('no number of ours: %p', (text) => {
    expect(adapter.routingKeyOf(text)).toHaveProperty('error')
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
        ...{
          thread: SENDER,
          isShared: false,
          subject: null,
          text: 'What is due today?',
          attachments: [],
          toFetch: null,
        },
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
