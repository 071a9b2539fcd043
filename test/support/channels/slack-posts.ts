/** What Slack's Events API posts, in the form of its documentation, and how Slack signs it. */
import { createHmac } from 'node:crypto'
import type { InboundPost, OpenConnection } from '#port/channel/channel'

export interface SlackInstall {
  token: string
  teamId: string
  appId: string
  signingSecret: string
  botUserId: string
  botId: string
  scopes: string[]
  /** Conversations that the app is in. */
  channels: string[]
  archived: string[]
}

export const install: SlackInstall = {
  token: ['xoxb', '17653672481', 'aBcDeF'].join('-'),
  teamId: 'T061EG9R6',
  appId: 'A0MDYCDME',
  signingSecret: '8f742231b10e8888abcd99yyyzzz85a5',
  botUserId: 'U0LAN0Z89',
  botId: 'B0LAN0Z90',
  scopes: ['app_mentions:read', 'im:history', 'chat:write', 'files:read', 'users:read'],
  channels: ['C0LAN2Q65', 'D0PNCRP9N'],
  archived: ['C0ARCHIVE'],
}

/** As Slack signs it. `at`: epoch milliseconds. */
export const signedBySlack = (
  secret: string,
  body: string | Uint8Array,
  at: number,
): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1_000))
  const signature = createHmac('sha256', secret)
    .update(`v0:${timestamp}:`)
    .update(body)
    .digest('hex')
  return {
    'content-type': 'application/json',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${signature}`,
  }
}

/** Slack's headers for retries: at once, after a minute, after five minutes. */
export const retryHeaders = (count: number, reason = 'http_timeout'): Record<string, string> => ({
  'x-slack-retry-num': String(count),
  'x-slack-retry-reason': reason,
})

type Json = Record<string, unknown>

let events = 0

/** The envelope of an event of the Events API. */
export const slackEvent = (event: Json, more: Json = {}, app: SlackInstall = install): Json => ({
  token: 'ZZZZZZWSxiZZZ2yIvs3peJ',
  team_id: app.teamId,
  context_team_id: app.teamId,
  context_enterprise_id: null,
  api_app_id: app.appId,
  event,
  type: 'event_callback',
  event_id: `Ev0${(++events).toString(36).toUpperCase().padStart(8, '0')}`,
  event_time: 1_700_000_000,
  authorizations: [
    {
      enterprise_id: null,
      team_id: app.teamId,
      user_id: app.botUserId,
      is_bot: true,
      is_enterprise_install: false,
    },
  ],
  is_ext_shared_channel: false,
  event_context: '4-eyJldCI6ImFwcF9tZW50aW9uIn0',
  ...more,
})

/** Somebody mentions the app in a channel. */
export const mention = (text: string, more: Json = {}): Json => ({
  type: 'app_mention',
  user: 'U061F7AUR',
  text: `<@${install.botUserId}> ${text}`,
  ts: '1515449522.000016',
  team: install.teamId,
  channel: 'C0LAN2Q65',
  event_ts: '1515449522.000016',
  client_msg_id: '9c1ba5c5-3f0f-4f0e-9d4f-6b0c1f2a3b4c',
  ...more,
})

/** Somebody writes to the app directly. */
export const direct = (text: string, more: Json = {}): Json => ({
  type: 'message',
  channel_type: 'im',
  user: 'U061F7AUR',
  text,
  ts: '1515449483.000108',
  team: install.teamId,
  channel: 'D0PNCRP9N',
  event_ts: '1515449483.000108',
  client_msg_id: '1b7c0a6e-62a5-4d53-8a3e-0c5f1d2e3f4a',
  ...more,
})

export const slackConnection = (
  app: SlackInstall = install,
  routingKey = app.teamId,
): OpenConnection => ({
  id: '01890000-0000-7000-8000-000000000001',
  routingKey,
  config: { botUserId: app.botUserId },
  credentials: { botToken: app.token, signingSecret: app.signingSecret },
})

interface PostOptions {
  secret?: string
  at?: number
  now?: number
  headers?: Record<string, string>
}

export const NOW = 1_700_000_000_000

/** As our server receives it. */
export const slackPost = (
  body: object | string,
  { secret = install.signingSecret, at = NOW, now = NOW, headers = {} }: PostOptions = {},
): InboundPost => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signed = { ...signedBySlack(secret, text, at), ...headers }
  return {
    url: 'https://tendril.example.com/webhooks/channels/slack',
    headers: new Headers(signed),
    body: Buffer.from(text),
    now,
  }
}
