/** The adapters of this deployment. */
import type { Channel } from '#domain/agent/channel/channel'
import type { Egress } from '#port/egress/egress'
import type { ChannelAdapter } from './channel.ts'
import { devAdapter } from './dev.ts'
import { emailAdapter } from './email/adapter.ts'
import { slackAdapter } from './slack/adapter.ts'
import { smsAdapter } from './sms/adapter.ts'
import { whatsAppAdapter } from './whatsapp/adapter.ts'

export interface ChannelParts {
  egress: Egress
  /** Where each provider is called. Without a trailing slash. */
  urls: Readonly<
    Record<
      'slack' | 'slack_files' | 'whatsapp' | 'twilio' | 'resend' | 'mailgun' | 'mailgun_eu',
      string
    >
  >
}

export type ChannelAdapters = Readonly<Partial<Record<Channel, ChannelAdapter>>>

export const mapAdapters = (
  adapters: ChannelAdapters,
  map: (adapter: ChannelAdapter) => ChannelAdapter,
): ChannelAdapters =>
  Object.fromEntries(Object.entries(adapters).map(([channel, one]) => [channel, map(one)]))

export const channelAdapters = (parts: ChannelParts): Required<ChannelAdapters> => ({
  email: emailAdapter(parts),
  slack: slackAdapter(parts),
  whatsapp: whatsAppAdapter({ ...parts, now: Date.now }),
  sms: smsAdapter(parts),
  dev: devAdapter(parts.egress),
})
