/** A workspace's connection of a channel, and the senders there who are members. */
import { Type as T } from '@sinclair/typebox'
import { channelNames } from '../../channel-names.ts'
import { markUntrusted, nullable, oneOf, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const ChannelSchema = oneOf(channelNames)
export const SenderPolicySchema = oneOf(['members', 'anyone'], {
  description:
    'Whose messages start jobs: those of members who have linked their sender, or everybody. Only owners can set anyone.',
})

export const channelConnectionRecord = declare(
  'channel_connection',
  { title: 'ChannelConnection', case: 'camelCase' },
  {
    id,
    channel: { type: 'text', shown: ChannelSchema },
    // In the form that `routingKeyOf` gives it.
    routing_key: {
      type: 'text',
      shown: T.String({ description: 'By what the provider names it in its posts.' }),
    },
    display_name: { type: 'text', shown: T.String() },
    sender_policy: { type: 'text', shown: SenderPolicySchema },
    config: {
      type: 'jsonb',
      shown: T.Record(T.String(), T.Unknown(), {
        description: 'As given, with what its provider told.',
      }),
    },
    credentials: {
      type: 'bytea',
      null: true,
      shown: T.Record(T.String(), T.String(), {
        description: 'Their names. No value is shown.',
      }),
      from: 'elsewhere',
      unexported: 'secrets',
    },
    credential_names: { type: 'jsonb', of: T.Array(T.String()), hidden: 'shown as credentials' },
    status: {
      type: 'text',
      shown: oneOf(['unverified', 'active', 'failing'], {
        description:
          'unverified: its provider has not yet said that the routing key is yours, so nothing is taken in. failing: its provider refuses the credentials, or another workspace has the routing key.',
      }),
    },
    last_error: {
      type: 'text',
      shown: markUntrusted(nullable(T.String({ description: 'May hold words of the provider.' }))),
    },
    // Kept until a send succeeds or a person changes the connection, because a check does not find
    // it.
    send_error: {
      type: 'text',
      null: true,
      hidden: 'why the provider has refused to send',
      unexported: 'why sends are refused, which last_error says as well',
    },
    failures: { type: 'integer', hidden: 'checks in a row that failed' },
    checked_at: {
      type: 'timestamp with time zone',
      shown: nullable({
        ...Time,
        description: 'When its provider last said whether the routing key is yours.',
      }),
    },
    // These times are written as messages come and go.
    last_in_at: {
      type: 'timestamp with time zone',
      shown: nullable(Time),
      as: 'lastReceivedAt',
      fixed: true,
    },
    last_out_at: {
      type: 'timestamp with time zone',
      shown: nullable(Time),
      as: 'lastSentAt',
      fixed: true,
    },
    next_out_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'of use to the service alone',
      from: 'elsewhere',
      unexported: 'when the next message may leave',
    },
    ...times,
  },
)

export const channelIdentityRecord = declare(
  'channel_identity',
  { title: 'ChannelIdentity', case: 'camelCase' },
  {
    id,
    connection_id: {
      type: 'uuid',
      shown: T.String({ format: 'uuid', description: 'The connection of the channel.' }),
    },
    external_id: {
      type: 'text',
      shown: T.String({
        description: 'As the provider names the sender: an address, a number, the id of a user.',
      }),
      as: 'sender',
    },
    name: {
      type: 'text',
      shown: markUntrusted(nullable(T.String({ description: 'As the sender is called there.' }))),
    },
    person_id: {
      type: 'uuid',
      shown: T.String({ format: 'uuid', description: 'The member who it is.' }),
    },
    person_name: {
      shown: nullable(T.String({ description: 'The name of the member.' })),
      from: 'query',
    },
    reply_to: {
      type: 'jsonb',
      of: T.Record(T.String(), T.Unknown()),
      null: true,
      hidden: 'where a message reaches this sender outside of a thread; null: nowhere',
      unexported: 'of use to the server alone',
    },
    verified_at: {
      type: 'timestamp with time zone',
      shown: { ...Time, description: 'When a code of this member last came from the sender.' },
    },
    created_at: times.created_at,
    updated_at: { type: 'timestamp with time zone', hidden: 'verifiedAt says when it changed' },
  },
)
