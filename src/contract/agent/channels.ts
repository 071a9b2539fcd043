import { Type as T } from '@sinclair/typebox'
import { nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import {
  ChannelSchema,
  channelConnectionRecord,
  SenderPolicySchema,
} from '../records/agent/channel-connection.ts'
import { Id, NOT_BLANK, nullable, record } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'

const displayName = T.String({
  minLength: 1,
  maxLength: 160,
  pattern: NOT_BLANK,
  format: 'name',
  examples: ['Help desk'],
})
const config = T.Record(T.String({ minLength: 1, maxLength: 100 }), T.Unknown(), {
  description:
    'What its adapter knows, and anything of yours. At most 8,192 characters as JSON. It is shown: no secrets.',
  examples: [{}],
})
const NAME = { minLength: 1, maxLength: 100 }
const VALUE = { minLength: 1, maxLength: 8_192 }
const SEALED =
  'What its adapter needs to verify, to answer and to be proven. Other names are refused. The values are never shown again.'

const ChannelConnection = channelConnectionRecord.schema

const Setup = record(
  {
    webhookUrl: T.String({ description: 'Where its provider has to post what people write.' }),
    steps: T.Array(T.String(), { description: 'What a person does at the provider.' }),
    paste: T.Array(record({ label: T.String(), text: T.String() }), {
      description: 'What is pasted there, as it is.',
    }),
  },
  { title: 'ChannelSetup' },
)

const Adapter = record(
  {
    channel: ChannelSchema,
    configured: T.Boolean({
      description: 'Whether the workspace has a connection of it that takes messages in.',
    }),
    credentials: T.Array(
      record({ name: T.String(), needed: T.Boolean(), description: T.String() }),
      {
        description: 'The credentials that it knows.',
      },
    ),
    config: T.Array(record({ name: T.String(), description: T.String() }), {
      description: 'The configuration that it knows.',
    }),
    setup: Setup,
  },
  { title: 'ChannelAdapter' },
)

const One = record({ connection: ChannelConnection })
const WithSetup = record({ connection: ChannelConnection, setup: Setup })
const deciding = { ...use, roles: ['approver'] } as const

export const channels = {
  list: op.query(
    'GET /api/v1/channels',
    'List the channels that there are and the connections of the workspace, newest first, without secrets.',
    {
      input: shortPage,
      output: record({
        connections: T.Array(ChannelConnection),
        ...nextCursor,
        adapters: T.Array(Adapter),
      }),
    },
    use,
  ),
  get: op.query(
    'GET /api/v1/channels/:id',
    'Get a connection of a channel, and what is to be done at its provider.',
    { input: { id: Id }, output: WithSetup },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  create: op.prepared(
    'POST /api/v1/channels',
    'Connect a channel, so that people can talk to the agent there. Its provider is asked at once whether the routing key belongs to these credentials; until it has said so, nothing is taken in.',
    {
      input: {
        channel: { ...ChannelSchema, examples: ['dev'] },
        routingKey: T.String({
          minLength: 1,
          maxLength: 320,
          pattern: NOT_BLANK,
          examples: ['desk'],
          description:
            'By what posts name it: of email the address, of slack the id of the team, of whatsapp the id of the phone number, of sms the number, of dev a name.',
        }),
        displayName: T.Optional(displayName),
        senderPolicy: T.Optional({ ...SenderPolicySchema, default: 'members' }),
        config: T.Optional(config),
        credentials: T.Optional(
          T.Record(T.String(NAME), T.String(VALUE), { description: SEALED, examples: [{}] }),
        ),
      },
      output: WithSetup,
    },
    { ...deciding, status: 201, errors: ['conflict'] },
  ),
  update: op.command(
    'PATCH /api/v1/channels/:id',
    'Change a connection of a channel. Omitted fields keep their value, and so do omitted names of config and credentials; null removes one. With other config or credentials its provider is asked again, and what it said before holds until it answers. If anybody but a signed-in owner changes credentials, the links of all its senders and the codes for new ones end: whoever sets the secret of its posts could write as any of them.',
    {
      input: {
        id: Id,
        displayName: T.Optional(displayName),
        senderPolicy: T.Optional(SenderPolicySchema),
        config: T.Optional(config),
        credentials: T.Optional(
          T.Record(T.String(NAME), nullable(T.String(VALUE)), {
            description: SEALED,
            examples: [{}],
          }),
        ),
      },
      output: record({
        connection: ChannelConnection,
        endedIdentities: T.Integer({
          description: 'Linked senders who are strangers now, and have to link themselves again.',
        }),
      }),
    },
    { ...deciding, errors: ['not_found'], repeatable: true },
  ),
  check: op.command(
    'POST /api/v1/channels/:id/check',
    'Ask the provider of a channel again whether the routing key belongs to the credentials. The answer comes before; get the connection to see what was said.',
    { input: { id: Id }, output: One },
    { ...deciding, anyId: true, errors: ['not_found', 'conflict'] },
  ),
  remove: op.command(
    'DELETE /api/v1/channels/:id',
    'Disconnect a channel, with its linked senders, its messages and its replies. Conversations stay. Nothing more is sent: a message that is on the wire already is listed in in_flight, and its reply stays and takes its outcome.',
    { input: { id: Id }, output: record({ ...One.properties, in_flight: InFlight }) },
    { ...deciding, recalls: true, anyId: true, errors: ['not_found'], destructive: true },
  ),
}
