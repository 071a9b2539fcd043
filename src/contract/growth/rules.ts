import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  Action,
  ConditionSchema,
  ruleRecord,
  ruleStatuses,
  TriggerSchema,
  triggerKinds,
} from '../records/growth/rule.ts'
import { ruleRunRecord } from '../records/growth/rule-run.ts'
import { created, Id, NextCursor, NOT_BLANK, oneOf, page, record } from '../shapes.ts'

const some = T.Optional

const conditions = T.Array(ConditionSchema, {
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

const Rule = ruleRecord.schema
const OneRule = record({ rule: Rule })

export const rules = {
  list: op.query(
    'GET /api/v1/growth/rules',
    'List automation rules, newest first. While all automation is paused, every rule reads paused.',
    {
      input: {
        status: some(oneOf(ruleStatuses, { description: 'Return only rules in this state.' })),
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
        status: some(oneOf(ruleStatuses)),
        trigger: TriggerSchema,
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
        status: some(oneOf(ruleStatuses)),
        trigger: some(TriggerSchema),
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
      output: record({ rule_runs: T.Array(ruleRunRecord.schema), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_rule_runs', agent: 'read' },
  ),
}
