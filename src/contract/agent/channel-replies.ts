import { type Static, Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, page, use } from '../agent-fields.ts'
import { channelNames } from '../channel-names.ts'
import { op } from '../op.ts'
import {
  Id,
  NOT_BLANK,
  nullable,
  oneOf,
  record,
  type Shown,
  Time,
  untrusted,
  untrustedName,
} from '../shapes.ts'
import { InFlight } from '../shared-records.ts'

const statuses = ['held', 'queued', 'sending', 'sent', 'failed', 'unknown', 'discarded'] as const

const Part = record(
  {
    text: T.String({ description: 'In the form of the channel.' }),
    state: oneOf(['queued', 'sending', 'sent', 'failed', 'unknown']),
    externalId: nullable(T.String({ description: 'As the provider names the message.' })),
    error: untrusted(nullable(T.String())),
  },
  { title: 'ChannelReplyPart' },
)

const Reply = record(
  {
    id: Id,
    connectionId: nullable({
      ...Id,
      description: 'Null: the channel was disconnected while a message of this was on the wire.',
    }),
    channel: oneOf(channelNames),
    jobId: nullable(
      T.String({
        format: 'uuid',
        description: 'The job that it answers. Null: it was said without one.',
      }),
    ),
    messageId: nullable(T.String({ format: 'uuid', description: 'The message that it answers.' })),
    conversationId: nullable(Id),
    recipient: untrustedName(T.String({ description: 'As people read it.' })),
    text: T.String({ description: 'In Markdown. Codes that link senders are masked.' }),
    parts: T.Array(Part, {
      description: 'The messages that it becomes. None before its first try.',
    }),
    status: oneOf(statuses, {
      description:
        'held: a person decides whether it goes. failed: it was not sent, or its provider could not deliver it. unknown: some of it may have arrived, for the reason in error; it is not sent again until a person settles that. discarded: a person decided against it, or disconnected its channel, and what was left of it is not sent; or the linked sender whom it answers is no longer linked to a member.',
    }),
    why: nullable(T.String({ description: 'Why it waits, or waited, for a person.' })),
    tries: T.Integer({ description: 'In a row, and in vain.' }),
    error: untrusted(nullable(T.String({ description: 'May hold words of the provider.' }))),
    url: T.String({ description: 'The page where a person decides about a held one.' }),
    decidedBy: nullable(Id),
    decidedAt: nullable(Time),
    sentAt: nullable({ ...Time, description: 'When its first message was sent.' }),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'ChannelReply' },
)

export type ShownChannelReply = Shown<Static<typeof Reply>>

const OneReply = record({ reply: Reply })
const deciding = {
  scope: 'session',
  roles: ['approver'],
  errors: ['not_found', 'conflict'],
  repeatable: true,
} as const

export const channelReplies = {
  list: op.query(
    'GET /api/v1/channels/replies',
    'List what goes out to channels, newest first. Filter by status, connection and job: held ones wait for a person.',
    {
      input: {
        status: T.Optional(oneOf(statuses, { description: 'Return only replies in this state.' })),
        connectionId: T.Optional({ ...Id, description: 'Return only replies of this connection.' }),
        jobId: T.Optional({ ...Id, description: 'Return only replies to this job.' }),
        ...page,
      },
      output: record({ replies: T.Array(Reply), ...nextCursor }),
    },
    { ...use, ...everybody },
  ),
  get: op.query(
    'GET /api/v1/channels/replies/:id',
    'Get a reply, with the messages that it becomes in its channel.',
    { input: { id: Id }, output: OneReply },
    { ...use, ...everybody, errors: ['not_found'] },
  ),
  send: op.command(
    'POST /api/v1/channels/replies/:id/send',
    'Send a held reply, perhaps with another text; or what failed of one again. What was sent, or may have been, is not repeated. Requires a signed-in person.',
    {
      input: {
        id: Id,
        text: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 100_000,
            pattern: NOT_BLANK,
            description: 'In Markdown. Only of a held one.',
          }),
        ),
      },
      output: OneReply,
    },
    deciding,
  ),
  discard: op.command(
    'POST /api/v1/channels/replies/:id/discard',
    'Discard a reply: nothing more of it is sent, whether it is held or on its way. A message that is on the wire already is listed in in_flight: the reply is sending until its outcome is known, and goes no further. Requires a signed-in person.',
    { input: { id: Id }, output: record({ reply: Reply, in_flight: InFlight }) },
    { ...deciding, recalls: true },
  ),
  settle: op.command(
    'POST /api/v1/channels/replies/:id/settle',
    'Say what became of the messages of a reply that may have arrived: look in the channel, or ask the recipient. arrived: they count as sent, and it goes on with those that were not sent. not_arrived: they are sent again, then what follows; what is known to be sent is not repeated. Only the first answer counts; later ones get 409. Nothing is sent of a reply that was discarded, or whose channel is disconnected. Requires a signed-in person.',
    {
      input: {
        id: Id,
        outcome: oneOf(['arrived', 'not_arrived'], {
          description: 'Of the messages that are unknown.',
        }),
        updatedAt: {
          ...Time,
          description:
            'updatedAt of the reply as you saw it: 409 if it has changed since, perhaps into another doubt.',
        },
      },
      output: OneReply,
    },
    { ...deciding, repeatable: false },
  ),
}
