/**
 * What Twilio posts, and how it signs it:
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security.
 */
import { createHash, createHmac } from 'node:crypto'
import type { OpenConnection } from '#port/channel/channel'

export type TwilioFields = Record<string, string | readonly string[]>

export interface PostChanges {
  by?: string
  /** The address that Twilio has for us, if it differs from the one that is called. */
  signedUrl?: string
  asJson?: boolean
  headers?: Record<string, string>
}

const hex = (length: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length / 2)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

export const newToken = (): string => hex(32)

export const newSid = (prefix: string): string => prefix + hex(32)

/** The fields of a message as Twilio sends them. */
export const incomingSms = (
  account: { accountSid: string },
  fields: { From: string; To: string; Body: string } & TwilioFields,
) => {
  const sid = newSid('SM')
  return {
    ToCountry: 'US',
    ToState: 'CA',
    SmsMessageSid: sid,
    NumMedia: '0',
    ToCity: '',
    FromZip: '94108',
    SmsSid: sid,
    FromState: 'CA',
    SmsStatus: 'received',
    FromCity: 'SAN FRANCISCO',
    FromCountry: 'US',
    ToZip: '',
    NumSegments: '1',
    MessageSid: sid,
    AccountSid: account.accountSid,
    ApiVersion: '2010-04-01',
    ...fields,
  }
}

/** By the documentation: the full URL, then each field's name and value, sorted by name. */
export const twilioSignature = (authToken: string, url: string, fields: TwilioFields): string => {
  let text = url
  for (const name of Object.keys(fields).sort()) {
    const value = fields[name]!
    for (const each of Array.isArray(value) ? [...new Set(value)].sort() : [value])
      text += name + each
  }
  return createHmac('sha1', authToken).update(Buffer.from(text, 'utf-8')).digest('base64')
}

const encoded = (fields: TwilioFields): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const each of Array.isArray(value) ? value : [value]) form.append(name, each)
  return form.toString()
}

/** As Twilio posts it to this address. */
export const posted = (
  authToken: string,
  to: string,
  fields: TwilioFields,
  { by, signedUrl, asJson, headers }: PostChanges = {},
): Request => {
  const body = asJson ? JSON.stringify(fields) : encoded(fields)
  const hash = `bodySHA256=${createHash('sha256').update(body).digest('hex')}`
  const withHash = (url: string) => (asJson ? `${url}${url.includes('?') ? '&' : '?'}${hash}` : url)
  const signature = twilioSignature(
    by ?? authToken,
    withHash(signedUrl ?? to),
    asJson ? {} : fields,
  )
  const type = asJson ? 'application/json' : 'application/x-www-form-urlencoded; charset=utf-8'
  const all = {
    'content-type': type,
    'x-twilio-signature': signature,
    'i-twilio-idempotency-token': hex(32),
    'user-agent': 'TwilioProxy/1.1',
  }
  return new Request(withHash(to), { method: 'POST', headers: { ...all, ...headers }, body })
}

export const smsConnection = ({
  accountSid,
  authToken,
}: {
  accountSid: string
  authToken: string
}): OpenConnection => ({
  id: 'c1',
  routingKey: '+14155550100',
  config: {},
  credentials: { accountSid, authToken },
})
