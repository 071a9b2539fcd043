/** How records of the growth operator arrive. */
import { Type as T } from '@sinclair/typebox'
import { articleRecord } from '#contract/records/growth/article'
import { batchRecord } from '#contract/records/growth/batch'
import { experimentRecord } from '#contract/records/growth/experiment'
import { growthAuditRecord } from '#contract/records/growth/growth-audit'
import {
  CadenceSchema,
  FormatRulesSchema,
  growthChannelRecord,
} from '#contract/records/growth/growth-channel'
import { learningRecord } from '#contract/records/growth/learning'
import { productRecord } from '#contract/records/growth/product'
import { profileRecord, profileRevisionRecord } from '#contract/records/growth/profile'
import { reportRecord } from '#contract/records/growth/report'
import { ruleRecord } from '#contract/records/growth/rule'
import { ruleRunRecord } from '#contract/records/growth/rule-run'
import { signalRecord } from '#contract/records/growth/signal'
import { targetRecord } from '#contract/records/growth/target'
import { growthChannelNames } from '#domain/growth/drafting/growth-channel'
import { productLimits } from '#domain/growth/drafting/product'
import { MOST_RUNNING } from '#domain/growth/learning/experiment'
import { MOST_ACTIVE_LEARNINGS } from '#domain/growth/learning/learning'
import { MOST_OPEN_SIGNALS, SIGNAL_MS } from '#domain/growth/learning/signal'
import { normalHandle, targetLimits } from '#domain/growth/learning/target'
import { MOST_RULES, type Rule, updateRule } from '#domain/growth/rules/rule'
import { AppError } from '#kernel/errors'
import { importedAs, LONG, settledGeneration, writerOf } from './kind.ts'
import { itemKinds } from './kinds-items.ts'

/** What a rule of the product says against it; undefined if nothing. */
const faultBy = (check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (cause) {
    if (cause instanceof AppError) return cause.message
    throw cause
  }
}

const profile = importedAs(profileRecord, {
  unnamed: true,
  idOf: () => 'profile',
  uniqueBy: () => ['profile'],
  arrives: (row) => ({ ...row, written_by: writerOf(row.written_by) }),
})

const profileRevision = importedAs(profileRevisionRecord, {
  unnamed: true,
  idOf: ({ number }) => String(number),
  refuses: ({ number }) => (number > 0 ? undefined : 'number is not above 0'),
  arrives: (row) => ({ ...row, written_by: writerOf(row.written_by) }),
  key: ['number'],
})

const closed = { additionalProperties: false }

/** The longest text of a product is its address. */
const MOST_OF_PRODUCT = 500

const channel = importedAs(growthChannelRecord, {
  // Only what was set is stored.
  shapes: {
    format_rules: T.Partial(FormatRulesSchema, closed),
    cadence: T.Partial(CadenceSchema, closed),
  },
  uniqueBy: ({ name }) => [name],
  refuses: ({ name }) =>
    growthChannelNames.some((known) => known === name) ? undefined : 'there is no such channel',
  arrives: (row, { ids }) => ({ ...row, id: ids.of(row.id) }),
})

const product = importedAs(productRecord, {
  longest: MOST_OF_PRODUCT,
  uniqueBy: ({ status, name }) => (status === 'active' ? [name.toLowerCase()] : []),
  bounds: ({ status }) => [
    { of: 'products', most: productLimits.all },
    ...(status === 'active' ? [{ of: 'active products', most: productLimits.active }] : []),
  ],
  arrives: (row, { ids }) => ({ ...row, id: ids.of(row.id) }),
})

const experiment = importedAs(experimentRecord, {
  refuses: ({ status, concluded_at }) =>
    (status === 'concluded') === (concluded_at !== null)
      ? undefined
      : 'its status and concluded_at contradict each other',
  bounds: ({ status }) =>
    status === 'running' ? [{ of: 'running experiments', most: MOST_RUNNING }] : [],
  arrives: (row, { ids }) => ids.within(row),
})

const batch = importedAs(batchRecord, {
  arrives: (row, { ids }) => ({
    ...row,
    ...settledGeneration(row),
    id: ids.of(row.id),
    experiment_id: ids.ref('experiment', row.experiment_id),
    rule_id: ids.ref('rule', row.rule_id),
  }),
})

const article = importedAs(articleRecord, {
  late: true,
  uniqueBy: ({ item_id }) => (item_id === null ? [] : [item_id]),
  arrives: (row, { ids }) => ({
    ...row,
    ...settledGeneration(row),
    id: ids.of(row.id),
    item_id: ids.ref('item', row.item_id),
    rule_id: ids.ref('rule', row.rule_id),
  }),
})

