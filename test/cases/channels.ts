/** How channels differ in the stories that all of them share. */
import type { Channel } from '#domain/agent/channel/channel'
import { linked } from '#test/support/channels/dev-posts'
import { devStory } from '#test/support/channels/dev-story'
import { mailgunStory, resendStory } from '#test/support/channels/mail-story'
import type { ChannelPlace } from '#test/support/channels/place'
import { slackStory } from '#test/support/channels/slack-story'
import { smsStory } from '#test/support/channels/sms-story'
import { whatsAppStory } from '#test/support/channels/whatsapp-story'
import type { ChannelWorld } from '#test/support/channels/world'

interface Differences {
  name: string
  /** Connects it in a new workspace. */
  place(world: ChannelWorld, options?: Record<string, unknown>): Promise<ChannelPlace>
  /** Two senders, as the channel names them. */
  people: readonly [string, string]
  /** What the provider is told about a message that was accepted. */
  taken?: string
  /** What marks bold text. */
  bold: string
  /** The most characters of a message. */
  longest: number
  /** A text as the agent hears it. */
  heard?(text: string): string
  /**
   * Whether a message is sent again under the same name if it may or may not have been accepted.
   */
  isRepeatable?: true
}

const PEOPLE = ['ada@example.org', 'bob@example.org'] as const
const mail = {
  people: PEOPLE,
  bold: '',
  longest: 100_000,
  heard: (text: string) => `Subject: Plans\n\n${text}`,
}

/** Each provider of each channel. */
const table: Record<Channel, readonly Differences[]> = {
  slack: [
    { name: 'Slack', place: slackStory, people: ['U0ADA', 'U0BOB'], bold: '*', longest: 4_000 },
  ],
  whatsapp: [
    {
      name: 'WhatsApp',
      place: whatsAppStory,
      people: ['+16505551234', '+16505555678'],
      bold: '*',
      longest: 4_096,
    },
  ],
  sms: [
    {
      name: 'SMS',
      place: smsStory,
      people: ['+4915112345678', '+4915112345679'],
      taken: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
      bold: '',
      longest: 1_530,
    },
  ],
  email: [
    { name: 'mail by Resend', place: resendStory, ...mail, isRepeatable: true },
    { name: 'mail by Mailgun', place: mailgunStory, ...mail },
  ],
  dev: [
    {
      name: 'the dev channel',
      place: devStory,
      people: ['ada', 'bob'],
      bold: '**',
      longest: 16_000,
    },
  ],
}

const rowOf = (channel: Channel, differences: Differences) => {
  const { taken = '{"received":true}', heard = (text: string) => text, ...rest } = differences
  return {
    channel,
    taken,
    heard,
    ...rest,
    /** A place in which the first of the people is a member. */
    async membersPlace(world: ChannelWorld) {
      const place = await rest.place(world)
      await linked(world.app, place, rest.people[0])
      return place
    },
    /** An answer of `echo`, as the channel writes it. */
    echoed: (nth: number, text: string) =>
      `${rest.bold}${nth}.${rest.bold} You said: ${heard(text)}`,
  }
}

export type ChannelRow = ReturnType<typeof rowOf>

export const channelRows: readonly ChannelRow[] = Object.entries(table).flatMap(([channel, rows]) =>
  rows.map((row) => rowOf(channel as Channel, row)),
)
