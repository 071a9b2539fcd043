/** What an export has of the workspace agent's tables. */
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
import { type ExportSource, exportSourceOf, timeColumns } from './export-source.ts'

/** Memories of a person are shown only to that person, so an export leaves them out. */
const ownMemories = (sql: Sql) => sql`select * from agent_memory where person_id is null`

export const agentSources = {
  conversation: exportSourceOf(conversationRecord),
  message: exportSourceOf(messageRecord),
  message_feedback: exportSourceOf(feedbackRecord),
  agent_job: exportSourceOf(jobRecord),
  agent_step: exportSourceOf(stepRecord),
  agent_event: {
    table: 'agent_event',
    columns: ['job_id', 'seq', 'conversation_id', 'conversation_seq', 'at', 'type', 'data'],
    key: [
      ['job_id', 'uuid'],
      ['seq', 'int'],
    ],
  },
  agent_approval: exportSourceOf(approvalRecord),
  tool_rule: exportSourceOf(toolRuleRecord),
  memory: exportSourceOf(memoryRecord, { within: ownMemories }),
  playbook: exportSourceOf(playbookRecord),
  playbook_version: exportSourceOf(versionRecord),
  document: exportSourceOf(documentRecord, { page: 8 }),
  document_passage: exportSourceOf(passageRecord, {
    key: [
      ['document_id', 'uuid'],
      ['number', 'int'],
    ],
  }),
  webhook_rule: exportSourceOf(webhookRuleRecord),
  inbound_event: {
    table: 'inbound_event',
    columns: ['source_id', 'event_id', 'job_id', 'sender', 'at'],
    key: [
      ['source_id', 'uuid'],
      ['event_id', 'text'],
    ],
  },
  artifact: exportSourceOf(artifactRecord),
  artifact_share: exportSourceOf(shareRecord),
  ...outsideSources,
  schedule: exportSourceOf(scheduleRecord),
  agent_module: {
    table: 'agent_module',
    columns: ['name', 'mcp', 'set_by', ...timeColumns],
    key: [['name', 'text']],
  },
} as const satisfies Record<string, ExportSource>
