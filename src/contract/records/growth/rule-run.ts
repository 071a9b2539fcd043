/** A run of a rule, one for each occurrence. */
import { Type as T } from '@sinclair/typebox'
import { Id, nameForModels, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { ConditionSchema, triggerKinds } from './rule.ts'

/** The kind of record that triggered a run, by the kind of trigger. */
const TRIGGERED = { item_posted: 'item', batch_settled: 'batch', metric: 'item' }

const IN_TRIGGER = 'shown as part of trigger'
const IN_MADE = 'shown as part of made'
const IN_COST = 'shown as part of cost'

export const ruleRunRecord = declare(
  'rule_run',
  { title: 'RuleRun' },
  {
    id,
    rule_id: { type: 'uuid', shown: Id, fixed: true },
    trigger: {
      type: 'text',
      of: oneOf(triggerKinds),
      shown: nameForModels(
        { by: 'kind', as: TRIGGERED },
        record({
          kind: T.String({ description: "The kind of the rule's trigger." }),
          ref: T.String({
            description: 'The id of the record that triggered it, or the time of the pattern.',
          }),
          chain: nameForModels(
            'rule',
            T.Array(Id, { description: 'The rules that led to it, in order.' }),
          ),
        }),
      ),
      fixed: true,
    },
    // A rule runs once for each occurrence.
    occurrence: { type: 'text', hidden: IN_TRIGGER, fixed: true },
    chain: { type: 'jsonb', of: T.Array(T.String()), hidden: IN_TRIGGER, fixed: true },
    status: {
      type: 'text',
      shown: oneOf(['queued', 'running', 'done', 'skipped', 'failed', 'cancelled']),
    },
    reason: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'When skipped: conditions, daily_cap, loop, missed, paused, nothing_to_resurface, rule_deleted or an error. When failed: the error.',
        }),
      ),
    },
    conditions: {
      type: 'jsonb',
      shown: T.Array(
        record({
          condition: ConditionSchema,
          actual: T.String({ description: 'The value found.' }),
          holds: T.Boolean(),
        }),
      ),
    },
    made: {
      shown: nameForModels(
        { by: 'kind' },
        nullable(
          record({
            kind: T.String({ description: 'batch, article, item, engagement, audit or report.' }),
            id: Id,
          }),
        ),
      ),
      from: 'view',
    },
    made_kind: {
      type: 'text',
      of: oneOf(['batch', 'article', 'item', 'audit', 'report', 'engagement']),
      null: true,
      hidden: IN_MADE,
    },
    made_id: { type: 'uuid', null: true, hidden: IN_MADE },
    cost: {
      shown: record({
        quota: nullable(T.String({ description: 'The quota used.' })),
        units: T.Integer({ description: 'Units used, minus units returned.' }),
        cost_micros: nullable(
          T.Integer({ description: "The model's cost in millionths of a US dollar, once done." }),
        ),
      }),
      from: 'view',
    },
    quota: { type: 'text', null: true, hidden: IN_COST },
    units: { type: 'integer', hidden: IN_COST },
    cost_micros: { type: 'integer', null: true, hidden: IN_COST },
    created_at: times.created_at,
    started_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ended_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    updated_at: { shown: Time, from: 'view' },
  },
)
