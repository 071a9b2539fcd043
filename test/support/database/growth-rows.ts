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
import { newId } from '#kernel/ids'
import { type RowsOf, sampleOf } from './sample.ts'

export const growthRows = ({ mark, person, item, batch, now, tomorrow }: RowsOf) => {
  const times = { created_at: now, updated_at: now }
  const [connection, engagement, target, rule] = [newId(), newId(), newId(), newId()]
  const doubtful = {
    connection_id: connection,
    state: 'doubt',
    sent_text: mark,
    external_id: mark,
  } as const
  return {
    growth_channel: sampleOf(growthChannelRecord, mark, {}),
    growth_audit: sampleOf(growthAuditRecord, mark, { status: 'failed', error: mark }),
    report: sampleOf(reportRecord, mark, { status: 'ready', week: '2026-11-16', markdown: mark }),
    learning: sampleOf(learningRecord, mark, {}),
    product: sampleOf(productRecord, mark, {}),
    experiment: sampleOf(experimentRecord, mark, {}),
    profile: sampleOf(profileRecord, mark, { data: { goal: mark } }),
    profile_revision: sampleOf(profileRevisionRecord, mark, { data: { goal: mark } }),
    connection: sampleOf(connectionRecord, mark, {
      id: connection,
      network: 'sandbox',
      is_default: true,
    }),
    batch: sampleOf(batchRecord, mark, { id: batch, status: 'ready' }),
    item: sampleOf(itemRecord, mark, { id: item, batch_id: batch, status: 'publish_unconfirmed' }),
    redraft: { id: newId(), item_id: item, revision: 1, hint: mark, status: 'failed', ...times },
    revision: sampleOf(revisionRecord, mark, { record_id: item, body: mark }),
    item_print: { print: 1, item_id: item, until: now },
    comment: sampleOf(commentRecord, mark, {
      item_id: item,
      written_by: { kind: 'person', id: person },
    }),
    article: sampleOf(articleRecord, mark, { status: 'ready', title: mark, item_id: item }),
    item_metric: sampleOf(metricRecord, mark, { item_id: item }),
    rule: sampleOf(ruleRecord, mark, {
      id: rule,
      status: 'paused',
      trigger: { kind: mark },
      action: { kind: mark },
    }),
    rule_run: sampleOf(ruleRunRecord, mark, {
      rule_id: rule,
      status: 'skipped',
      reason: mark,
      made_id: batch,
    }),
    attempt: sampleOf(attemptRecord, mark, { ...doubtful, sendable: 'post', item_id: item }),
    engagement: sampleOf(engagementRecord, mark, { id: engagement, status: 'drafted' }),
    engagement_attempt: sampleOf(attemptRecord, mark, {
      ...doubtful,
      sendable: 'engagement',
      engagement_id: engagement,
    }),
    target: sampleOf(targetRecord, mark, { id: target }),
    signal: sampleOf(signalRecord, mark, {
      target_id: target,
      post_text: mark,
      reasons: [mark],
      expires_at: tomorrow,
    }),
    resident_post: { id: newId(), post_id: mark, resident: mark, text: mark, created_at: now },
    item_word: { word: mark, item_id: item },
    item_word_move: { item_id: item },
  }
}
