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
import { all, byId, type ExportSource } from './export-source.ts'

const attempt = exportedOf(attemptRecord)
/** Those of posts alone have them. */
const ofPosts = ['item_id', 'returns_from', 'proof_reads']

export const growthSources = {
  profile: {
    table: 'profile',
    columns: exportedOf(profileRecord),
    key: [['tenant_id', 'uuid']],
    within: all('profile'),
  },
  profile_revision: {
    table: 'profile_revision',
    columns: exportedOf(profileRevisionRecord),
    key: [['number', 'int']],
  },
  channel: {
    table: 'growth_channel',
    columns: exportedOf(growthChannelRecord),
    key: byId,
    within: all('growth_channel'),
  },
  learning: {
    table: 'learning',
    columns: exportedOf(learningRecord),
    key: byId,
    within: all('learning'),
  },
  product: {
    table: 'product',
    columns: exportedOf(productRecord),
    key: byId,
    within: all('product'),
  },
  experiment: {
    table: 'experiment',
    columns: exportedOf(experimentRecord),
    key: byId,
    within: all('experiment'),
  },
  connection: {
    table: 'connection',
    columns: exportedOf(connectionRecord),
    key: byId,
  },
  batch: {
    table: 'batch',
    columns: exportedOf(batchRecord),
    key: byId,
  },
  article: {
    table: 'article',
    columns: exportedOf(articleRecord),
    key: byId,
  },
  growth_audit: {
    table: 'growth_audit',
    columns: exportedOf(growthAuditRecord),
    key: byId,
  },
  report: {
    table: 'report',
    columns: exportedOf(reportRecord),
    key: byId,
  },
  item: { table: 'item', columns: exportedOf(itemRecord), key: byId },
  revision: {
    table: 'revision',
    columns: exportedOf(revisionRecord),
    key: [
      ['record_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  comment: {
    table: 'comment',
    columns: exportedOf(commentRecord),
    key: byId,
  },
  metric: {
    table: 'item_metric',
    columns: exportedOf(metricRecord),
    key: byId,
  },
  rule: {
    table: 'rule',
    columns: exportedOf(ruleRecord),
    key: byId,
  },
  rule_run: {
    table: 'rule_run',
    columns: exportedOf(ruleRunRecord),
    key: byId,
  },
  attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => column !== 'engagement_id'),
    having: 'item_id',
    key: [
      ['item_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  engagement: { table: 'engagement', columns: exportedOf(engagementRecord), key: byId },
  engagement_attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => !ofPosts.includes(column)),
    having: 'engagement_id',
    key: [
      ['engagement_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  target: {
    table: 'target',
    columns: exportedOf(targetRecord),
    key: byId,
    within: all('target'),
  },
  signal: { table: 'signal', columns: exportedOf(signalRecord), key: byId },
} satisfies Record<string, ExportSource>
