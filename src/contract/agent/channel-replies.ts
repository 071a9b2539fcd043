import { type Static, Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { channelReplyRecord, replyStatuses } from '../records/agent/channel-message.ts'
import { ExpectHash, Id, NOT_BLANK, nullable, oneOf, record, type Shown, Time } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'

const Reply = channelReplyRecord.schema

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
        status: T.Optional(
          oneOf(replyStatuses, { description: 'Return only replies in this state.' }),
        ),
        connectionId: T.Optional({ ...Id, description: 'Return only replies of this connection.' }),
        jobId: T.Optional({ ...Id, description: 'Return only replies to this job.' }),
        ...shortPage,
      },
      output: record({ replies: T.Array(Reply), ...nextCursor }),
    },
    { ...use, ...everybody },
  ),
  get: op.query(
    'GET /api/v1/channels/replies/:id',
    'Get a reply, with the messages that it becomes in its channel.',
    {
      input: { id: Id },
      output: record({
        reply: Reply,
        messages: nullable(
          T.Array(T.String(), {
            description:
              'Of a held one: the messages that its text becomes, in the form of the channel. Null of others, which have parts, and where the text is not shown.',
          }),
        ),
      }),
    },
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
        expect_hash: T.Optional({
          ...ExpectHash,
          examples: ['d9f5351d'],
          description:
            'The contentHash that you saw, or its first digits: 409 if the text is another one.',
        }),
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
