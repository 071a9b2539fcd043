/** All declared records. */
import { approvalRecord } from './agent/approval.ts'
import { artifactRecord, shareRecord } from './agent/artifact.ts'
import { channelConnectionRecord, channelIdentityRecord } from './agent/channel-connection.ts'
import { channelMessageRecord, channelReplyRecord } from './agent/channel-message.ts'
import { conversationRecord, messageRecord } from './agent/conversation.ts'
import { documentRecord, passageRecord } from './agent/document.ts'
import { feedbackRecord } from './agent/feedback.ts'
import { jobRecord } from './agent/job.ts'
import { mcpServerRecord } from './agent/mcp-server.ts'
import { mcpToolRecord } from './agent/mcp-tool.ts'
import { memoryRecord } from './agent/memory.ts'
import { playbookRecord, versionRecord } from './agent/playbook.ts'
import { scheduleRecord } from './agent/schedule.ts'
import { stepRecord } from './agent/step.ts'
import { toolRuleRecord } from './agent/tool-rule.ts'
import { webhookRuleRecord } from './agent/webhook-rule.ts'
import { invitationRecord } from './app/invitation.ts'
import { keyRecord } from './app/key.ts'
import { articleRecord } from './growth/article.ts'
import { attemptRecord } from './growth/attempt.ts'
import { batchRecord } from './growth/batch.ts'
import { commentRecord } from './growth/comment.ts'
import { connectionRecord } from './growth/connection.ts'
import { engagementRecord } from './growth/engagement.ts'
import { experimentRecord } from './growth/experiment.ts'
import { growthAuditRecord } from './growth/growth-audit.ts'
import { growthChannelRecord } from './growth/growth-channel.ts'
import { itemRecord } from './growth/item.ts'
import { learningRecord } from './growth/learning.ts'
import { metricRecord } from './growth/metric.ts'
import { productRecord } from './growth/product.ts'
import { profileRecord, profileRevisionRecord } from './growth/profile.ts'
import { reportRecord } from './growth/report.ts'
import { revisionRecord } from './growth/revision.ts'
import { ruleRecord } from './growth/rule.ts'
import { ruleRunRecord } from './growth/rule-run.ts'
import { signalRecord } from './growth/signal.ts'
import { targetRecord } from './growth/target.ts'
import type { Declared } from './record.ts'

export const records = [
  stepRecord,
  jobRecord,
  invitationRecord,
  keyRecord,
  approvalRecord,
  conversationRecord,
  messageRecord,
  passageRecord,
  channelConnectionRecord,
  channelIdentityRecord,
  channelMessageRecord,
  channelReplyRecord,
  mcpServerRecord,
  mcpToolRecord,
  toolRuleRecord,
  webhookRuleRecord,
  scheduleRecord,
  artifactRecord,
  shareRecord,
  documentRecord,
  feedbackRecord,
  memoryRecord,
  playbookRecord,
  versionRecord,
  articleRecord,
  attemptRecord,
  batchRecord,
  commentRecord,
  connectionRecord,
  engagementRecord,
  experimentRecord,
  growthAuditRecord,
  growthChannelRecord,
  itemRecord,
  learningRecord,
  metricRecord,
  productRecord,
  profileRecord,
  profileRevisionRecord,
  reportRecord,
  revisionRecord,
  ruleRecord,
  ruleRunRecord,
  signalRecord,
  targetRecord,
] as const satisfies readonly Declared[]

/** The names of their tables. */
export type RecordTable = (typeof records)[number]['table']
