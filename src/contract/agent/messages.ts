import { Type as T } from '@sinclair/typebox'
import { everybody, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { messageRecord, visibilities } from '../records/agent/conversation.ts'
import { NOT_BLANK, nullable, oneOf, record } from '../shapes.ts'
import { ApprovalSchema } from './approvals.ts'
import { JobSchema } from './jobs.ts'

/** What a message to the agent says. */
export const turn = {
  content: T.String({
    minLength: 1,
    maxLength: 10_000,
    pattern: NOT_BLANK,
    examples: ['Draft three posts about late deliveries'],
  }),
  model: T.Optional(
    T.String({
      minLength: 1,
      maxLength: 200,
      description: 'fast, reasoning, or a name in MODEL_ALLOW. Default reasoning.',
      examples: ['fast'],
    }),
  ),
  toolNames: T.Optional(
    T.Array(T.String({ minLength: 1, maxLength: 64, examples: ['growth_list_queue'] }), {
      maxItems: 100,
      description: 'Offer exactly these tools.',
    }),
  ),
}

export const messages = {
  send: op.command(
    'POST /api/v1/agent/messages',
    "Ask the workspace's agent. Begins a conversation, or goes on with one. A job answers; what it wants to publish waits for a person.",
    {
      input: {
        ...turn,
        conversationId: T.Optional(
          T.String({ format: 'uuid', description: 'Go on with this conversation.' }),
        ),
        visibility: T.Optional(
          oneOf(visibilities, {
            description: 'Of a conversation that this message begins. Default workspace.',
          }),
        ),
      },
      output: record({
        job: JobSchema,
        approvals: T.Array(ApprovalSchema),
        answer: nullable(messageRecord.schema),
      }),
    },
    {
      ...use,
      ...everybody,
      tool: 'agent_send_message',
      agent: 'never',
      foreign: true,
      status: 201,
      settles: 'agent.jobs.get',
      errors: ['not_found', 'conflict', 'plan_invalid'],
    },
  ),
}
