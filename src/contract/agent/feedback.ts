import { Type as T } from '@sinclair/typebox'
import { everybody, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { feedbackRecord, verdicts } from '../records/agent/feedback.ts'
import { Id, oneOf, record, Time } from '../shapes.ts'

const Feedback = feedbackRecord.schema

export const conversationFeedback = {
  list: op.query(
    'GET /api/v1/agent/conversations/:id/feedback',
    'List your own feedback on the messages of a conversation.',
    { input: { id: Id }, output: record({ feedback: T.Array(Feedback) }) },
    { ...use, anyId: true, errors: ['not_found'] },
  ),
  give: op.command(
    'POST /api/v1/agent/conversations/:id/feedback',
    'Say whether an answer of the agent was good. A second verdict on the same message replaces yours.',
    {
      input: {
        id: Id,
        messageId: T.String({
          minLength: 1,
          maxLength: 200,
          examples: ['018f47a0-0000-7000-8000-000000000000'],
        }),
        verdict: oneOf(verdicts),
        correction: T.Optional(T.String({ minLength: 1, maxLength: 4_000 })),
      },
      output: record({ feedback: Feedback }),
    },
    { ...use, ...everybody, status: 201, errors: ['not_found'], failure: 'insert failed' },
  ),
}

export const feedback = {
  list: op.query(
    'GET /api/v1/agent/feedback',
    'List feedback on the answers of the agent, newest first. Filter by verdict or time.',
    {
      input: {
        verdict: T.Optional(oneOf(verdicts, { description: 'Return only these verdicts.' })),
        since: T.Optional(Time),
        limit: T.Optional(
          T.Integer({
            minimum: 1,
            maximum: 200,
            default: 50,
            description: 'The most to return. Default 50.',
          }),
        ),
      },
      output: record({ feedback: T.Array(Feedback) }),
    },
    use,
  ),
}
