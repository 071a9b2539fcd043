import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  called,
  created,
  Id,
  NextCursor,
  NOT_BLANK,
  nullable,
  oneOf,
  page,
  record,
  Time,
} from '../shapes.ts'

const statuses = ['active', 'paused'] as const
const runStatuses = ['queued', 'running', 'done', 'skipped', 'failed', 'cancelled'] as const
const triggerKinds = ['cron', 'item_posted', 'batch_settled', 'metric', 'signal'] as const
const actionKinds = [
  'draft_batch',
  'draft_article',
  'draft_engagement',
  'request_audit',
  'request_report',
  'resurface',
] as const
const metrics = [
  'impressions',
  'likes',
  'replies',
  'reposts',
  'quotes',
  'clicks',
  'engagement_rate',
] as const
const facts = [
  ...([
    'approvals_waiting',
    'scheduled_ahead',
    'posted_today',
    'hour',
    'weekday',
    'posts_left',
    'articles_left',
  ] as const),
  ...(['item_hook', 'item_format', 'item_kind'] as const),
] as const
const comparisons = ['<', '<=', '=', '!=', '>=', '>'] as const

const some = T.Optional

const Trigger = record(
  {
    kind: oneOf(triggerKinds, {
      description:
        'cron: pattern, time_zone. batch_settled: status. metric: metric, at_least, within_hours; fires once per item. signal: min_score.',
    }),
    pattern: some(
      T.String({ maxLength: 100, description: 'Five fields; at most every 15 minutes.' }),
    ),
    time_zone: some(
      T.String({ format: 'time-zone', maxLength: 64, description: "Default: the profile's." }),
    ),
    status: some(oneOf(['ready', 'failed'])),
    metric: some(oneOf(metrics)),
    at_least: some(T.Number({ minimum: 0 })),
    within_hours: some(T.Integer({ minimum: 1, maximum: 720, description: 'After posting.' })),
    min_score: some(T.Integer({ minimum: 0, maximum: 100 })),
  },
  { title: 'RuleTrigger', examples: [{ kind: 'batch_settled', status: 'ready' }] },
)

const Condition = record(
  {
    fact: oneOf(facts, { description: 'item_…: item triggers only. weekday: 1 is Monday.' }),
    op: oneOf(comparisons),
    value: some(T.Integer()),
    text: some(T.String({ maxLength: 100, description: 'For item_….' })),
  },
  { title: 'RuleCondition' },
)

const Action = record(
  {
    kind: oneOf(actionKinds, {
      description:
        'draft_batch: count (default 3), focus. draft_article: topic, length, outline. draft_engagement: action; signals only. request_audit: days. resurface: min_age_days (default 90), min_engagement.',
    }),
    count: some(T.Integer({ minimum: 1, maximum: 20 })),
    focus: some(T.String({ maxLength: 2_000 })),
    topic: some(T.String({ minLength: 1, maxLength: 2_000, pattern: NOT_BLANK })),
    length: some(oneOf(['short', 'medium', 'long'])),
    outline: some(T.String({ maxLength: 4_000 })),
    action: some(oneOf(['reply', 'quote', 'repost', 'like'])),
    days: some(T.Integer({ minimum: 1, maximum: 365 })),
    min_age_days: some(T.Integer({ minimum: 7, maximum: 3_650 })),
    min_engagement: some(
      T.Number({ minimum: 0, maximum: 1, description: 'Reactions per impression.' }),
    ),
  },
  {
    title: 'RuleAction',
    examples: [{ kind: 'draft_batch', count: 3, focus: 'what the last posts left out' }],
  },
)

const conditions = T.Array(Condition, {
  maxItems: 10,
  examples: [[{ fact: 'approvals_waiting', op: '<', value: 10 }]],
})
const name = T.String({
  minLength: 1,
  maxLength: 160,
  format: 'name',
  pattern: NOT_BLANK,
  examples: ['Keep drafts ready'],
})
const daily_cap = T.Integer({
  minimum: 1,
  maximum: 50,
  default: 5,
  description: 'Most runs per UTC day.',
})

