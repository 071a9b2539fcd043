/** What an export has of the growth operator's records. */
import { articleRecord } from '#contract/records/growth/article'
import { attemptRecord } from '#contract/records/growth/attempt'
import { batchRecord } from '#contract/records/growth/batch'
import { commentRecord } from '#contract/records/growth/comment'
import { connectionRecord } from '#contract/records/growth/connection'
import { engagementRecord } from '#contract/records/growth/engagement'
import { experimentRecord } from '#contract/records/growth/experiment'
import { growthAuditRecord } from '#contract/records/growth/growth-audit'
import { growthChannelRecord } from '#contract/records/growth/growth-channel'
import { itemRecord } from '#contract/records/growth/item'
import { learningRecord } from '#contract/records/growth/learning'
import { metricRecord } from '#contract/records/growth/metric'
import { productRecord } from '#contract/records/growth/product'
import { profileRecord, profileRevisionRecord } from '#contract/records/growth/profile'
import { reportRecord } from '#contract/records/growth/report'
import { revisionRecord } from '#contract/records/growth/revision'
import { ruleRecord } from '#contract/records/growth/rule'
import { ruleRunRecord } from '#contract/records/growth/rule-run'
import { signalRecord } from '#contract/records/growth/signal'
import { targetRecord } from '#contract/records/growth/target'
import { exportedOf } from '#contract/records/record'
import { type ExportSource, exportSourceOf, wholeTable } from './export-source.ts'

const attempt = exportedOf(attemptRecord)
/** Columns that only attempts to post have. */
const ofPosts = ['item_id', 'returns_from', 'proof_reads']

export const growthSources = {
  profile: exportSourceOf(profileRecord, {
    key: [['tenant_id', 'uuid']],
    within: wholeTable('profile'),
  }),
  profile_revision: exportSourceOf(profileRevisionRecord, {
    key: [['number', 'int']],
  }),
  channel: exportSourceOf(growthChannelRecord, { within: wholeTable('growth_channel') }),
  learning: exportSourceOf(learningRecord, { within: wholeTable('learning') }),
  product: exportSourceOf(productRecord, { within: wholeTable('product') }),
  experiment: exportSourceOf(experimentRecord, { within: wholeTable('experiment') }),
  connection: exportSourceOf(connectionRecord),
  batch: exportSourceOf(batchRecord),
  article: exportSourceOf(articleRecord),
  growth_audit: exportSourceOf(growthAuditRecord),
  report: exportSourceOf(reportRecord),
  item: exportSourceOf(itemRecord),
  revision: exportSourceOf(revisionRecord, {
    key: [
      ['record_id', 'uuid'],
      ['number', 'int'],
    ],
  }),
  comment: exportSourceOf(commentRecord),
  metric: exportSourceOf(metricRecord),
  rule: exportSourceOf(ruleRecord),
  rule_run: exportSourceOf(ruleRunRecord),
  attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => column !== 'engagement_id'),
    having: 'item_id',
    key: [
      ['item_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  engagement: exportSourceOf(engagementRecord),
  engagement_attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => !ofPosts.includes(column)),
    having: 'engagement_id',
    key: [
      ['engagement_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  target: exportSourceOf(targetRecord, { within: wholeTable('target') }),
  signal: exportSourceOf(signalRecord),
} satisfies Record<string, ExportSource>
