/** Adapters of channels for the tests of a file, with the servers that play their providers. */
import { afterAll, beforeEach } from 'bun:test'
import { slackAdapter } from '#port/channel/slack/adapter'
import { smsAdapter } from '#port/channel/sms/adapter'
import { whatsAppAdapter } from '#port/channel/whatsapp/adapter'
import { egressTo } from '../http/egress.ts'
import { openSlack } from './slack.ts'
import { install, slackConnection } from './slack-posts.ts'
import { openTwilio } from './twilio.ts'
import { incomingSms, smsConnection, type TwilioFields } from './twilio-posts.ts'
import { openMeta } from './whatsapp.ts'
import { NOW, whatsAppConnection } from './whatsapp-posts.ts'

const apart = (name: string, ...scopes: string[]) => ({
  ...install,
  token: ['xoxb', name].join('-'),
  scopes,
})
/** Installations of the app that lack scopes: to read files, to hear, to write. */
export const fileless = apart('no-files', 'chat:write', 'im:history')
export const deaf = apart('deaf', 'chat:write')
export const mute = apart('mute', 'im:history', 'app_mentions:read')

export const useSlack = async () => {
  const slack = await openSlack([install, fileless, deaf, mute])
  afterAll(() => slack[Symbol.asyncDispose]())
  beforeEach(() => {
    slack.messages.length = 0
    slack.requests.length = 0
  })
  const connection = slackConnection()
  const withToken = (botToken: string) => ({
    ...connection,
    credentials: { ...connection.credentials, botToken },
  })
  const adapter = slackAdapter({ egress: egressTo(slack.urls.slack), urls: slack.urls })
  return { slack, adapter, connection, withToken }
}

/** At `NOW`. */
export const useMeta = async () => {
  const meta = await openMeta()
  afterAll(() => meta[Symbol.asyncDispose]())
  beforeEach(() => {
    meta.messages.length = 0
    meta.requests.length = 0
  })
  const { urls } = meta
  const adapter = whatsAppAdapter({ egress: egressTo(urls.whatsapp), urls, now: () => NOW })
  return { meta, adapter, connection: whatsAppConnection() }
}

/** With one number of ours. */
export const useTwilio = () => {
  const fake = openTwilio()
  afterAll(() => fake[Symbol.asyncDispose]())
  const [ours, sender] = ['+14155550100', '+4915112345678']
  const capabilities = { voice: true, sms: true, mms: true, fax: false }
  fake.numbers.push({ phone_number: ours, capabilities })
  const egress = egressTo(fake.url, fake.cdnUrl)
  const adapter = smsAdapter({ egress, urls: { twilio: fake.url } })
  const sms = (fields: TwilioFields = {}) =>
    incomingSms(fake, { From: sender, To: ours, Body: 'What is due today?', ...fields })
  return { fake, adapter, connection: smsConnection(fake), ours, sender, sms }
}
