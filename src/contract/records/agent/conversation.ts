/** A conversation with the agent, and what is said in it. */
import { Type as T } from '@sinclair/typebox'
import { Id, markUntrustedIf, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

/** Who sees a conversation and everything that is made of it. */
export const visibilities = ['workspace', 'private'] as const
export const conversationStatuses = ['active', 'archived'] as const

const summed = 'given to models in the place of messages'
const thread = 'where it is held, if in a channel'

export const conversationRecord = declare(
  'agent_conversation',
  { title: 'Conversation', case: 'camelCase' },
  {
    id,
    title: {
      type: 'text',
      shown: nullable(
        T.String({ description: 'Without one, the first 60 characters of the first message.' }),
      ),
    },
    status: {
      type: 'text',
      shown: oneOf(conversationStatuses, { description: 'archived: takes no more messages.' }),
    },
    origin: {
      type: 'text',
      shown: oneOf(['app', 'channel', 'schedule', 'webhook']),
      fixed: true,
    },
    visibility: {
      type: 'text',
      shown: oneOf(visibilities, {
        description:
          'private: the person who began it and the people whom they have added see it, and all that is made of it. Owners get it with the export of the workspace.',
      }),
    },
    // Null if a key of the workspace began it.
    person_id: { type: 'uuid', shown: nullable(Id), as: 'startedBy', fixed: true },
    people: { type: 'jsonb', shown: T.Array(Id, { description: 'Who was added.' }) },
    hidden: {
      shown: T.Boolean({
        description:
          'true: a private conversation of others, without title and people. Owners see that it exists, and can delete it.',
      }),
      from: 'view',
    },
    ...times,
    last_at: { type: 'timestamp with time zone', shown: Time },
    summary: { type: 'text', null: true, hidden: summed },
    // The summary covers the messages up to this number.
    summarised_to: { type: 'integer', hidden: summed },
    summary_untrusted: { type: 'boolean', hidden: summed, from: 'elsewhere' },
    summary_authors: {
      type: 'jsonb',
      hidden: summed,
      from: 'elsewhere',
      unexported: 'follows from the messages, which are exported',
    },
    next_seq: {
      type: 'integer',
      hidden: 'the number of its next message',
      unexported: 'follows from the messages, which are exported',
    },
    handles: {
      type: 'jsonb',
      hidden: 'short names of records for models',
      from: 'elsewhere',
      unexported: 'short names of records for models',
    },
    connection_id: { type: 'uuid', null: true, hidden: thread, from: 'elsewhere' },
    thread: { type: 'text', null: true, hidden: thread, from: 'elsewhere' },
    deleted_at: {
      type: 'timestamp with time zone',
      null: true,
      hidden: 'a deleted one is shown to nobody',
      from: 'elsewhere',
    },
  },
)

export const messageRecord = declare(
  'agent_message',
  { title: 'Message', case: 'camelCase' },
  {
    id,
    conversation_id: { type: 'uuid', shown: Id },
    seq: { type: 'integer', shown: T.Integer() },
    role: {
      type: 'text',
      shown: oneOf(['user', 'assistant', 'notice'], {
        description: 'notice: of the service itself.',
      }),
    },
    content: { type: 'text', shown: markUntrustedIf({ field: 'job.taint' }, T.String()) },
    job_id: { type: 'uuid', shown: nullable(Id) },
    // Not always the message before.
    reply_to: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'The message that it answers.' })),
    },
    model: { type: 'text', shown: nullable(T.String()) },
    tools_used: { type: 'jsonb', shown: T.Array(T.String()) },
    created_at: times.created_at,
    // For an agent, the id is that of its job. For a channel, it is that of the sender who asks for
    // the job.
    author: {
      type: 'jsonb',
      of: record({
        kind: oneOf(['key', 'session', 'channel', 'agent', 'webhook']),
        id: T.String(),
        personId: T.Optional(nullable(T.String())),
      }),
      hidden: 'for the rights of what is done with it',
    },
    untrusted: { type: 'boolean', hidden: 'whether it may hold words of people outside' },
    updated_at: { type: 'timestamp with time zone', hidden: 'messages do not change' },
  },
)
