/**
 * A number of WhatsApp that is connected with a workspace of ours: people write to it, and read
 * what it answers.
 */
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import { channelAdmin } from './channels.ts'
import type { FakeMeta, WhatsAppMessage } from './whatsapp.ts'
import { type Business, change, metaJson, postOf, said, signedByMeta } from './whatsapp-posts.ts'

let count = 0

/** All numbers of a test belong to one app of Meta, unless it has a secret of its own. */
const newBusiness = (appSecret: string): Business => {
  const n = ++count
  return {
    ...{
      accessToken: `EAAJ${crypto.randomUUID().replaceAll('-', '')}`,
      appSecret,
      verifyToken: crypto.randomUUID(),
    },
    ...{
      phoneNumberId: String(106_540_352_242_900 + n),
      displayPhoneNumber: String(15_550_783_800 + n),
    },
  }
}

export const newAppSecret = (): string => crypto.randomUUID().replaceAll('-', '')

/** As Meta posts it. */
export const deliverByMeta = async (
  app: Pick<TestApp, 'url'>,
  secret: string,
  body: object,
): Promise<{ status: number; body: string }> => {
  const text = metaJson(body)
  const response = await fetch(`${app.url}/webhooks/channels/whatsapp`, {
    method: 'POST',
    headers: signedByMeta(secret, text),
    body: text,
  })
  return { status: response.status, body: await response.text() }
}

export const whatsAppStory = async (
  app: TestApp,
  meta: FakeMeta,
  { appSecret = newAppSecret(), ...options }: Record<string, unknown> & { appSecret?: string } = {},
) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const business = newBusiness(appSecret)
  meta.businesses.push(business)
  const { accessToken, verifyToken, phoneNumberId } = business
  const credentials = { accessToken, appSecret, verifyToken }
  const id = await admin.active({
    channel: 'whatsapp',
    routingKey: phoneNumberId,
    credentials,
    ...options,
  })

  /** One change of this number, as a part of a post. */
  const told = (value: Record<string, unknown>) => change(value, business)

  /** Somebody writes to the number, now. */
  const message = (from: string, text: string, more: Record<string, unknown> = {}) =>
    said(text, {
      from,
      from_user_id: undefined,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      ...more,
    })

  const deliver = (body: object, secret = appSecret) => deliverByMeta(app, secret, body)

  const writes = async (from: string, text: string, more: Record<string, unknown> = {}) => {
    const sent = message(from, text, more)
    const contacts = [{ profile: { name: 'Pablo M.' }, wa_id: from }]
    const body = postOf([told({ contacts, messages: [sent] })])
    return { id: sent.id as string, ...(await deliver(body)) }
  }

  const read = (to: string): WhatsAppMessage[] =>
    meta.messages.filter((one) => one.from === phoneNumberId && (one.to ?? one.recipient) === to)
  /** What the number has answered. */
  const reads = (to: string, many: number): Promise<WhatsAppMessage[]> =>
    eventually(
      () => read(to),
      (all) => all.length >= many,
    )

  return { ...admin, id, tenantId, business, told, message, deliver, writes, reads }
}
