/**
 * A Twilio number that is connected with a workspace of ours: people write to it, and read the
 * answers.
 */
import { eventually } from '../eventually.ts'
import { type ChannelPlace, connectedPlace, countOf, delivered, type Said } from './place.ts'
import {
  incomingSms,
  newSid,
  newToken,
  type PostChanges,
  type TwilioFields,
} from './twilio-posts.ts'
import { type ChannelWorld, PUBLIC_URL } from './world.ts'

const PATH = '/webhooks/channels/sms'

let count = 0

export const smsStory = async (world: ChannelWorld, options: Record<string, unknown> = {}) => {
  const { app, twilio } = world
  const number = `+1415555${String(++count).padStart(4, '0')}`
  twilio.numbers.push({ phone_number: number, capabilities: { voice: true, sms: true, mms: true } })
  const { accountSid, authToken } = twilio
  const credentials = { accountSid, authToken }
  const place = await connectedPlace(world, {
    channel: 'sms',
    routingKey: number,
    credentials,
    ...options,
  })

  /** As Twilio posts it. */
  const deliver = (fields: TwilioFields, changes: PostChanges = {}) =>
    delivered(twilio.post(app.url + PATH, fields, { signedUrl: PUBLIC_URL + PATH, ...changes }))

  const sms = (from: string, text: string, more: TwilioFields = {}) =>
    incomingSms(twilio, { From: from, To: number, Body: text, ...more })

  const withFile = ({ name, text }: { name: string; text: string }): TwilioFields => {
    const [message, media] = [newSid('MM'), newSid('ME')]
    twilio.media.set(`${message}/${media}`, { type: 'text/plain', bytes: Buffer.from(text) })
    const MediaUrl0 = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages/${message}/Media/${media}`
    return { MessageSid: message, NumMedia: '1', MediaUrl0, MediaContentType0: 'text/plain', name }
  }

  /** What the number has answered. */
  const reads = (to: string, many: number): Promise<string[]> =>
    eventually(
      () =>
        twilio.messages
          .filter((one) => one.from === number && one.to === to)
          .map(({ body }) => body),
      (texts) => texts.length >= many,
    )

  const says: ChannelPlace['says'] = async (from, text, { file } = {}): Promise<Said> => {
    const fields = sms(from, text, file ? withFile(file) : {})
    const another = { headers: { 'i-twilio-idempotency-token': 'another' } }
    return {
      ...(await deliver(fields)),
      again: () => Promise.all([another, { asJson: true }].map((way) => deliver(fields, way))),
      answers: (many) => reads(from, many),
    }
  }

  const forged = () => {
    const fields = sms('+4915112345678', 'pay')
    return Promise.all([
      deliver(fields, { by: 'f'.repeat(32) }),
      deliver(fields, { signedUrl: app.url + PATH }),
      deliver({ ...fields, To: '+14155559999' }),
      deliver(fields, { headers: { 'x-twilio-signature': '' } }),
    ])
  }

  const ignored = () => {
    const [to, from] = ['+4915112345678', number]
    const report = { MessageSid: newSid('SM'), MessageStatus: 'delivered', To: to, From: from }
    const posts = [
      ...[sms(to, 'STOP'), sms(to, 'Help'), sms('72345', 'Your code is 123456')],
      ...[sms(number, 'an echo'), { ...report, AccountSid: accountSid }],
    ]
    return Promise.all(posts.map((fields) => deliver(fields)))
  }

  return {
    ...place,
    number,
    sms,
    deliver,
    says,
    reads,
    forged,
    ignored,
    losesAnswer: () => twilio.fail({ status: 500, isTaken: true }),
    sends: () => countOf(twilio.requests, '/Messages.json'),
    withdraws() {
      const fresh = newToken()
      const old = twilio.authToken
      twilio.authToken = fresh
      return { old, fresh: { authToken: fresh }, named: 'authToken' }
    },
  } satisfies ChannelPlace & Record<string, unknown>
}
