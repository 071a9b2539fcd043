import { Type as T } from '@sinclair/typebox'
import { nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { disablers, webhookRuleRecord } from '../records/agent/webhook-rule.ts'
import {
  fieldsBut,
  Id,
  markUntrusted,
  NOT_BLANK,
  nameForModels,
  nullable,
  oneOf,
  record,
  secret,
} from '../shapes.ts'

const Name = T.String({
  minLength: 1,
  maxLength: 160,
  format: 'name',
  pattern: NOT_BLANK,
  examples: ['Orders of the shop'],
})
const Goal = T.String({
  minLength: 1,
  maxLength: 10_000,
  pattern: NOT_BLANK,
  examples: ['Say what was ordered, and whether it deserves a post'],
  description: 'What to do with each post.',
})
const Tools = T.Array(T.String({ minLength: 1, maxLength: 64, examples: ['growth_list_queue'] }), {
  maxItems: 100,
  description: 'The only tools of its jobs. Default: all.',
})

const WebhookRule = webhookRuleRecord.schema

const shape = fieldsBut(WebhookRule, ['goal', 'secretIsUnseen', 'taint', 'updatedAt'])

/** A rule as the agent sees it. */
const InboundWebhookRule = record(
  {
    ...shape,
    disabledBy: nullable(oneOf(disablers)),
    goal: nullable(T.String({ description: 'Null where it may follow text of people outside.' })),
    untrustedGoal: markUntrusted(nullable(T.String())),
  },
  { title: 'InboundWebhookRule' },
)

const OneRule = record({ webhookRule: WebhookRule })
const WithSecret = record({
  webhookRule: WebhookRule,
  secret: T.String({ description: 'Shown once. Sign posts with it, as in Standard Webhooks 1.0.' }),
})
const deciding = { ...use, roles: ['approver'] } as const

export const webhookRules = {
  list: op.query(
    'GET /api/v1/agent/webhook-rules',
    'List webhook rules, newest first: addresses where a signed post from outside starts a job of the agent.',
    { input: shortPage, output: record({ webhookRules: T.Array(WebhookRule), ...nextCursor }) },
    use,
  ),
  get: op.query(
    'GET /api/v1/agent/webhook-rules/:id',
    'Get a webhook rule. Its secret is masked.',
    { input: { id: Id }, output: OneRule },
    { ...use, errors: ['not_found'] },
  ),
  update: op.command(
    'PATCH /api/v1/agent/webhook-rules/:id',
    'Change a webhook rule, or disable or enable it. Omitted fields keep their value. With another goal or other tools its jobs run in your name from then on, and so they do if you enable one whose maker has left. Its goal stays the words of whoever wrote it; send the goal, too, to make the words yours.',
    {
      input: {
        id: Id,
        name: T.Optional(Name),
        goal: T.Optional(Goal),
        tools: T.Optional(Tools),
        enabled: T.Optional(T.Boolean()),
      },
      output: OneRule,
    },
    { ...deciding, errors: ['not_found'], repeatable: true },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/webhook-rules/:id',
    'Delete a webhook rule. Its address answers as an unknown one from then on; jobs that have begun go on.',
    { input: { id: Id }, output: OneRule },
    { ...deciding, errors: ['not_found'], destructive: true },
  ),
  rotate: op.command(
    'POST /api/v1/agent/webhook-rules/:id/rotate',
    'Replace the secret of a webhook rule. Returns the new one, once. The former secret ends at once.',
    { input: { id: Id }, output: WithSecret },
    { ...deciding, errors: ['not_found'], secret: true },
  ),
  reveal: op.command(
    'POST /api/v1/agent/webhook-rules/:id/reveal',
    'Reveal the secret of a webhook rule that the agent has made, once. Requires the signed-in person who asked for it or approved it.',
    { input: { id: Id }, output: WithSecret },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      errors: ['not_found', 'conflict'],
      secret: true,
    },
  ),
}

export const webhookRuleCapabilities = {
  create_webhook_rule: op.command(
    'POST /api/v1/actions/create_webhook_rule',
    'Create a signed inbound webhook rule: each post to its path, signed as in Standard Webhooks, starts a job with this goal. What such a job writes waits for a person.',
    {
      input: { name: Name, goal: Goal, tools: T.Optional(Tools) },
      output: nameForModels(
        'webhook_rule',
        record({
          id: Id,
          path: T.String({ description: 'Where to post, below the address of this server.' }),
          secret: secret(nullable(T.String({ description: 'Shown once, to the caller.' }))),
        }),
      ),
    },
    {
      ...deciding,
      tool: 'create_webhook_rule',
      agent: 'commit',
      errors: ['conflict'],
      secret: true,
    },
  ),
  list_webhook_rules: op.query(
    'GET /api/v1/actions/list_webhook_rules',
    'List inbound webhook rules, newest first, with secrets masked.',
    {
      input: shortPage,
      output: record({
        rules: nameForModels('webhook_rule', T.Array(InboundWebhookRule)),
        ...nextCursor,
      }),
    },
    { ...use, tool: 'list_webhook_rules', agent: 'read', foreign: true },
  ),
}
