/**
 * A WhatsApp number that is connected with a workspace of ours: people write to it, and read the
 * answers.
 */
import { eventually } from '../eventually.ts'
import { type ChannelPlace, connectedPlace, countOf, delivered, type Said } from './place.ts'
import type { WhatsAppMessage } from './whatsapp.ts'
import {
  type Business,
  change,
  metaJson,
  postOf,
  said,
  signedByMeta,
  status,
} from './whatsapp-posts.ts'
import type { ChannelWorld } from './world.ts'

let count = 0

const newToken = () => `EAAJ${crypto.randomUUID().replaceAll('-', '')}`

/** Numbers with the same secret belong to one Meta app. */
const newBusiness = (appSecret: string): Business => {
  const n = ++count
  return {
    accessToken: newToken(),
    appSecret,
    verifyToken: crypto.randomUUID(),
    phoneNumberId: String(106_540_352_242_900 + n),
    displayPhoneNumber: String(15_550_783_800 + n),
  }
}

export const newAppSecret = (): string => crypto.randomUUID().replaceAll('-', '')

/** As Meta posts it. */
export const deliverByMeta = ({ app }: Pick<ChannelWorld, 'app'>, secret: string, body: object) => {
  const text = metaJson(body)
  const headers = signedByMeta(secret, text)
  const url = `${app.url}/webhooks/channels/whatsapp`
  return delivered(new Request(url, { method: 'POST', headers, body: text }))
}

export const whatsAppStory = async (
  world: ChannelWorld,
  { appSecret = newAppSecret(), ...options }: Record<string, unknown> & { appSecret?: string } = {},
) => {
  const { meta } = world
  const business = newBusiness(appSecret)
  meta.businesses.push(business)
  const { accessToken, verifyToken, phoneNumberId } = business
  const credentials = { accessToken, appSecret, verifyToken }
  const place = await connectedPlace(world, {
    channel: 'whatsapp',
    routingKey: phoneNumberId,
    credentials,
    ...options,
  })

  /** One change of this number, as a part of a post. */
  const told = (value: Record<string, unknown>) => change(value, business)

  /** Somebody writes to the number, now. */
  const message = (from: string, text: string, more: Record<string, unknown> = {}) => {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    return said(text, { from: from.replace('+', ''), from_user_id: undefined, timestamp, ...more })
  }

  const deliver = (body: object, secret = appSecret) => deliverByMeta(world, secret, body)

  const read = (to: string): WhatsAppMessage[] => {
    const person = to.replace('+', '')
    return meta.messages.filter(
      (one) => one.from === phoneNumberId && (one.to ?? one.recipient) === person,
    )
  }
  /** What the number has answered. */
  const reads = (to: string, many: number): Promise<WhatsAppMessage[]> =>
    eventually(
      () => read(to),
      (all) => all.length >= many,
    )

  const withFile = ({ name: filename, text }: { name: string; text: string }, caption: string) => {
    const id = String(Math.random()).slice(2)
    meta.media.set(id, { body: Buffer.from(text), mimeType: 'text/plain' })
    const document = { id, filename, mime_type: 'text/plain', sha256: 'x', caption }
    return { type: 'document', document, text: undefined }
  }

  const writes = async (from: string, text: string, more: Record<string, unknown> = {}) => {
    const sent = message(from, text, more)
    const contacts = [{ profile: { name: 'Pablo M.' }, wa_id: from.replace('+', '') }]
    const post = postOf([told({ contacts, messages: [sent] })])
    return { id: sent.id as string, post, ...(await deliver(post)) }
  }

  const says: ChannelPlace['says'] = async (from, text, { file } = {}): Promise<Said> => {
    const { post, ...taken } = await writes(from, text, file ? withFile(file, text) : {})
    return {
      ...taken,
      again: () => Promise.all([1, 2, 3].map(() => deliver(post))),
      answers: async (many) => (await reads(from, many)).map((one) => one.text),
    }
  }

  const forged = () => {
    const pays = { messages: [message('16505551234', 'pay')] }
    const nobody = { ...business, phoneNumberId: '106540352249999' }
    return Promise.all([
      deliver(postOf([told(pays)]), 'nobody’s secret'),
      deliver(postOf([change(pays, nobody)])),
    ])
  }

  /** Receipts and reactions. */
  const ignored = () => {
    const reaction = { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍' } }
    const receipts = ['sent', 'delivered', 'read'].map((kind) => status('wamid.x', kind))
    const reacted = told({ messages: [message('16505551234', '', reaction)] })
    return Promise.all([deliver(postOf([told({ statuses: receipts })], [reacted]))])
  }

  return {
    ...place,
    business,
    told,
    message,
    deliver,
    writes,
    reads,
    says,
    forged,
    ignored,
    losesAnswer: () => void meta.next.push({ raw: '', taken: true }),
    sends: () => countOf(meta.requests, '/messages'),
    withdraws() {
      business.accessToken = newToken()
      const fresh = { accessToken: business.accessToken }
      return { old: accessToken, fresh, named: 'the access token has expired' }
    },
  } satisfies ChannelPlace & Record<string, unknown>
}
