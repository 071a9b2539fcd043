/** An automation rule: on this trigger, under these conditions, draft that. */
import { Type as T } from '@sinclair/typebox'
import { NOT_BLANK, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { countNames } from './item.ts'

export const ruleStatuses = ['active', 'paused'] as const
export const triggerKinds = ['cron', 'item_posted', 'batch_settled', 'metric', 'signal'] as const
export const actionKinds = [
  'draft_batch',
  'draft_article',
  'draft_engagement',
  'request_audit',
  'request_report',
  'resurface',
] as const
export const ruleMetrics = [...countNames, 'engagement_rate', 'reactions'] as const
/** Facts about the trigger's item. Their values are words. */
export const itemFacts = ['item_hook', 'item_format', 'item_kind'] as const
export const facts = [
  // Drafted items.
  'approvals_waiting',
  // Approved items with a future post time.
  'scheduled_ahead',
  // Items posted since midnight in the rule's time zone.
  'posted_today',
  // 0 to 23, in the rule's time zone.
  'hour',
  // 1 (Monday) to 7 (Sunday), in the rule's time zone.
  'weekday',
  // How much of the month's quota is left.
  'posts_left',
  'articles_left',
  ...itemFacts,
] as const
export const comparisons = ['<', '<=', '=', '!=', '>=', '>'] as const

/** The fields of all kinds of triggers. */
export const TriggerSchema = record(
  {
    kind: oneOf(triggerKinds, {
      description:
        'cron: pattern, time_zone. batch_settled: status. metric: metric, at_least, within_hours; fires once per item. signal: min_score.',
    }),
    pattern: T.Optional(
      T.String({ maxLength: 100, description: 'Five fields; at most every 15 minutes.' }),
    ),
    time_zone: T.Optional(
      T.String({ format: 'time-zone', maxLength: 64, description: "Default: the profile's." }),
    ),
    status: T.Optional(oneOf(['ready', 'failed'])),
    metric: T.Optional(
      oneOf(ruleMetrics, { description: 'Posts whose network does not count it never reach it.' }),
    ),
    at_least: T.Optional(T.Number({ minimum: 0 })),
    within_hours: T.Optional(
      T.Integer({ minimum: 1, maximum: 720, description: 'After posting.' }),
    ),
    min_score: T.Optional(T.Integer({ minimum: 0, maximum: 100 })),
  },
  { title: 'RuleTrigger', examples: [{ kind: 'batch_settled', status: 'ready' }] },
)

export const ConditionSchema = record(
  {
    fact: oneOf(facts, { description: 'item_…: item triggers only. weekday: 1 is Monday.' }),
    op: oneOf(comparisons),
    value: T.Optional(T.Integer()),
    text: T.Optional(T.String({ maxLength: 100, description: 'For item_….' })),
  },
  { title: 'RuleCondition' },
)

/** The fields of all kinds of actions. */
export const Action = record(
  {
    kind: oneOf(actionKinds, {
      description:
        'draft_batch: count (default 3), focus. draft_article: topic, length, outline. draft_engagement: action; signals only. request_audit: days. resurface: min_age_days (default 90), min_engagement, min_reactions.',
    }),
    count: T.Optional(T.Integer({ minimum: 1, maximum: 20 })),
    focus: T.Optional(T.String({ maxLength: 2_000 })),
    topic: T.Optional(T.String({ minLength: 1, maxLength: 2_000, pattern: NOT_BLANK })),
    length: T.Optional(oneOf(['short', 'medium', 'long'])),
    outline: T.Optional(T.String({ maxLength: 4_000 })),
    action: T.Optional(oneOf(['reply', 'quote', 'repost', 'like'])),
    days: T.Optional(T.Integer({ minimum: 1, maximum: 365 })),
    min_age_days: T.Optional(T.Integer({ minimum: 7, maximum: 3_650 })),
    min_engagement: T.Optional(
      T.Number({ minimum: 0, maximum: 1, description: 'Reactions per impression.' }),
    ),
    min_reactions: T.Optional(
      T.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Of a post, instead of min_engagement where the network counts no impressions.',
      }),
    ),
  },
  {
    title: 'RuleAction',
    examples: [{ kind: 'draft_batch', count: 3, focus: 'what the last posts left out' }],
  },
)

export const ruleRecord = declare(
  'rule',
  { title: 'Rule' },
  {
    id,
    name: { type: 'text', shown: T.String() },
    // As set by a person.
    status: {
      type: 'text',
      shown: oneOf(ruleStatuses, { description: 'Also paused while all automation is paused.' }),
    },
    paused_by: {
      shown: nullable(
        oneOf(['person', 'all'], {
          description: 'person: paused by a person, and stays so when automation resumes.',
        }),
      ),
      from: 'view',
    },
    trigger: { type: 'jsonb', shown: TriggerSchema },
    conditions: { type: 'jsonb', shown: T.Array(ConditionSchema) },
    action: { type: 'jsonb', shown: Action },
    daily_cap: { type: 'integer', shown: T.Integer() },
    day: { type: 'text', hidden: 'the day that runs_today and over_cap_today count' },
    used: {
      type: 'integer',
      shown: T.Integer({ description: 'Runs today that acted.' }),
      as: 'runs_today',
    },
    over: {
      type: 'integer',
      shown: T.Integer({
        description:
          'Triggers that daily_cap suppressed today. Only the first is recorded as a run.',
      }),
      as: 'over_cap_today',
    },
    next_run_at: { shown: nullable(Time), from: 'view' },
    last_run_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ...times,
  },
)
