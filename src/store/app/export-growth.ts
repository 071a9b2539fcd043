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
import { all, type ExportSource, sourceOf } from './export-source.ts'

const attempt = exportedOf(attemptRecord)
/** Those of posts alone have them. */
const ofPosts = ['item_id', 'returns_from', 'proof_reads']

export const growthSources = {
  profile: sourceOf(profileRecord, {
    key: [['tenant_id', 'uuid']],
    within: all('profile'),
  }),
  profile_revision: sourceOf(profileRevisionRecord, {
    key: [['number', 'int']],
  }),
  channel: sourceOf(growthChannelRecord, { within: all('growth_channel') }),
  learning: sourceOf(learningRecord, { within: all('learning') }),
  product: sourceOf(productRecord, { within: all('product') }),
  experiment: sourceOf(experimentRecord, { within: all('experiment') }),
  connection: sourceOf(connectionRecord),
  batch: sourceOf(batchRecord),
  article: sourceOf(articleRecord),
  growth_audit: sourceOf(growthAuditRecord),
  report: sourceOf(reportRecord),
  item: sourceOf(itemRecord),
  revision: sourceOf(revisionRecord, {
    key: [
      ['record_id', 'uuid'],
      ['number', 'int'],
    ],
  }),
  comment: sourceOf(commentRecord),
  metric: sourceOf(metricRecord),
  rule: sourceOf(ruleRecord),
  rule_run: sourceOf(ruleRunRecord),
  attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => column !== 'engagement_id'),
    having: 'item_id',
    key: [
      ['item_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  engagement: sourceOf(engagementRecord),
  engagement_attempt: {
    table: 'attempt',
    columns: attempt.filter((column) => !ofPosts.includes(column)),
    having: 'engagement_id',
    key: [
      ['engagement_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  target: sourceOf(targetRecord, { within: all('target') }),
  signal: sourceOf(signalRecord),
} satisfies Record<string, ExportSource>
