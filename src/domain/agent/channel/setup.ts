/**
 * What a person does at a channel's provider: where to point its webhooks, step by step, and what
 * to paste.
 */
import type { Channel } from './channel.ts'

/** The connection, as far as it exists. */
export interface SetupOf {
  channel: Channel
  /** The deployment's base URL, without a trailing slash. */
  publicUrl: string
  routingKey?: string | undefined
  config?: Readonly<Record<string, unknown>> | undefined
}

export interface ChannelSetup {
  webhookUrl: string
  steps: string[]
  /** Texts to paste as they are. */
  paste: { label: string; text: string }[]
}

type Steps = Pick<ChannelSetup, 'steps' | 'paste'>

/**
 * What a bot needs to hear mentions and direct messages, to read files and to answer. users:read
 * reveals the app of a bot.
 */
const SLACK_SCOPES = ['app_mentions:read', 'chat:write', 'files:read', 'im:history', 'users:read']

/** A Slack app manifest, as JSON. */
const slackManifest = (webhookUrl: string): string =>
  JSON.stringify(
    {
      display_information: { name: 'Tendril', description: 'The agent of our workspace' },
      features: {
        app_home: {
          home_tab_enabled: false,
          messages_tab_enabled: true,
          messages_tab_read_only_enabled: false,
        },
        bot_user: { display_name: 'Tendril', always_online: true },
      },
      oauth_config: { scopes: { bot: SLACK_SCOPES } },
      settings: {
        event_subscriptions: { request_url: webhookUrl, bot_events: ['app_mention', 'message.im'] },
        org_deploy_enabled: false,
        socket_mode_enabled: false,
        token_rotation_enabled: false,
      },
    },
    null,
    2,
  )

const slack = (webhookUrl: string): Steps => ({
  steps: [
    'At https://api.slack.com/apps choose "Create New App", "From a manifest", your Slack workspace, and paste the manifest as JSON.',
    'Choose "Install to Workspace" and allow it.',
    'botToken is the "Bot User OAuth Token" (xoxb-…) under "OAuth & Permissions"; signingSecret is the "Signing Secret" under "Basic Information".',
    'The routing key is the id of the Slack workspace: the part with T in https://app.slack.com/client/T…; or that id, a colon and the App ID under "Basic Information", if one Slack workspace has several apps.',
    'Once the channel is active, choose "Retry" under "Event Subscriptions" if Slack has not verified the Request URL.',
    'Write to the app directly, or invite it to a Slack channel and mention it there.',
  ],
  paste: [{ label: 'App manifest', text: slackManifest(webhookUrl) }],
})

const whatsapp = (webhookUrl: string): Steps => ({
  steps: [
    'At https://developers.facebook.com/apps create an app of type Business, add the product WhatsApp, and add your phone number to it.',
    'The routing key is the "Phone number ID" under "API Setup". It is not the phone number.',
    'In Meta Business Suite create a system user with the permissions whatsapp_business_messaging and whatsapp_business_management; its permanent token is accessToken. appSecret is the "App secret" under "App settings", "Basic".',
    'verifyToken is any text that you make up, of 16 characters or more.',
    'Once the channel is active, enter the callback URL and the verify token under "WhatsApp", "Configuration", choose "Verify and save", and subscribe to the field messages.',
  ],
  paste: [
    { label: 'Callback URL', text: webhookUrl },
    { label: 'Webhook field', text: 'messages' },
  ],
})

const sms = (webhookUrl: string, routingKey: string | undefined): Steps => ({
  steps: [
    'At https://console.twilio.com buy a number that can send and receive SMS. The routing key is that number, with its country code.',
    'accountSid and authToken are shown under "Account Info".',
    `Under "Phone Numbers", "Active numbers", choose ${routingKey ?? 'the number'}. Under "Messaging Configuration", "A message comes in", choose Webhook, paste the address, and choose HTTP POST.`,
    'Under "Primary handler fails" paste the same address: Twilio then sends once more what could not be taken in. Nothing is taken twice.',
  ],
  paste: [{ label: 'A message comes in (HTTP POST)', text: webhookUrl }],
})

const resend = (webhookUrl: string): Steps => ({
  steps: [
    'At https://resend.com/domains add your domain, enable receiving, and enter the DNS records that Resend shows, the MX record among them.',
    'At https://resend.com/webhooks add an endpoint with the address, for the event email.received alone.',
    'signingSecret is the "Signing secret" (whsec_…) of that endpoint; apiKey is an API key with full access, since Resend sends no text with the event.',
    'The routing key is the address that people write to, at your domain.',
  ],
  paste: [
    { label: 'Endpoint', text: webhookUrl },
    { label: 'Event', text: 'email.received' },
  ],
})

