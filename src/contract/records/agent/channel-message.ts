/** What came in from a channel, and what goes out to one. */
import { type Static, Type as T } from '@sinclair/typebox'
import { Id, markUntrusted, nullable, oneOf, record, Time, untrustedName } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { ChannelSchema } from './channel-connection.ts'

/** Values that only the adapter of a channel understands. */
const Adapters = T.Record(T.String(), T.Unknown())

const MessageFile = record({
  // As the sender named it.
  name: T.String(),
  mimeType: T.String(),
  // Null if unknown.
  byteSize: nullable(T.Integer()),
  // What the adapter needs to fetch it. Null if it cannot or should not be fetched.
  ref: nullable(Adapters),
  // The document that holds its text.
  document: T.Optional(record({ id: T.String(), name: T.String() })),
  // Why it was not read.
  error: T.Optional(T.String()),
})
export type MessageFile = Static<typeof MessageFile>

const unexported = 'of use to the server alone'

export const channelMessageRecord = declare(
  'channel_message',
  { hidden: 'conversations show what became of it' },
  {
    id: { type: 'uuid', fixed: true },
    connection_id: { type: 'uuid', fixed: true },
    // fetching: its text or files have yet to be read from the provider. taken: its job has begun.
    state: { type: 'text', of: oneOf(['fetching', 'taken', 'failed']) },
    sender: { type: 'text' },
    sender_name: { type: 'text', null: true },
    // The linked sender. Null for a stranger.
    identity_id: { type: 'uuid', null: true },
    thread: { type: 'text' },
    is_shared: { type: 'boolean' },
    subject: { type: 'text', null: true },
    text: { type: 'text', null: true },
    attachments: { type: 'jsonb', of: T.Array(MessageFile) },
    reply_to: { type: 'jsonb', of: Adapters, unexported },
    direct_to: { type: 'jsonb', of: Adapters, null: true, unexported },
    to_fetch: { type: 'jsonb', of: Adapters, null: true, unexported },
    error: { type: 'text', null: true },
    job_id: { type: 'uuid', null: true },
    conversation_id: { type: 'uuid', null: true },
    created_at: { type: 'timestamp with time zone', fixed: true },
    updated_at: { type: 'timestamp with time zone' },
  },
)

export const replyStatuses = [
  'held',
  'queued',
  'sending',
  'sent',
  'failed',
  'unknown',
  'discarded',
] as const

const part = {
  text: T.String({ description: 'In the form of the channel.' }),
  state: oneOf(['queued', 'sending', 'sent', 'failed', 'unknown']),
}
const ShownPart = record(
  {
    ...part,
    externalId: nullable(T.String({ description: 'As the provider names the message.' })),
    error: markUntrusted(nullable(T.String())),
  },
  { title: 'ChannelReplyPart' },
)
const Part = record({
  ...part,
  external_id: nullable(T.String()),
  error: nullable(T.String()),
  // When it was first tried, in ISO 8601. Null if it has not been tried.
  tried_at: nullable(T.String()),
  // One try may already have been sent. The provider takes another one with the same id for the
  // same message.
  in_doubt: T.Boolean(),
  // Its reply was discarded, or its channel disconnected, so it is no longer sent.
  dropped: T.Optional(T.Boolean()),
  // How often a person had it sent again after finding out that it had not arrived.
  round: T.Optional(T.Integer()),
})
/** A part of a text in a channel's form: what one message of the provider holds. */
export type ReplyPart = Static<typeof Part>

/** How much of the message that a reply answers is shown, in characters. */
export const questionLimits = { read: 20_000, listed: 500 } as const

const question = {
  text: markUntrusted(T.String({ description: 'What the sender wrote, or its beginning.' })),
  subject: markUntrusted(nullable(T.String({ description: 'Of a mail.' }))),
}
const Question = record({
  ...question,
  is_cut: T.Boolean(),
  sender: T.String(),
  // JSON.
  at: T.String(),
  is_hidden: T.Boolean(),
})
export type QuestionRow = Static<typeof Question>
const ShownQuestion = record(
  {
    ...question,
    isCut: T.Boolean({ description: 'True if the text goes on.' }),
    sender: untrustedName(T.String()),
    at: Time,
  },
  {
    title: 'ChannelQuestion',
    description: `The message that a reply answers, as long as it is kept. A list shows its first ${questionLimits.listed} characters.`,
  },
)

export const channelReplyRecord = declare(
  'channel_reply',
  { title: 'ChannelReply', case: 'camelCase' },
  {
    id,
    connection_id: {
      type: 'uuid',
      shown: nullable({
        ...Id,
        description: 'Null: the channel was disconnected while a message of this was on the wire.',
      }),
      fixed: true,
    },
    // Stored only once its connection is gone.
    channel: { type: 'text', null: true, shown: ChannelSchema, from: 'query' },
    job_id: {
      type: 'uuid',
      shown: nullable(
        T.String({
          format: 'uuid',
          description: 'The job that it answers. Null: it was said without one.',
        }),
      ),
    },
    message_id: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'The message that it answers.' })),
    },
    conversation_id: { type: 'uuid', shown: nullable(Id) },
    question: { shown: nullable(ShownQuestion), from: 'view' },
    asked: { of: Question, null: true, hidden: 'the row of question', from: 'query' },
    recipient: {
      type: 'text',
      shown: untrustedName(T.String({ description: 'As people read it.' })),
    },
    reply_to: {
      type: 'jsonb',
      of: Adapters,
      hidden: 'what the adapter needs to send it',
      unexported,
    },
    text: {
      type: 'text',
      shown: T.String({ description: 'In Markdown. Codes that link senders are masked.' }),
    },
    content_hash: {
      shown: nullable(
        T.String({ description: 'SHA-256 of the text; null where the text is not shown.' }),
      ),
      from: 'view',
    },
    parts: {
      type: 'jsonb',
      of: T.Array(Part),
      shown: T.Array(ShownPart, {
        description: 'The messages that it becomes. None before its first try.',
      }),
    },
    status: {
      type: 'text',
      shown: oneOf(replyStatuses, {
        description:
          'held: a person decides whether it goes. failed: it was not sent, or its provider could not deliver it. unknown: some of it may have arrived, for the reason in error; it is not sent again until a person settles that. discarded: a person decided against it, or disconnected its channel, and what was left of it is not sent; or the linked sender whom it answers is no longer linked to a member.',
      }),
    },
    why: {
      type: 'text',
      shown: nullable(T.String({ description: 'Why it waits, or waited, for a person.' })),
    },
    tries: { type: 'integer', shown: T.Integer({ description: 'In a row, and in vain.' }) },
    error: {
      type: 'text',
      shown: markUntrusted(nullable(T.String({ description: 'May hold words of the provider.' }))),
    },
    url: {
      shown: T.String({ description: 'The page where a person decides about a held one.' }),
      from: 'view',
    },
    // The person who decided about a held reply, or who had a failed one tried again.
    decided_by: { type: 'uuid', shown: nullable(Id) },
    decided_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    sent_at: {
      type: 'timestamp with time zone',
      shown: nullable({ ...Time, description: 'When its first message was sent.' }),
    },
    ...times,
    secret: {
      type: 'bytea',
      null: true,
      hidden: 'goes out with its parts',
      from: 'elsewhere',
      unexported: 'a secret, until it has gone out',
    },
    html: {
      type: 'text[]',
      null: true,
      hidden: 'its parts in HTML',
      from: 'elsewhere',
      unexported: 'made of its text, until it has gone out',
    },
  },
)
