/**
 * A channel: where people outside of the app talk to the agent. A connection of one belongs to a
 * workspace. Pure.
 */
import type { ChannelName } from '#contract/channel-names'

export type Channel = ChannelName

interface Traits {
  /** As people know it. */
  name: string
  /**
   * Whether anybody can write there under the name of another sender: a text may then be anybody's,
   * though what is sent to that name reaches its owner alone.
   */
  isForgeable: boolean
}

export const channels: Readonly<Record<Channel, Traits>> = {
  email: { name: 'Email', isForgeable: true },
  slack: { name: 'Slack', isForgeable: false },
  whatsapp: { name: 'WhatsApp', isForgeable: false },
  sms: { name: 'SMS', isForgeable: true },
  dev: { name: 'Dev', isForgeable: false },
}

export const isChannel = (name: string): name is Channel => Object.hasOwn(channels, name)

/** Who can begin jobs: members whose sender is linked, or everybody. */
export type SenderPolicy = 'members' | 'anyone'

export interface ChannelConnection {
  id: string
  channel: Channel
  /** By what a post names the connection, in the form that `routingKeyOf` gives it. */
  routing_key: string
  display_name: string
  sender_policy: SenderPolicy
  config: Record<string, unknown>
  /** Their values are sealed, and never shown. */
  credential_names: string[]
  /**
   * `unverified`: the provider has not yet said that the routing key is the workspace's own;
   * nothing is taken in.
   */
  status: 'unverified' | 'active' | 'failing'
  last_error: string | null
  /**
   * Why the provider has refused to send, until it sends again or a person changes the connection:
   * a check does not find that out.
   */
  send_error: string | null
  failures: number
  checked_at: Date | null
  last_in_at: Date | null
  last_out_at: Date | null
  created_at: Date
  updated_at: Date
}

/** A part of a channel's form of a text: what one message of the provider holds. */
export interface ReplyPart {
  text: string
  state: 'queued' | 'sending' | 'sent' | 'failed' | 'unknown'
  /** As the provider names the message. */
  external_id: string | null
  error: string | null
  /** When it was first tried, in ISO 8601; null: not yet. */
  tried_at: string | null
  /**
   * A try of it may have been sent, and the provider takes another one under the same id for the
   * same message.
   */
  in_doubt: boolean
  /** Its reply was discarded, or its channel disconnected: it is not sent any more. */
  dropped?: boolean
  /** How often a person has had it sent again, after finding out that it had not arrived. */
  round?: number
}
