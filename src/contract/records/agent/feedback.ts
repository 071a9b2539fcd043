/** What somebody thought of an answer of the agent. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'

export const verdicts = ['up', 'down'] as const

export const feedbackRecord = declare(
  'agent_feedback',
  { title: 'MessageFeedback', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id },
    tenant_id: { shown: Id, from: 'view' },
    conversation_id: { type: 'uuid', shown: Id },
    message_id: { type: 'uuid', shown: T.String() },
    job_id: { type: 'uuid', shown: nullable(Id) },
    // The person, or the key if the key belongs to the workspace.
    user_id: { type: 'uuid', shown: Id },
    verdict: { type: 'text', shown: oneOf(verdicts) },
    correction: { type: 'text', shown: nullable(T.String()) },
    message_excerpt: { type: 'text', shown: T.String() },
    metadata: { type: 'jsonb', shown: T.Record(T.String(), T.Unknown()) },
    created_at: { type: 'timestamp with time zone', shown: Time },
    updated_at: { type: 'timestamp with time zone', shown: Time },
  },
)
