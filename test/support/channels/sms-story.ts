/**
 * A number of Twilio's that is connected with a workspace of ours: people write to it, and read
 * what it answers.
 */
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import { channelAdmin } from './channels.ts'
import type { FakeTwilio } from './twilio.ts'
import { incomingSms, type PostChanges, type TwilioFields } from './twilio-posts.ts'

interface SmsOptions extends Record<string, unknown> {
  publicUrl?: string
}

const PATH = '/webhooks/channels/sms'

let count = 0

/** `publicUrl`: by which Twilio knows the deployment, which is behind a proxy. */
export const smsStory = async (
  app: TestApp,
  twilio: FakeTwilio,
  { publicUrl = app.url, ...options }: SmsOptions = {},
) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const number = `+1415555${String(++count).padStart(4, '0')}`
  twilio.numbers.push({ phone_number: number, capabilities: { voice: true, sms: true, mms: true } })
  const credentials = { accountSid: twilio.accountSid, authToken: twilio.authToken }
  const id = await admin.active({ channel: 'sms', routingKey: number, credentials, ...options })

  /** As Twilio posts it. */
  const deliver = async (
    fields: TwilioFields,
    changes: PostChanges = {},
  ): Promise<{ status: number; type: string | null; body: string }> => {
    const response = await fetch(
      twilio.post(app.url + PATH, fields, { signedUrl: publicUrl + PATH, ...changes }),
    )
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: await response.text(),
    }
  }

  const sms = (from: string, text: string, more: TwilioFields = {}) =>
    incomingSms(twilio, { From: from, To: number, Body: text, ...more })

  const writes = async (from: string, text: string, more: TwilioFields = {}) => {
    const fields = sms(from, text, more)
    return { fields, ...(await deliver(fields)) }
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

  return { ...admin, id, tenantId, number, sms, deliver, writes, reads }
}