const Rule = record(
  {
    id: Id,
    name: T.String(),
    status: oneOf(statuses, { description: 'Also paused while all automation is paused.' }),
    paused_by: nullable(
      oneOf(['person', 'all'], {
        description: 'person: paused by a person, and stays so when automation resumes.',
      }),
    ),
    trigger: Trigger,
    conditions: T.Array(Condition),
    action: Action,
    daily_cap: T.Integer(),
    runs_today: T.Integer({ description: 'Runs today that acted.' }),
    over_cap_today: T.Integer({
      description: 'Triggers that daily_cap suppressed today. Only the first is recorded as a run.',
    }),
    next_run_at: nullable(Time),
    last_run_at: nullable(Time),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Rule' },
)

/** What the record that triggered a run is. */
const TRIGGERED = { item_posted: 'item', batch_settled: 'batch', metric: 'item' }

const RuleRun = record(
  {
    id: Id,
    rule_id: Id,
    trigger: called(
      { by: 'kind', as: TRIGGERED },
      record({
        kind: T.String({ description: "The kind of the rule's trigger." }),
        ref: T.String({
          description: 'The id of the record that triggered it, or the time of the pattern.',
        }),
        chain: called('rule', T.Array(Id, { description: 'The rules that led to it, in order.' })),
      }),
    ),
    status: oneOf(runStatuses),
    reason: nullable(
      T.String({
        description:
          'When skipped: conditions, daily_cap, loop, missed, paused, nothing_to_resurface, rule_deleted or an error. When failed: the error.',
      }),
    ),
    conditions: T.Array(
      record({
        condition: Condition,
        actual: T.String({ description: 'The value found.' }),
        holds: T.Boolean(),
      }),
    ),
    made: called(
      { by: 'kind' },
      nullable(
        record({
          kind: T.String({ description: 'batch, article, item, engagement, audit or report.' }),
          id: Id,
        }),
      ),
    ),
    cost: record({
      quota: nullable(T.String({ description: 'The quota used.' })),
      units: T.Integer({ description: 'Units used, minus units returned.' }),
      cost_micros: nullable(
        T.Integer({ description: "The model's cost in millionths of a US dollar, once done." }),
      ),
    }),
    created_at: Time,
    started_at: nullable(Time),
    ended_at: nullable(Time),
    updated_at: Time,
  },
  { title: 'RuleRun' },
)

const OneRule = record({ rule: Rule })

export const rules = {
  list: op.query(
    'GET /api/v1/growth/rules',
    'List automation rules, newest first. While all automation is paused, every rule reads paused.',
    {
      input: {
        status: some(oneOf(statuses, { description: 'Return only rules in this state.' })),
        trigger: some(
          oneOf(triggerKinds, { description: 'Return only rules with this kind of trigger.' }),
        ),
        ...created,
        ...page,
      },
      output: record({ rules: T.Array(Rule), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_rules', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/rules/:id',
    'Read one automation rule. While all automation is paused, it reads paused.',
    { input: { id: Id }, output: OneRule },
    { errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/growth/rules',
    'Create an automation rule, which drafts when its trigger fires and all conditions hold. Rules never approve or post. Their drafts use quotas and hourly caps. At most 50 rules.',
    {
      input: {
        name,
        status: some(oneOf(statuses)),
        trigger: Trigger,
        conditions: some(conditions),
        action: Action,
        daily_cap: some(daily_cap),
      },
      output: OneRule,
    },
    {
      tool: 'growth_create_rule',
      agent: 'commit',
      status: 201,
      errors: ['conflict'],
      feature: 'rules',
      roles: ['editor'],
    },
  ),
  update: op.command(
    'PUT /api/v1/growth/rules/:id',
    'Update a rule, or pause or activate it. Omitted fields keep their value; trigger, conditions and action are replaced whole.',
    {
      input: {
        id: Id,
        name: some(name),
        status: some(oneOf(statuses)),
        trigger: some(Trigger),
        conditions: some(conditions),
        action: some(Action),
        daily_cap: some(T.Integer({ minimum: 1, maximum: 50 })),
      },
      output: OneRule,
    },
    {
      tool: 'growth_update_rule',
      agent: 'commit',
      errors: ['not_found'],
      feature: 'rules',
      roles: ['editor'],
      repeatable: true,
    },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/rules/:id',
    'Delete an automation rule. It does not run again, and runs that wait are skipped (rule_deleted). Its earlier runs and what they made stay.',
    { input: { id: Id }, output: OneRule },
    { errors: ['not_found'], roles: ['editor'], destructive: true },
  ),
}

export const ruleRuns = {
  list: op.query(
    'GET /api/v1/growth/rule-runs',
    'List runs of rules, newest first, with what each created or why it did not. Runs without a result are kept for 90 days.',
    {
      input: {
        rule_id: some(T.String({ format: 'uuid', description: 'Return only runs of this rule.' })),
        ...page,
      },
      output: record({ rule_runs: T.Array(RuleRun), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_rule_runs', agent: 'read' },
  ),
}
