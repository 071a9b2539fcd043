/** Records that operations of several areas return. */
import { Type as T } from '@sinclair/typebox'
import { features } from './limits.ts'
import { connectionRecord } from './records/growth/connection.ts'
import { countNames } from './records/growth/item.ts'
import { Id, nullable, oneOf, record, Time } from './shapes.ts'

const Reads = record(
  {
    tier: oneOf(['free', 'payg']),
    unit: oneOf(['resources', 'usd_micros'], {
      description: 'resources on free; usd_micros, millionths of a US dollar, on payg.',
    }),
    used: T.Integer(),
    limit: T.Integer(),
    reserved: T.Integer({ description: 'The part of limit reserved for settling posts in doubt.' }),
    resets_at: Time,
  },
  { title: 'Reads', description: 'The daily budget for reads from the network. Days are UTC.' },
)

const budget = {
  key: T.String({ description: 'The key that errors name, for example posts.' }),
  used: T.Integer(),
  limit: T.Integer(),
  period: T.String({ description: 'A month, a day or an hour, in UTC.', examples: ['2026-11'] }),
  resets_at: Time,
}

const Budget = record(budget, { title: 'Budget' })

const NearLimit = record(
  {
    ...budget,
    level: T.Integer({ description: '80: at least four fifths are used; 100: all of it.' }),
    message: T.String({
      description: 'How much is used, when a new count starts, and who can raise the limit.',
    }),
  },
  { title: 'NearLimit' },
)

export const PlanSchema = record(
  {
    name: T.String(),
    billing: oneOf(
      ['ok', 'billing_suspended', 'trial_expired', 'grace_period_ended', 'plan_expired'],
      {
        description:
          'Unless ok, operations that cost are refused with plan_invalid; everything else works.',
      },
    ),
    quotas: T.Array(Budget, {
      description:
        'Monthly quotas. A generation uses its units when requested, and returns those not delivered.',
    }),
    caps: T.Array(Budget, { description: 'Hourly caps.' }),
    agent: T.Array(Budget, {
      description:
        "The agent's tokens, and its money in hundredths of a US cent. A limit of -1 means no limit.",
    }),
    near: T.Array(NearLimit, {
      description: 'Quotas and budgets of which four fifths or all are used.',
    }),
    reads: T.Array(Reads, {
      description: 'Daily read budgets. The connected network determines the tier.',
    }),
    documents: record(
      {
        limit: T.Integer({ description: 'How many documents the workspace can have.' }),
        bytes_used: T.Integer({
          description:
            'What they take in the database, with the passages and words by which they are found.',
        }),
        bytes_limit: T.Integer({ description: 'Beyond it, adding a document returns 409.' }),
      },
      { description: 'The room for documents.' },
    ),
    features: T.Array(oneOf(features), {
      description:
        'The features of the plan. Operations of other features are refused with plan_feature_disabled.',
    }),
  },
  { title: 'Plan' },
)

const micros = (description?: string) => T.Integer(description === undefined ? {} : { description })

export const NetworkLimitsSchema = record(
  {
    max_length: T.Integer({ description: 'Of a post.' }),
    max_article_length: nullable(
      T.Integer({
        description: 'Of an article, posted as one long post; null where there are no long posts.',
      }),
    ),
    counting: T.String({ description: 'How lengths are counted.' }),
    actions: T.Array(T.String(), {
      description: "What can be done with others' posts; a single post may allow less.",
    }),
    counts: T.Array(oneOf(countNames), {
      description: 'What it counts for a post. The other numbers of a post are null.',
    }),
    read_back: T.Boolean({
      description:
        'True when the network shows every post, or keeps each under a key of ours, so that doubts can end by themselves.',
    }),
    prices: nullable(
      record(
        {
          post: micros(),
          post_with_link: micros(),
          reply: micros(),
          interaction: micros('A like or a repost.'),
          read_post: micros("Of somebody else's post."),
          read_own_post: micros(),
        },
        {
          description:
            'In millionths of a US dollar for each; null where the network costs nothing.',
        },
      ),
    ),
  },
  { title: 'NetworkLimits' },
)

export const ConnectionSchema = record(
  {
    connected: T.Boolean(),
    tier: oneOf(['free', 'payg'], { description: 'On payg, reads spend a metered daily budget.' }),
    account: nullable(connectionRecord.schema),
    choose: nullable(
      record(
        {
          call: T.String({
            description: 'The operation that makes one of them the default, by its id.',
          }),
          accounts: T.Array(record({ id: Id, network: T.String(), handle: T.String() }), {
            description: 'At most five.',
          }),
        },
        { description: 'Set when no account is the default although others are connected.' },
      ),
    ),
    reads: Reads,
    limits: NetworkLimitsSchema,
  },
  { title: 'Connection' },
)

/** What is on its way to the outside world. */
export const InFlight = T.Array(
  record(
    {
      item_id: T.Optional(T.String({ format: 'uuid', description: 'Set for a post.' })),
      engagement_id: T.Optional(
        T.String({ format: 'uuid', description: 'Set for an engagement.' }),
      ),
      job_id: T.Optional(
        T.String({
          format: 'uuid',
          description: 'Set for a tool of the agent that changes something outside.',
        }),
      ),
      tool: T.Optional(T.String({ description: 'The name of that tool.' })),
      reply_id: T.Optional(
        T.String({ format: 'uuid', description: 'Set for a reply to a channel.' }),
      ),
      event_id: T.Optional(
        T.String({ format: 'uuid', description: 'Set for an event to the webhook.' }),
      ),
      origin: oneOf(['manual', 'automatic'], {
        description: 'manual: requested by a person or a program.',
      }),
      since: Time,
    },
    { title: 'InFlight' },
  ),
  {
    description:
      'What is on its way already, which can no longer be recalled: posts, engagements, calls of tools outside, replies to channels, and events to the webhook. Each has one of the five ids, and its record takes the outcome.',
  },
)

export const Automation = record(
  {
    paused: T.Boolean({ description: 'While true, nothing starts unattended.' }),
    in_flight: InFlight,
  },
  { title: 'Automation' },
)
