import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time } from '../shapes.ts'

const statuses = ['active', 'paused'] as const
const runStatuses = ['queued', 'running', 'done', 'skipped', 'failed', 'cancelled'] as const
const triggerKinds = ['cron', 'item_posted', 'batch_settled', 'metric', 'signal'] as const
const actionKinds = ['draft_batch', 'draft_article', 'draft_engagement', 'request_audit', 'request_report', 'resurface'] as const
const metrics = ['impressions', 'likes', 'replies', 'reposts', 'quotes', 'clicks', 'engagement_rate'] as const
const facts = [
  ...(['approvals_waiting', 'scheduled_ahead', 'posted_today', 'hour', 'weekday', 'posts_left', 'articles_left'] as const),
  ...(['item_hook', 'item_format', 'item_kind'] as const),
] as const
const comparisons = ['<', '<=', '=', '!=', '>=', '>'] as const

const some = T.Optional

const Trigger = record(
  {
    kind: oneOf(triggerKinds, {
      description:
        'cron: pattern, time_zone. batch_settled: status. metric: metric, at_least, within_hours; once an item. signal: min_score.',
    }),
    pattern: some(T.String({ maxLength: 100, description: 'Five fields, every 15 minutes at most.' })),
    time_zone: some(T.String({ format: 'time-zone', maxLength: 64, description: "Else the profile's." })),
    status: some(oneOf(['ready', 'failed'])),
    metric: some(oneOf(metrics)),
    at_least: some(T.Number({ minimum: 0 })),
    within_hours: some(T.Integer({ minimum: 1, maximum: 720, description: 'Of its posting.' })),
    min_score: some(T.Integer({ minimum: 0, maximum: 100 })),
  },
  { title: 'RuleTrigger', examples: [{ kind: 'batch_settled', status: 'ready' }] },
)

const Condition = record(
  {
    fact: oneOf(facts, { description: 'item_…: under item triggers. weekday: 1 is Monday.' }),
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
        'draft_batch: count (else 3), focus. draft_article: topic, length, outline. draft_engagement: action; for signals. request_audit: days. resurface: min_age_days (else 90), min_engagement.',
    }),
    count: some(T.Integer({ minimum: 1, maximum: 20 })),
    focus: some(T.String({ maxLength: 2_000 })),
    topic: some(T.String({ minLength: 1, maxLength: 2_000, pattern: NOT_BLANK })),
    length: some(oneOf(['short', 'medium', 'long'])),
    outline: some(T.String({ maxLength: 4_000 })),
    action: some(oneOf(['reply', 'quote', 'repost', 'like'])),
    days: some(T.Integer({ minimum: 1, maximum: 365 })),
    min_age_days: some(T.Integer({ minimum: 7, maximum: 3_650 })),
    min_engagement: some(T.Number({ minimum: 0, maximum: 1, description: 'Reactions per impression.' })),
  },
  { title: 'RuleAction', examples: [{ kind: 'draft_batch', count: 3, focus: 'what the last posts left out' }] },
)

const conditions = T.Array(Condition, {
  maxItems: 10,
  examples: [[{ fact: 'approvals_waiting', op: '<', value: 10 }]],
})
const name = T.String({ minLength: 1, maxLength: 160, format: 'name', pattern: NOT_BLANK, examples: ['Keep drafts ready'] })
const daily_cap = T.Integer({ minimum: 1, maximum: 50, default: 5, description: 'Acting runs a UTC day.' })

const Rule = record(
  {
    id: Id,
    name: T.String(),
    status: oneOf(statuses, { description: 'paused also while all automation is.' }),
    paused_by: nullable(oneOf(['person', 'all'], { description: 'person: stays paused when all automation resumes.' })),
    trigger: Trigger,
    conditions: T.Array(Condition),
    action: Action,
    daily_cap: T.Integer(),
    runs_today: T.Integer({ description: 'That have acted.' }),
    over_cap_today: T.Integer({ description: 'Occurrences that daily_cap kept from running; only the first has a run.' }),
    next_run_at: nullable(Time),
    last_run_at: nullable(Time),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Rule' },
)

const RuleRun = record(
  {
    id: Id,
    rule_id: Id,
    trigger: record({
      kind: T.String({ description: 'As of the rule.' }),
      ref: T.String({ description: 'The id of what happened to, or the time of a pattern.' }),
      chain: T.Array(Id, { description: 'Rules by which it came to that, the first one first.' }),
    }),
    status: oneOf(runStatuses),
    reason: nullable(
      T.String({
        description: 'Of skipped: conditions, daily_cap, loop, missed, paused, nothing_to_resurface, or the error. Of failed: the error.',
      }),
    ),
    conditions: T.Array(record({ condition: Condition, actual: T.String({ description: 'What it was.' }), holds: T.Boolean() })),
    made: nullable(record({ kind: T.String({ description: 'batch, article, item, engagement, audit or report.' }), id: Id })),
    cost: record({
      quota: nullable(T.String({ description: 'The key of the quota.' })),
      units: T.Integer({ description: 'Taken from it, less what came back.' }),
      cost_micros: nullable(T.Integer({ description: 'Of the model, in millionths of a US dollar, once it is done.' })),
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
  list: op(
    'GET /api/v1/growth/rules',
    'List automation rules, newest first. While all automation is paused, every rule reads paused.',
    { input: page, output: record({ rules: T.Array(Rule), next_cursor: NextCursor }) },
    { tool: 'growth_list_rules' },
  ),
  create: op(
    'POST /api/v1/growth/rules',
    'Create an automation rule: when the trigger happens and all conditions hold, it drafts. A rule never approves or posts. What it makes spends quotas and hourly caps. At most 50 rules.',
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
    { tool: 'growth_create_rule', status: 201, errors: ['conflict'], feature: 'rules', roles: ['editor'] },
  ),
  update: op(
    'PUT /api/v1/growth/rules/:id',
    'Change a rule, pause it, or make it active. Absent fields stay; trigger, conditions and action are replaced whole.',
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
    { tool: 'growth_update_rule', errors: ['not_found'], feature: 'rules', roles: ['editor'], repeatable: true },
  ),
}

export const ruleRuns = {
  list: op(
    'GET /api/v1/growth/rule-runs',
    'List runs of rules, newest first: what each made, or why it did not. Those that made nothing are kept for 90 days.',
    {
      input: { rule_id: some(T.String({ format: 'uuid', description: 'Only runs of this rule.' })), ...page },
      output: record({ rule_runs: T.Array(RuleRun), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_rule_runs' },
  ),
}
