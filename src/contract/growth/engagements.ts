import { Type as T } from '@sinclair/typebox'
import { ReplyWait } from '../keyed-input.ts'
import { op } from '../op.ts'
import {
  EngagementAction,
  EngagementSchema,
  engagementStatuses,
  OneEngagement,
} from '../records/growth/engagement.ts'
import { OnlyRestored } from '../records/growth/restored.ts'
import { created, ExpectHash, Id, NextCursor, page, record, someOf, theText } from '../shapes.ts'
import { engagementLife } from './engagement-life.ts'
import { engagementReading } from './engagement-reading.ts'

const id = Id
const onEngagement = ['not_found', 'conflict'] as const

/** The input of a new engagement, without its post. */
export const wish = {
  action: EngagementAction,
  instruction: T.Optional(
    T.String({
      maxLength: 2_000,
      description: 'What a reply or quote should say.',
      examples: ['Agree, and tell of the week in the van'],
    }),
  ),
  body: T.Optional(
    T.String({ minLength: 1, maxLength: 25_000, description: 'The exact text; skips drafting.' }),
  ),
}

const execute = op.awaited(
  'POST /api/v1/growth/engagements/:id/execute',
  'Execute an approved engagement now. It is public at once. 409 with the reason and a link, and nothing sent, if the network does not allow it. ' +
    'Returns 202 with the current engagement if the outcome takes longer than 20 seconds, or the time in wait. One in doubt is never sent again: it is looked up, and if necessary left for a person (review).',
  { input: { id, wait: ReplyWait }, output: OneEngagement },
  {
    tool: 'growth_execute_engagement',
    agent: 'commit',
    foreign: true,
    errors: [...onEngagement, 'x_not_connected', 'network_error'],
    roles: ['approver'],
    destructive: true,
    outside: true,
    feature: 'engagement',
    cap: 'execute_engagement',
  },
)

export const engagements = {
  list: op.query(
    'GET /api/v1/growth/engagements',
    'List engagements, newest first. Drafted ones await approval.',
    {
      input: {
        status: T.Optional(someOf(engagementStatuses, 'Return only those in this state.')),
        action: T.Optional({ ...EngagementAction, description: 'Only these.' }),
        signal_id: T.Optional(
          T.String({ format: 'uuid', description: 'Return only answers to this signal.' }),
        ),
        restored: T.Optional(OnlyRestored),
        ...created,
        ...page,
      },
      output: record({ engagements: T.Array(EngagementSchema), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_engagements', agent: 'read', foreign: true },
  ),
  ...engagementReading,
  create: op.prepared(
    'POST /api/v1/growth/engagements',
    'Draft a reply, quote, repost or like. Reads the post (1 read of the daily budget) and checks that the network allows the action: ' +
      'if not, 409 with the reason and a link to do it by hand. A reply or quote without a body is drafted from the profile; ' +
      'poll the list. Nothing goes out until you approve and execute it. One per action and post.',
    {
      input: {
        post: T.String({
          minLength: 1,
          maxLength: 500,
          description: 'The URL or id of the post.',
          examples: ['1859712345678901234'],
        }),
        ...wish,
      },
      output: OneEngagement,
    },
    {
      tool: 'growth_create_engagement',
      agent: 'draft',
      foreign: true,
      status: 201,
      errors: [...onEngagement, 'network_error', 'x_read_budget_exhausted'],
      roles: ['editor'],
      settles: 'list',
      feature: 'engagement',
      cap: 'create_engagement',
    },
  ),
  approve: op.awaited(
    'POST /api/v1/growth/engagements/:id/approve',
    'Approve a drafted engagement, as is or with an edited body. Sends nothing yet; with execute: true it is sent at once, or refused as a whole. The approval covers this text and the default account only. ' +
      'For one in review (execute_unconfirmed), confirms that a person found it on the network, and marks it executed.',
    {
      input: {
        id,
        body: theText(T.Optional(T.String({ minLength: 1, maxLength: 25_000 }))),
        expect_hash: T.Optional(ExpectHash),
        execute: T.Optional(
          T.Boolean({
            description: 'Also execute it now, as execute does; if that is refused, so is this.',
          }),
        ),
        wait: ReplyWait,
      },
      output: OneEngagement,
    },
    {
      tool: 'growth_approve_engagement',
      agent: 'commit',
      foreign: true,
      errors: [...onEngagement, 'x_not_connected', 'network_error'],
      includes: { field: 'execute', of: execute },
      roles: ['approver'],
      destructive: true,
    },
  ),
  reject: op.command(
    'POST /api/v1/growth/engagements/:id/reject',
    'Reject a drafted engagement. Also one that the network refused, or one in review that is not on the network. Frees the post for another.',
    {
      input: {
        id,
        reason: T.Optional(T.String({ maxLength: 2_000, examples: ['Not our subject'] })),
      },
      output: OneEngagement,
    },
    {
      tool: 'growth_reject_engagement',
      agent: 'draft',
      foreign: true,
      errors: onEngagement,
      roles: ['editor', 'approver'],
      recalls: true,
      destructive: true,
    },
  ),
  execute,
  ...engagementLife,
}
