import { Type as T } from '@sinclair/typebox'
import { everybody, followed, following, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import {
  conversationRecord,
  conversationStatuses,
  messageRecord,
  visibilities,
} from '../records/agent/conversation.ts'
import { cursorLike, Id, NOT_BLANK, oneOf, record, Time } from '../shapes.ts'
import { InFlight } from '../shared-records.ts'
import { JobSchema } from './jobs.ts'
import { turn } from './messages.ts'

const Conversation = conversationRecord.schema
const Message = messageRecord.schema

const ConversationEvent = record(
  {
    seq: T.Integer({
      description: 'The place of the event among those of the conversation. It has gaps.',
    }),
    jobId: Id,
    at: Time,
    type: T.String(),
    data: T.Record(T.String(), T.Unknown()),
  },
  { title: 'ConversationEvent' },
)

const title = T.String({
  minLength: 1,
  maxLength: 160,
  pattern: NOT_BLANK,
  examples: ['Posts for the launch'],
})
export const OneConversation = record({ conversation: Conversation })

export const conversations = {
  list: op.query(
    'GET /api/v1/agent/conversations',
    'List conversations with the agent that you see, newest activity first. Filter by status or visibility. With visibility=private, a signed-in owner also gets those of others, without their titles and people.',
    {
      input: {
        status: T.Optional(
          oneOf(conversationStatuses, { description: 'Return only conversations in this state.' }),
        ),
        visibility: T.Optional(
          oneOf(visibilities, { description: 'Return only conversations of this visibility.' }),
        ),
        ...shortPage,
        // A time and an id.
        cursor: cursorLike('MTc2MzcwMDAwMDAwMCAwMThmNDdhMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA='),
      },
      output: record({ conversations: T.Array(Conversation), ...nextCursor }),
    },
    use,
  ),
  create: op.command(
    'POST /api/v1/agent/conversations',
    'Begin a conversation with the agent. Send it a message next.',
    { input: { title: T.Optional(title) }, output: OneConversation },
    { ...use, ...everybody, status: 201 },
  ),
  get: op.query(
    'GET /api/v1/agent/conversations/:id',
    'Get a conversation with its 50 newest messages and its jobs that are not over.',
    {
      input: { id: Id },
      output: record({
        conversation: Conversation,
        messages: T.Array(Message),
        openJobs: T.Array(JobSchema),
      }),
    },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  update: op.command(
    'PATCH /api/v1/agent/conversations/:id',
    'Rename a conversation, archive it, or make it active again. The person who began it also decides who sees it.',
    {
      input: {
        id: Id,
        title: T.Optional(title),
        status: T.Optional(oneOf(conversationStatuses)),
        visibility: T.Optional(
          oneOf(visibilities, {
            description:
              'workspace shows everybody all that was said in it before. private hides it from now on; what others have seen, they have seen. 409 if somebody who wrote in it could no longer see it: add them first. A thread that a channel shows to others stays with the workspace.',
          }),
        ),
      },
      output: OneConversation,
    },
    { ...use, ...everybody, errors: ['not_found', 'conflict'], repeatable: true },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/conversations/:id',
    'Delete a conversation with all that was made of it, for everybody. Its jobs are cancelled, and no more of its replies go out to channels; what is on its way already is listed in in_flight. It is erased after 30 days. Requires the person who began it, or an owner; for a private conversation of others, an owner who is signed in.',
    { input: { id: Id }, output: record({ ...OneConversation.properties, in_flight: InFlight }) },
    { ...use, ...everybody, errors: ['not_found'], urgent: true, destructive: true },
  ),
  messages: op.query(
    'GET /api/v1/agent/conversations/:id/messages',
    'List the messages of a conversation, newest first.',
    {
      input: { id: Id, ...shortPage },
      output: record({ messages: T.Array(Message), ...nextCursor }),
    },
    { ...use, errors: ['not_found'] },
  ),
  events: op.query(
    'GET /api/v1/agent/conversations/:id/events',
    'Get what happened in all jobs of a conversation since an event. As text/event-stream, the same as it happens.',
    { input: following, output: record({ events: T.Array(ConversationEvent), ...followed }) },
    { ...use, stream: 'events', errors: ['not_found'] },
  ),
  send: op.command(
    'POST /api/v1/agent/conversations/:id/messages',
    'Send a message. A job answers it: follow the job, or read the conversation again. What the agent wants to publish waits for a person.',
    {
      input: { id: Id, ...turn },
      output: record({ message: Message, job: JobSchema }),
    },
    { ...use, ...everybody, status: 201, errors: ['not_found', 'conflict', 'plan_invalid'] },
  ),
}