const mailgun = (webhookUrl: string, routingKey: string | undefined): Steps => {
  const address = routingKey ?? 'support@example.com'
  return {
    steps: [
      'At https://app.mailgun.com add your domain, and enter the DNS records that Mailgun shows, the MX records among them. For a domain in the EU set config.region to eu.',
      'In the settings of the domain let the spam filter mark mails with headers: they say whether SPF and DKIM hold, so that mails with a forged sender are left out.',
      'Under "Send", "Receiving", create a route with the expression and the actions below.',
      'signingSecret is the "HTTP webhook signing key" under "API Security"; apiKey is an API key of the account. The sending key of a domain does not do: it cannot show that the domain is yours.',
      'The routing key is the address that people write to.',
    ],
    paste: [
      { label: 'Expression', text: `match_recipient("${address}")` },
      // forward() would post a mail with its files, which may be larger than we accept.
      { label: 'Action', text: `store(notify="${webhookUrl}")` },
      { label: 'Action', text: 'stop()' },
    ],
  }
}

const nameSteps = (name: string, { steps, paste }: Steps): Steps => ({
  steps: steps.map((step) => `${name}: ${step}`),
  paste: paste.map(({ label, text }) => ({ label: `${name}: ${label}`, text })),
})

/** The steps for both providers, before one is chosen. */
const email = ({
  provider,
  webhookUrl,
  routingKey,
}: {
  provider: unknown
  webhookUrl: string
  routingKey: string | undefined
}): Steps => {
  if (provider === 'resend') return resend(webhookUrl)
  if (provider === 'mailgun') return mailgun(webhookUrl, routingKey)
  const [one, other] = [
    nameSteps('Resend', resend(webhookUrl)),
    nameSteps('Mailgun', mailgun(webhookUrl, routingKey)),
  ]
  const choose = 'Choose a provider: config.provider is resend, unless you set it to mailgun.'
  return { steps: [choose, ...one.steps, ...other.steps], paste: [...one.paste, ...other.paste] }
}

const dev = (webhookUrl: string): Steps => ({
  steps: [
    'The routing key is a name that you choose; secret is whsec_ and the base64 of random bytes, or any text of 16 bytes or more.',
    `To talk without a program, open ${webhookUrl.replace(/\/webhooks\/.*/, '')}/channels/dev/ID with the id of the connection.`,
    'A program posts JSON with routingKey, sender and text to the address, signed as Standard Webhooks have it: webhook-id, webhook-timestamp and webhook-signature.',
    'Replies are kept, and posted in the same manner to config.url if you set it.',
  ],
  paste: [{ label: 'Address', text: webhookUrl }],
})

type Place = Omit<SetupOf, 'publicUrl' | 'channel'> & { webhookUrl: string }

const stepsIn: Readonly<Record<Channel, (place: Place) => Steps>> = {
  slack: ({ webhookUrl }) => slack(webhookUrl),
  whatsapp: ({ webhookUrl }) => whatsapp(webhookUrl),
  sms: ({ webhookUrl, routingKey }) => sms(webhookUrl, routingKey),
  email: ({ webhookUrl, routingKey, config = {} }) =>
    email({ provider: config.provider, webhookUrl, routingKey }),
  dev: ({ webhookUrl }) => dev(webhookUrl),
}

/** Providers call no other kind of address. */
const isReachable = (publicUrl: string): boolean => {
  const { protocol, hostname } = new URL(publicUrl)
  return (
    protocol === 'https:' &&
    hostname !== 'localhost' &&
    !/^(127\.|10\.|192\.168\.|\[)/.test(hostname)
  )
}

export const channelSetup = (of: SetupOf): ChannelSetup => {
  const webhookUrl = `${of.publicUrl}/webhooks/channels/${of.channel}`
  const { steps, paste } = stepsIn[of.channel]({ ...of, webhookUrl })
  const unreachable = `The address must be public and begin with https:// for the provider to reach it: start the server with PUBLIC_URL set to such an address. It is ${of.publicUrl} now.`
  const first = of.channel === 'dev' || isReachable(of.publicUrl) ? [] : [unreachable]
  return { webhookUrl, steps: [...first, ...steps], paste }
}
