/** What is exported of the workspace agent's tables. */

import { approvalRecord } from '#contract/records/agent/approval'
import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import { conversationRecord, messageRecord } from '#contract/records/agent/conversation'
import { documentRecord, passageRecord } from '#contract/records/agent/document'
import { feedbackRecord } from '#contract/records/agent/feedback'
import { jobRecord } from '#contract/records/agent/job'
import { memoryRecord } from '#contract/records/agent/memory'
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import { scheduleRecord } from '#contract/records/agent/schedule'
import { stepRecord } from '#contract/records/agent/step'
import { toolRuleRecord } from '#contract/records/agent/tool-rule'
import { webhookRuleRecord } from '#contract/records/agent/webhook-rule'
import { exportedOf } from '#contract/records/record'
import type { Sql } from '../engine/db.ts'
import { outsideSources } from './export-outside.ts'
import { byId, type ExportSource, times } from './export-source.ts'

/** Those of a person are shown to that person alone. */
const ownMemories = (sql: Sql) => sql`select * from agent_memory where person_id is null`

export const agentSources = {
  conversation: {
    table: 'agent_conversation',
    columns: exportedOf(conversationRecord),
    key: byId,
  },
  message: { table: 'agent_message', columns: exportedOf(messageRecord), key: byId },
  message_feedback: {
    table: 'agent_feedback',
    columns: exportedOf(feedbackRecord),
    key: byId,
  },
  agent_job: { table: 'agent_job', columns: exportedOf(jobRecord), key: byId },
  agent_step: { table: 'agent_step', columns: exportedOf(stepRecord), key: byId },
  agent_event: {
    table: 'agent_event',
    columns: ['job_id', 'seq', 'conversation_id', 'conversation_seq', 'at', 'type', 'data'],
    key: [
      ['job_id', 'uuid'],
      ['seq', 'int'],
    ],
  },
  agent_approval: { table: 'agent_approval', columns: exportedOf(approvalRecord), key: byId },
  tool_rule: {
    table: 'agent_tool_rule',
    columns: exportedOf(toolRuleRecord),
    key: byId,
  },
  memory: {
    table: 'agent_memory',
    columns: exportedOf(memoryRecord),
    key: byId,
    within: ownMemories,
  },
  playbook: { table: 'playbook', columns: exportedOf(playbookRecord), key: byId },
  playbook_version: { table: 'playbook_version', columns: exportedOf(versionRecord), key: byId },
  document: { table: 'document', columns: exportedOf(documentRecord), key: byId, page: 8 },
  document_passage: {
    table: 'document_passage',
    columns: exportedOf(passageRecord),
    key: [
      ['document_id', 'uuid'],
      ['number', 'int'],
    ],
  },
  webhook_rule: { table: 'webhook_rule', columns: exportedOf(webhookRuleRecord), key: byId },
  inbound_event: {
    table: 'inbound_event',
    columns: ['source_id', 'event_id', 'job_id', 'sender', 'at'],
    key: [
      ['source_id', 'uuid'],
      ['event_id', 'text'],
    ],
  },
  artifact: { table: 'artifact', columns: exportedOf(artifactRecord), key: byId },
  artifact_share: { table: 'artifact_share', columns: exportedOf(shareRecord), key: byId },
  ...outsideSources,
  schedule: { table: 'agent_schedule', columns: exportedOf(scheduleRecord), key: byId },
  agent_module: {
    table: 'agent_module',
    columns: ['name', 'mcp', 'set_by', ...times],
    key: [['name', 'text']],
  },
} as const satisfies Record<string, ExportSource>
