/** A rule by which a signed post from outside starts a job. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'
import { OnBehalfSchema } from './on-behalf.ts'

/** Why posts are refused. */
export const disablers = ['person', 'caller_gone'] as const

export const webhookRuleRecord = declare(
  'webhook_rule',
  { title: 'WebhookRule', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id, fixed: true },
    name: { type: 'text', shown: T.String() },
    // The tools that its jobs may use. Null: those of its caller.
    tools: { type: 'jsonb', shown: nullable(T.Array(T.String())) },
    enabled: { type: 'boolean', shown: T.Boolean() },
    disabled_by: {
      shown: nullable(
        oneOf(disablers, {
          description:
            'caller_gone: whoever it runs for has left the workspace, or its key ended. Enable it to run it in your name.',
        }),
      ),
      from: 'view',
    },
    path: {
      shown: T.String({ description: 'Where to post, below the address of this server.' }),
      from: 'view',
    },
    secret: {
      type: 'bytea',
      shown: T.String({ description: 'Masked.' }),
      from: 'elsewhere',
      unexported: 'the secret that signs posts; only its copy at the sender is of use',
    },
    last_at: { type: 'timestamp with time zone', shown: nullable(Time), as: 'lastUsedAt' },
    received: { type: 'integer', shown: T.Integer({ description: 'Posts that began a job.' }) },
    refused: {
      type: 'integer',
      shown: T.Integer({ description: 'Posts over the rate of 60 an hour.' }),
    },
    created_at: { type: 'timestamp with time zone', shown: Time, fixed: true },
    goal: { type: 'text', shown: T.String() },
    reveal_to: {
      type: 'jsonb',
      of: T.Array(T.String()),
      hidden: 'the people to whom the secret may still be shown, once',
      unexported: 'who may still be shown the secret',
    },
    secret_is_unseen: {
      shown: T.Boolean({ description: 'Whether it can still be revealed, once.' }),
      from: 'view',
    },
    taint: {
      type: 'jsonb',
      shown: T.Array(T.String(), {
        description: 'Where untrusted text came from that the goal may follow.',
      }),
    },
    on_behalf: { type: 'jsonb', of: OnBehalfSchema, hidden: 'in whose name its jobs run' },
    goal_by: {
      type: 'jsonb',
      of: OnBehalfSchema,
      null: true,
      hidden: 'who wrote its goal; null: whoever they run for',
    },
    is_abandoned: {
      of: T.Boolean(),
      hidden:
        'whether whoever it runs for has left the workspace, or the key ended: posts are refused. It is seen as disabled',
      from: 'query',
    },
    updated_at: { type: 'timestamp with time zone', shown: Time },
  },
)
