/**
 * A channel: where people outside the app talk to the agent. Each connection of a channel belongs
 * to one workspace. Pure.
 */
import type { ChannelName } from '#contract/channel-names'
import type { channelConnectionRecord } from '#contract/records/agent/channel-connection'
import type { RowOf } from '#contract/records/record'

export type Channel = ChannelName

interface Traits {
  /** The name that people know. */
  name: string
  /**
   * Whether anybody can write under another sender's name. The text may then be anybody's, but what
   * is sent to that name still reaches only its owner.
   */
  isForgeable: boolean
}

export const channelTraits: Readonly<Record<Channel, Traits>> = {
  email: { name: 'Email', isForgeable: true },
  slack: { name: 'Slack', isForgeable: false },
  whatsapp: { name: 'WhatsApp', isForgeable: false },
  sms: { name: 'SMS', isForgeable: true },
  dev: { name: 'Dev', isForgeable: false },
}

export const isChannel = (name: string): name is Channel => Object.hasOwn(channelTraits, name)

export type ChannelConnection = RowOf<typeof channelConnectionRecord>

/** Who can begin jobs: members whose sender is linked, or everybody. */
export type SenderPolicy = ChannelConnection['sender_policy']
