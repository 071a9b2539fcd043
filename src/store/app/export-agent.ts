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
import type { Sql } from '../engine/db.ts'
import { outsideSources } from './export-outside.ts'
import { type ExportSource, sourceOf, times } from './export-source.ts'

/** Those of a person are shown to that person alone. */
const ownMemories = (sql: Sql) => sql`select * from agent_memory where person_id is null`

export const agentSources = {
  conversation: sourceOf(conversationRecord),
  message: sourceOf(messageRecord),
  message_feedback: sourceOf(feedbackRecord),
  agent_job: sourceOf(jobRecord),
  agent_step: sourceOf(stepRecord),
  agent_event: {
    table: 'agent_event',
    columns: ['job_id', 'seq', 'conversation_id', 'conversation_seq', 'at', 'type', 'data'],
    key: [
      ['job_id', 'uuid'],
      ['seq', 'int'],
    ],
  },
  agent_approval: sourceOf(approvalRecord),
  tool_rule: sourceOf(toolRuleRecord),
  memory: sourceOf(memoryRecord, { within: ownMemories }),
  playbook: sourceOf(playbookRecord),
  playbook_version: sourceOf(versionRecord),
  document: sourceOf(documentRecord, { page: 8 }),
  document_passage: sourceOf(passageRecord, {
    key: [
      ['document_id', 'uuid'],
      ['number', 'int'],
    ],
  }),
  webhook_rule: sourceOf(webhookRuleRecord),
  inbound_event: {
    table: 'inbound_event',
    columns: ['source_id', 'event_id', 'job_id', 'sender', 'at'],
    key: [
      ['source_id', 'uuid'],
      ['event_id', 'text'],
    ],
  },
  artifact: sourceOf(artifactRecord),
  artifact_share: sourceOf(shareRecord),
  ...outsideSources,
  schedule: sourceOf(scheduleRecord),
  agent_module: {
    table: 'agent_module',
    columns: ['name', 'mcp', 'set_by', ...times],
    key: [['name', 'text']],
  },
} as const satisfies Record<string, ExportSource>
