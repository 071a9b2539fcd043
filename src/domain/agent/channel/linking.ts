/** What a member does with a code that links them to a sender. Pure. */
import { type Channel, type ChannelConnection, channelTraits } from './channel.ts'

type Place = Pick<
  ChannelConnection,
  'id' | 'channel' | 'routing_key' | 'display_name' | 'config' | 'status'
>

const numberOf = ({ config }: Place): string =>
  typeof config.displayPhoneNumber === 'string'
    ? config.displayPhoneNumber
    : 'the number of this channel'

const sending: Readonly<Record<Channel, (place: Place, publicUrl: string) => string>> = {
  email: ({ routing_key }) =>
    `Write a mail to ${routing_key} with the code as its text; in the subject it is not read.`,
  sms: ({ routing_key }) => `Send the code to ${routing_key} as a text message.`,
  whatsapp: (place) => `Send the code to ${numberOf(place)} by WhatsApp.`,
  slack: ({ display_name }) =>
    `Write the code to the app in Slack (${display_name}), as a direct message.`,
  dev: ({ id }, publicUrl) =>
    `Have your program post the code as the text of a message, with your sender. To talk without a program, open ${publicUrl}/channels/dev/${id}, which links you without a code.`,
}

const SECOND =
  'A second code comes back to the sender that you wrote from. Answer it with that code within 15 minutes: where senders can be forged, only that proves that it is yours.'

export const linkSteps = (place: Place, publicUrl: string): string[] => [
  ...(place.status === 'unverified'
    ? ['This channel takes nothing in yet: its provider has not said that it is yours.']
    : []),
  sending[place.channel](place, publicUrl),
  ...(channelTraits[place.channel].isForgeable ? [SECOND] : []),
]
