/** What WhatsApp's Cloud API posts, in the form of Meta's documentation, and how Meta signs it. */
import { createHmac } from 'node:crypto'
import type { InboundPost, OpenConnection } from '#port/channel/channel'

type Json = Record<string, unknown>

export interface Business {
  accessToken: string
  appSecret: string
  verifyToken: string
  phoneNumberId: string
  displayPhoneNumber: string
}

export const business: Business = {
  accessToken: ['EAAJ', 'B0LxG9ZBc4ZD'].join(''),
  appSecret: 'd3b07384d113edec49eaa6238ad5ff00',
  verifyToken: 'meatyhamhock-0123456789',
  phoneNumberId: '106540352242922',
  displayPhoneNumber: '15550783881',
}

export const NOW = 1_749_416_383_000

/** Meta signs the bytes that it sends, in which every non-ASCII character is escaped. */
export const signedByMeta = (
  secret: string,
  body: string | Uint8Array,
): Record<string, string> => ({
  'content-type': 'application/json',
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

/** JSON as PHP writes it: slashes and all non-ASCII characters are escaped. */
export const metaJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** One change of a phone number. */
export const change = (value: Json, of: Business = business): Json => ({
  value: {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: of.displayPhoneNumber, phone_number_id: of.phoneNumberId },
    ...value,
  },
  field: 'messages',
})

/** A post with these entries, each of some changes. */
export const postOf = (...entries: Json[][]): Json => ({
  object: 'whatsapp_business_account',
  entry: entries.map((changes, at) => ({ id: `10229012916511${at}`, changes })),
})

let count = 0
export const newMessageId = (): string =>
  `wamid.${Buffer.from(`HBgL${++count}`).toString('base64')}`

/** A message of Pablo's. */
export const said = (text: string, more: Json = {}): Json => ({
  from: '16505551234',
  from_user_id: 'US.13491208655302741918',
  id: newMessageId(),
  timestamp: '1749416383',
  type: 'text',
  text: { body: text },
  ...more,
})

export const of = (kind: string, inside: unknown, more: Json = {}): Json => {
  const { text: _, ...message } = said('')
  return { ...message, type: kind, [kind]: inside, ...more }
}

export const pablo = {
  profile: { name: 'Pablo M.' },
  wa_id: '16505551234',
  user_id: 'US.13491208655302741918',
}

export const messagesOf = (...messages: Json[]): Json =>
  postOf([change({ contacts: [pablo], messages })])

/** What became of a message of ours. */
export const status = (id: string, kind = 'delivered'): Json => ({
  id,
  status: kind,
  timestamp: '1749416390',
  recipient_id: '16505551234',
  recipient_user_id: pablo.user_id,
  pricing: {
    billable: true,
    pricing_model: 'PMP',
    category: 'service',
    type: 'free_customer_service',
  },
})

/** A message that could not be delivered. `ours`: what we had sent with it. */
export const undelivered = ({ id, ours }: { id: string; ours?: string }, code = 131026): Json => ({
  id,
  status: 'failed',
  timestamp: '1749416390',
  recipient_id: '16505551234',
  ...(ours === undefined ? {} : { biz_opaque_callback_data: ours }),
  errors: [
    {
      code,
      title: 'Message undeliverable',
      message: 'Message undeliverable',
      error_data: { details: 'Message Undeliverable.' },
      href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
    },
  ],
})

export const whatsAppConnection = (from: Business = business): OpenConnection => ({
  id: '01890000-0000-7000-8000-000000000002',
  routingKey: from.phoneNumberId,
  config: {},
  credentials: {
    accessToken: from.accessToken,
    appSecret: from.appSecret,
    verifyToken: from.verifyToken,
  },
})

/** As our server receives it. */
export const whatsAppPost = (
  body: object | string,
  { secret = business.appSecret, now = NOW } = {},
): InboundPost => {
  const text = typeof body === 'string' ? body : metaJson(body)
  const url = 'https://tendril.example.com/webhooks/channels/whatsapp'
  return { url, headers: new Headers(signedByMeta(secret, text)), body: Buffer.from(text), now }
}