const growthAudit = importedAs(growthAuditRecord, {
  refuses: ({ days }) => (days > 0 ? undefined : 'days is not above 0'),
  arrives: (row, { ids }) => ({ ...ids.within(row), ...settledGeneration(row) }),
})

const report = importedAs(reportRecord, {
  longest: LONG,
  uniqueBy: ({ origin, week }) => (origin === 'automatic' ? [week] : []),
  arrives: (row, { ids }) => ({ ...ids.within(row), ...settledGeneration(row) }),
})

const learning = importedAs(learningRecord, {
  late: true,
  bounds: ({ status }) =>
    status === 'active' ? [{ of: 'active learnings', most: MOST_ACTIVE_LEARNINGS }] : [],
  arrives: (row, { ids, sealed }) => ({
    ...ids.within(row),
    audit_id: ids.ref('growth_audit', row.audit_id),
    untrusted: row.untrusted || !sealed,
  }),
})

/** Paused, and as if it had never run today. */
const rule = importedAs(ruleRecord, {
  refuses: (row, { now }) =>
    faultBy(() => {
      const { trigger, conditions, action, ...rest } = row as unknown as Rule
      updateRule(rest as Rule, { trigger, conditions, action }, { timeZone: 'UTC', now })
    }) ??
    (row.daily_cap >= 1 && row.daily_cap <= 50 ? undefined : 'daily_cap is not between 1 and 50'),
  bounds: () => [{ of: 'rules', most: MOST_RULES }],
  arrives: (row, { ids }) => ({
    ...row,
    id: ids.of(row.id),
    status: 'paused',
    day: '',
    used: 0,
    over: 0,
  }),
})

const ruleRun = importedAs(ruleRunRecord, {
  belongs: ({ rule_id }, ids) => ids.has('rule', rule_id),
  uniqueBy: ({ rule_id, trigger, occurrence }) => [
    `${rule_id} ${trigger} ${occurrence.toLowerCase()}`,
  ],
  refuses: ({ units }) => (units >= 0 ? undefined : 'units is below 0'),
  arrives: (row, { ids, now }) => {
    const isOver = row.status !== 'queued' && row.status !== 'running'
    return {
      ...ids.within(row),
      status: isOver ? row.status : 'cancelled',
      ended_at: row.ended_at ?? (isOver ? null : now),
    }
  },
})

/** It is read for an account, once there is one and a person has activated it. */
const target = importedAs(targetRecord, {
  uniqueBy: ({ handle }) => [handle],
  refuses: ({ handle, reads, reads_micros }) =>
    faultBy(() => normalHandle(handle)) ??
    (normalHandle(handle) !== handle ? 'its handle is not in lower case' : undefined) ??
    (reads >= 0 && reads_micros >= 0 ? undefined : 'what was read is below 0'),
  bounds: () => [{ of: 'targets', most: targetLimits.targets }],
  arrives: (row, { ids }) => ({
    ...row,
    id: ids.of(row.id),
    status: 'paused',
    failures: 0,
    last_error: null,
  }),
})

const signal = importedAs(signalRecord, {
  longest: LONG,
  belongs: ({ target_id }, ids) => target_id === null || ids.has('target', target_id),
  uniqueBy: ({ network, post_id }) => [`${network} ${post_id}`],
  refuses: ({ score }) =>
    score >= 0 && score <= 100 ? undefined : 'score is not between 0 and 100',
  bounds: ({ status, expires_at }, { now }) =>
    status === 'open' && Date.parse(expires_at) > now.getTime()
      ? [{ of: 'open signals', most: MOST_OPEN_SIGNALS }]
      : [],
  arrives: (row, { ids, now }) => ({
    ...row,
    id: ids.of(row.id),
    target_id: ids.ref('target', row.target_id),
    engagement_id: ids.ref('engagement', row.engagement_id),
    expires_at: new Date(Math.min(Date.parse(row.expires_at), now.getTime() + SIGNAL_MS)),
  }),
})

export const growthKinds = {
  profile,
  profile_revision: profileRevision,
  channel,
  learning,
  product,
  experiment,
  connection: {
    leaves: 'accounts are connected anew, by people who can sign in to them',
  },
  batch,
  article,
  growth_audit: growthAudit,
  report,
  ...itemKinds,
  rule,
  rule_run: ruleRun,
  attempt: {
    leaves: 'a try to send belongs to a connected account; what came of it, its item shows',
  },
  engagement_attempt: {
    leaves: 'a try to send belongs to a connected account; what came of it, its engagement shows',
  },
  target,
  signal,
}
